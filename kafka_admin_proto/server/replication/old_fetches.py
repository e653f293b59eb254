"""Answers to consumers from before magic 2 and zstd (``maybeConvertFetchedData`` of 3.9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafka_admin_proto.messages.fetch_response import FetchResponse, PartitionData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.message_sets.down_conversion import DownConverter
from kafka_admin_proto.server.replication.fetch_sessions import Key
from kafka_admin_proto.server.replication.leaders import hosted

#: The versions up to which records have magic 0 and 1, and the first one with zstd (KIP-110).
_MAGIC_0, _MAGIC_1, _ZSTD = 1, 3, 10


class ReadAt(NamedTuple):
    """Where records of a partition were asked for, and the bytes that were read."""

    offset: int
    size_bytes: int


def convert_rows(
    view: View,
    caller: Caller,
    response: FetchResponse,
    read: Mapping[Key, ReadAt],
    *,
    of_follower: bool,
) -> None:
    """Give the rows the records that the version of the request can have, or an error.

    Any row has the error, also one with another. Kafka 4 has neither such versions nor the errors.
    """
    version = caller.version
    if view.release >= (4,) or version >= _ZSTD:
        return
    converter = DownConverter(0 if version <= _MAGIC_0 else 1) if version <= _MAGIC_1 else None
    for topic in response.responses:
        for place, row in enumerate(topic.partitions):
            number = row.partition_index
            try:
                found = hosted(view, caller, view.topic(topic.topic), number, leader_only=False)
            except ApiFailure:  # there is no log, and the row has no records
                continue
            settings = found.replicas.log.settings
            try:
                if settings.compression == "zstd":
                    raise ApiFailure(codes.UNSUPPORTED_COMPRESSION_TYPE)
                if converter is None:
                    continue
                if not (settings.down_converts or of_follower):
                    raise ApiFailure(codes.UNSUPPORTED_VERSION)
                at = read.get((topic.topic, number))
                if at is not None:
                    row.records = converter.converted(row.records or b"", at.size_bytes, at.offset)
            except ApiFailure as failure:
                topic.partitions[place] = PartitionData(
                    number, failure.code, high_watermark=-1, records=b""
                )
