"""The records of a coordinator's partition as it loads them, and what it leaves out of them."""

from __future__ import annotations

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.records.segments.known_topics import read_known_record
from kafka_admin_proto.values import Message

#: The lines about one partition: of what follows, the last line has the number.
_MOST_LINES = 10
#: Of the 2**31 epochs that a number has room for, those above are left for what follows.
_LAST_EPOCH = 1 << 30


class StrangeRecord(Exception):
    """A record that a coordinator cannot use; the text says why."""


def read_record(topic: str, record: Record) -> tuple[Message, Message | None]:
    """The key and value of a record, which is a tombstone without value. Raises StrangeRecord.

    Bytes that are left behind either are not looked at, as by Kafka.
    """
    found = read_known_record(topic, record.key, record.value)
    if found.key is None or (found.value is None and record.value is not None):
        raise StrangeRecord(found.problem)
    return found.key, found.value


def check_epoch(epoch: int) -> None:
    """Raises StrangeRecord for an epoch that nothing has counted up to, with too few behind it."""
    if epoch > _LAST_EPOCH:
        raise StrangeRecord(f"nothing gets as far as the epoch {epoch}")


class LeftOut:
    """Says what is left out of the state of one partition, named ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def add(self, what: str, fault: object) -> None:
        """Say that something is left out, and why."""
        self._count += 1
        if self._count <= _MOST_LINES:
            SERVER.warning(
                "%s: %s, and the coordinator goes on without it: %s", self._name, what, fault
            )

    def end(self) -> None:
        """Say how much has had no line of its own."""
        if self._count > _MOST_LINES:
            more = self._count - _MOST_LINES
            SERVER.warning("%s: %d more of its records are left out like these", self._name, more)
