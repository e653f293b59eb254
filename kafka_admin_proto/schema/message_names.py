"""The message that a user means by a word, in the definitions that the user chose."""

from __future__ import annotations

from typing import Literal

from kafka_admin_proto.schema.catalog import catalog


def find_message(
    word: str,
    *,
    type: Literal["request", "response"] = "request",
    dialect: str = "kafka",
    version: int | None = None,
) -> tuple[str, str]:
    """Name and dialect of a message: an api's name or key with a ``type``, or a whole name.

    Names are in any case: "CreateTopics", "createtopicsrequest". The dialect's own definitions go
    first and Kafka's second, as where frames are read; of two messages with that name the one that
    has the version. Raises UnknownMessageError.
    """
    whole = f"{word}{type.capitalize()}"
    dialects = dict.fromkeys((dialect, "kafka"))
    found = [
        (name, each)
        for each in dialects
        for written in (word, whole)
        if (name := catalog().find_name(written, each)) is not None
    ]
    if word.isdecimal():
        keyed = [(catalog().name_of(int(word), type, each), each) for each in dialects]
        found = [(name, each) for name, each in keyed if name is not None]
    if not found:  # raises, with near misses
        return catalog().current_name(whole, dialect), dialect
    if version is not None:
        found.sort(key=lambda row: version not in catalog().entry(*row).versions)
    return found[0]


def api_names(*dialects: str) -> list[str]:
    """The apis of the dialects, one after the other, without "Request" and each once."""
    names = [name for each in dialects for name in catalog().names(each)]
    apis = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    return list(dict.fromkeys(apis))
