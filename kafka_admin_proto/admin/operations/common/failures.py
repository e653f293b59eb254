"""Error codes of answers, as results and as exceptions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypedDict, TypeVar

from kafka_admin_proto.admin.errors import AdminError, BrokerError
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.protocol.error_codes import find_error

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Failure(TypedDict):
    """``error`` and ``message`` of a result, for its class: Nones where all is well."""

    error: str | None
    message: str | None


NONE = Failure(error=None, message=None)


def error_name(code: int) -> str:
    """Kafka's name of an error code; the number as text for one that is not known."""
    found = find_error(code)
    return str(code) if found is None else found.name


def failure(code: int, message: str | None = None) -> Failure:
    """The failure for an item's error code: Nones for 0.

    Where the broker sends no message, the meaning of the code is the message.
    """
    if code == 0:
        return NONE
    found = find_error(code)
    meaning = None if found is None else found.meaning
    return Failure(error=error_name(code), message=message or meaning)


def failure_of(error: Exception) -> Failure:
    """The failure of an item whose request failed as a whole.

    ``error`` is Kafka's name only where a broker answered with one; else it is the name of the
    exception's class ("ConnectionFailedError"), which no error of Kafka's has.
    """
    if isinstance(error, BrokerError):
        return Failure(error=error.error, message=error.message)
    return Failure(error=type(error).__name__, message=str(error))


def raise_failure(
    code: int,
    message: str | None = None,
    *,
    context: str = "",
    about: Mapping[str, str | int] | None = None,
) -> None:
    """Raise BrokerError for an error code that stands for the whole answer; nothing for 0."""
    if code != 0:
        raise BrokerError(code, message, context=context, about=about)


def note_lost_answer(why: Failure, maybe_repeated: bool, error_when_done: str) -> Failure:
    """The failure of an item, with a note where an earlier attempt may have caused it.

    ``error_when_done`` is the error that a broker gives to a request whose work is done already.
    """
    if why["error"] != error_when_done or not maybe_repeated:
        return why
    note = "an earlier attempt was sent and its answer lost: it may have done this itself"
    return why | {"message": f"{why['message']}; {note}" if why["message"] else note}


def answer_of(item: _K, answers: Mapping[_K, _V]) -> _V:
    """What a broker answered for one of the items that it was asked about.

    Raises AdminError where it left the item out, which no broker of Kafka's does.
    """
    try:
        return answers[item]
    except KeyError:
        raise AdminError(f"the broker's answer has no result for {item!r}") from None


def answers_in_order(wanted: Sequence[_K], answers: Sequence[_V]) -> list[tuple[_K, _V]]:
    """Items with their answers, where a broker answers in the order of the request.

    Raises AdminError where there are more or fewer answers than items.
    """
    if len(wanted) != len(answers):
        raise AdminError(
            f"the broker's answer has {counted(len(answers), 'results')} for "
            f"{counted(len(wanted), 'items')} of the request"
        )
    return list(zip(wanted, answers, strict=True))


def unanswered(what: str, who: str = "controller") -> Failure:
    """The failure of an item that an answer leaves out."""
    fault = f"the {who}'s answer does not name this {what}; look at what is there"
    return failure_of(RemoteProtocolError(fault))
