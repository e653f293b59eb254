"""What the compressed batches of one request may cost: a small one may hold very much."""

from __future__ import annotations

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, MissingExtraError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.layout import BATCH_HEADER
from kafka_admin_proto.records.batches.model import COMPRESSIONS, CompressionName
from kafka_admin_proto.records.batches.record_format import BYTES_PER_ITEM
from kafka_admin_proto.records.compression import codecs
from kafka_admin_proto.server.partitions.failures import RecordsRefused

#: The bytes that a request's batches may decompress to, and how many more for each of its own.
LEAST_BYTES, _BYTES_OF_BYTE = 16 << 20, 64
#: What a damaged byte may have cost by the time its damage is seen.
_BYTES_OF_DAMAGED = 1024
#: Bytes of the smallest record.
_SMALLEST_RECORD = 7
#: Bytes that a message of a compressed set counts at least: each is checked and written anew, which
#: takes many times as long as a record of a batch, that is only looked at.
BYTES_PER_MESSAGE = 512


class DecompressionBudget:
    """The bytes that the batches of one request may still decompress to.

    ``request_bytes`` are those of all its batches. A record counts 64 bytes at least, a message
    of a set of magic 0 or 1 512. Kafka bounds the compressed bytes alone (max.message.bytes).
    """

    def __init__(self, request_bytes: int) -> None:
        self.left: int = LEAST_BYTES + request_bytes * _BYTES_OF_BYTE

    def records(self, batch: memoryview, header: BatchHeader) -> tuple[bytes, int]:
        """The plain records of a compressed batch of magic 2, and the most items they may have.

        Raises RecordsRefused.
        """
        limit = self.left
        plain = self.decompressed(
            bytes(batch[BATCH_HEADER.size :]), COMPRESSIONS[header.compression]
        )
        count_bytes = header.record_count * BYTES_PER_ITEM
        self._take(max(0, count_bytes - len(plain)))
        if count_bytes > limit and header.record_count * _SMALLEST_RECORD <= len(plain):
            raise _too_large(limit)
        return plain, limit // BYTES_PER_ITEM

    def decompressed(self, data: bytes, name: CompressionName, *, magic: int = 2) -> bytes:
        """What the data of a batch or message of that magic decompress to.

        Raises RecordsRefused.
        """
        limit = self.left
        try:
            plain = codecs.decompress(name, data, limit, magic=magic)
        except DecodeError as error:
            self._take(len(data) * _BYTES_OF_DAMAGED)
            if error.expected == codecs.LESS:
                raise _too_large(limit) from None
            # In Kafka a KafkaException that no error code stands for.
            raise RecordsRefused(codes.UNKNOWN_SERVER_ERROR, error.fault) from None
        except MissingExtraError as error:
            raise RecordsRefused(codes.UNSUPPORTED_COMPRESSION_TYPE, str(error)) from None
        self._take(len(plain))
        return plain

    def take_item(self, size_bytes: int) -> None:
        """Count a message of that size, whose bytes have been counted.

        Raises RecordsRefused if there is no room for it.
        """
        rest = max(0, BYTES_PER_MESSAGE - size_bytes)
        if rest > self.left:
            raise _too_large(self.left, BYTES_PER_MESSAGE)
        self._take(rest)

    def _take(self, count: int) -> None:
        self.left = max(0, self.left - count)


def _too_large(limit: int, item_bytes: int = BYTES_PER_ITEM) -> RecordsRefused:
    return RecordsRefused(
        codes.MESSAGE_TOO_LARGE,
        f"The batch decompresses to more than {counted(limit, 'bytes')}, each record counted as "
        f"{item_bytes} at least, which is what is left for its request; send less at a time",
    )
