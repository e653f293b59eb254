"""Kafka's error codes: what the numbers in ``error_code`` fields are called and mean.

    error_code(44).name                        # "POLICY_VIOLATION"
    error_code("policy_violation").code        # 44
    error_code(1004, dialect="kip-4").requests # ("CreateTopicRequest", "AlterTopicRequest")

The data is ``schemas/errors.json``, read when a code is first asked for. Dialect ``kafka`` are the
codes of Kafka 4.4.0. Dialect ``kip-4`` are those that a draft of KIP-4 proposed: at first with
codes (1001 to 1009), later without; those that are new there have codes of ours here (1010 to
1012). ``kip-4a`` and ``kip-4b`` share them. An error that both of its tables have is one error
here, for the requests of both. 1006 has two names, of which the code alone finds the first.
"""

from __future__ import annotations

from functools import cache

import msgspec

from kafka_admin_proto.errors import UnknownErrorCodeError
from kafka_admin_proto.near_names import did_you_mean, near_names
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.wire.types.base import shown

#: Drafts of KIP-4 whose errors are those of another of its drafts.
_SHARED = {"kip-4a": "kip-4", "kip-4b": "kip-4"}

#: The most bytes of a string on the wire, whose length is an INT16.
_MAX_TEXT_BYTES = 32767


@decodable
class ErrorCode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One error of a dialect.

    ``code`` is the INT16 on the wire. ``retriable`` says whether the same request may succeed
    later; None where a draft does not say. ``requests`` are those that a draft proposes the error
    for, empty in dialect ``kafka``.
    """

    code: int
    name: str
    retriable: bool | None = None
    meaning: str
    requests: tuple[str, ...] = ()


def error_code(key: int | str, *, dialect: str = "kafka") -> ErrorCode:
    """The error of that code, or of that name in any case and with or without underscores.

    Raises UnknownErrorCodeError, with near misses, for one that the dialect does not have.
    """
    if not isinstance(key, int | str) or isinstance(key, bool):
        raise TypeError(f"an error is found by its code or its name, not {shown(key)}")
    all_of_them = _dialect(dialect)
    found = all_of_them.by_code.get(key) if isinstance(key, int) else all_of_them.by_name(key)
    if found is None:
        raise UnknownErrorCodeError(all_of_them.no_such(key, dialect))
    return found


def find_error(code: int, *, dialect: str = "kafka") -> ErrorCode | None:
    """The error that a code stands for in messages of a dialect; None for an unknown one.

    A message of a draft may have the draft's own codes and Kafka's. A dialect without error codes
    has Kafka's.
    """
    own = _dialects().get(_SHARED.get(dialect, dialect))
    found = None if own is None else own.by_code.get(code)
    return found or _dialects()["kafka"].by_code.get(code)


def error_name(code: int, *, dialect: str = "kafka") -> str | None:
    """The name of a code, found as by ``find_error``; None for an unknown one."""
    found = find_error(code, dialect=dialect)
    return None if found is None else found.name


def error_label(code: int, *, dialect: str = "kafka") -> str:
    """A code with its name as people want to see it, "36 TOPIC_ALREADY_EXISTS".

    An unknown code is the number alone.
    """
    name = error_name(code, dialect=dialect)
    return str(code) if name is None else f"{code} {name}"


def all_errors(dialect: str = "kafka") -> tuple[ErrorCode, ...]:
    """Every error of the dialect, by code; a second name of one last."""
    return _dialect(dialect).errors


class _Dialect:
    """The errors of one dialect, ready to be found."""

    def __init__(self, errors: tuple[ErrorCode, ...]) -> None:
        self.errors = errors
        self.by_code = {error.code: error for error in reversed(errors)}
        self._by_name = {_folded(error.name): error for error in errors}

    def by_name(self, name: str) -> ErrorCode | None:
        return self._by_name.get(_folded(name))

    def no_such(self, key: int | str, dialect: str) -> str:
        if isinstance(key, int):
            codes = sorted(self.by_code)
            hint = f"; there are {codes[0]} to {codes[-1]}"
        else:
            near = near_names(_folded(key), self._by_name)
            hint = did_you_mean(self._by_name[name].name for name in near)
        return f"no error {key!r} in dialect {dialect!r}{hint}"


@cache
def _dialects() -> dict[str, _Dialect]:
    data = (catalog().folder / "errors.json").read_bytes()
    read = msgspec.json.decode(data, type=dict[str, tuple[ErrorCode, ...]])
    return {dialect: _Dialect(errors) for dialect, errors in read.items()}


def _dialect(name: str) -> _Dialect:
    dialect = _dialects().get(_SHARED.get(name, name))
    if dialect is None:
        raise UnknownErrorCodeError(
            f"no error codes for dialect {name!r}; there are those of {', '.join(_dialects())}"
        )
    return dialect


def _folded(name: str) -> str:
    """What names that mean the same have in common: POLICY_VIOLATION, PolicyViolation."""
    return name.replace("_", "").casefold()


def sendable_text(text: str) -> str:
    """The text of an error as a string on the wire takes it: cut at 32,767 bytes, no surrogates."""
    return text.encode("utf-8", "replace")[:_MAX_TEXT_BYTES].decode("utf-8", "ignore")
