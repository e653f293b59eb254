"""From what people paste and save to blocks of bytes. Nothing about Kafka's messages in here.

::

    read_blocks(data)                   guess the format
    read_blocks(data, format="xxd")     or name a row of READERS

A :class:`Block` is bytes and the place they came from; whether they hold one frame, several or a
part of one is for the reader of the blocks to find out. A new format is one module that ends in
a ``READER`` and one row in ``readers.READERS``.
"""

from kafka_admin_proto.capture.blocks import Block, Reader
from kafka_admin_proto.capture.readers import READERS, read_blocks

__all__ = ["Block", "Reader", "READERS", "read_blocks"]
