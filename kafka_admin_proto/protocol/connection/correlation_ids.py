"""The correlation ids of a client's requests: which is next, and which have no answer yet."""

from __future__ import annotations

from kafka_admin_proto.errors import LocalProtocolError

_HIGHEST_ID = (1 << 31) - 1


class CorrelationIds:
    """Ids count up from the first, and start at 0 again after 2^31 - 1.

    ValueError for a first one outside of these.
    """

    def __init__(self, first: int) -> None:
        if not 0 <= first <= _HIGHEST_ID:
            raise ValueError(f"correlation id {first} is not from 0 to 2^31 - 1")
        self._next = first
        self._unanswered: set[int] = set()

    def next(self) -> int:
        """The id of the next request; those that kept headers have now are passed over."""
        while self._next in self._unanswered:
            self._advance()
        return self._next

    def check_free(self, kept: int) -> None:
        """Raise LocalProtocolError for a kept header's id that waits for an answer already."""
        if kept in self._unanswered:
            raise LocalProtocolError(
                f"the header has correlation id {kept}, which a request without an answer has "
                "already; take that answer first, or send without the header"
            )

    def sent(self, correlation_id: int, *, answered: bool) -> None:
        """A request was written with the id; ``answered``: the broker answers it."""
        if correlation_id == self._next:
            self._advance()
        if answered:
            self._unanswered.add(correlation_id)

    def received(self, correlation_id: int) -> None:
        self._unanswered.discard(correlation_id)

    def _advance(self) -> None:
        self._next = 0 if self._next == _HIGHEST_ID else self._next + 1
