"""Captures of packets, dumps and logs: from their bytes to Kafka's frames.

::

    read_captures(["a.pcap.gz"])        frames of captures, request logs and dumps, paired and named
    FrameDecoder()                      frames of bytes that have no packets around them
    read_request_log(stream, "name")    frames of a broker's request log

    read_blocks(data)                   what people paste to blocks of bytes: guess the format
    read_blocks(data, format="xxd")     or name a row of READERS

A :class:`DecodedFrame` is what is known of one frame. A :class:`Block` is bytes and the place they
came from; whether they hold one frame, several or a part of one is for the reader of the blocks to
find out. A new format is one module that ends in a ``READER`` and one row in
``dumps.readers.READERS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.capture.captures import read_captures as read_captures
    from kafka_admin_proto.capture.dumps.blocks import Block as Block
    from kafka_admin_proto.capture.dumps.blocks import Reader as Reader
    from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder as FrameDecoder
    from kafka_admin_proto.capture.dumps.readers import READERS as READERS
    from kafka_admin_proto.capture.dumps.readers import read_blocks as read_blocks
    from kafka_admin_proto.capture.frames import DecodedFrame as DecodedFrame
    from kafka_admin_proto.capture.request_log import read_request_log as read_request_log
else:
    __getattr__, __dir__ = lazy_names(__name__)
