"""What a request names again, and is described again: bounded, whatever the request names."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure

#: The most rows of an answer that may be repeated, and about how many bytes each of them has.
MOST_REPEATED, ROW_BYTES = 10_000, 100


def rows_in(value: object) -> int:
    """The rows of a struct: one for each item of its lists, and more for what is long."""
    if isinstance(value, str | bytes):
        return len(value) // ROW_BYTES
    if isinstance(value, list):
        is_plain = bool(value) and isinstance(value[0], int)
        return len(value) + (0 if is_plain else sum(map(rows_in, value)))
    return sum(rows_in(getattr(value, name)) for name in getattr(value, "__struct_fields__", ()))


class Repeats:
    """Counts the rows that an answer repeats.

    As in Kafka what is named again is described again, until an answer has `MOST_REPEATED` rows of
    it: a request of some bytes for each name could have an answer of gigabytes.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._rows: dict[str, int] = {}

    def describe(self, name: str) -> None:
        """A name is described, which it may have been already. Raises ApiFailure."""
        self.count(self._rows.get(name, 0))

    def described(self, name: str, rows: int) -> None:
        """Note how many rows the name has."""
        self._rows[name] = rows

    def count(self, rows: int) -> None:
        """Count rows that are repeated. Raises ApiFailure for too many."""
        self._count += rows
        if self._count > MOST_REPEATED:
            raise ApiFailure(
                codes.INVALID_REQUEST,
                f"The answer has {MOST_REPEATED} {self._what} that it has described already. "
                "Name each once.",
            )
