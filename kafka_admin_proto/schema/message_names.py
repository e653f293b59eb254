"""The message that a user means by a word, in the definitions that the user chose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from kafka_admin_proto.errors import UnknownMessageError
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
    candidates = [
        (name, each)
        for each in dialects
        for written in (word, whole)
        if (name := catalog().find_name(written, each)) is not None
    ]
    if word.isdecimal():
        keyed = [(catalog().name_of(int(word), type, each), each) for each in dialects]
        candidates = [(name, each) for name, each in keyed if name is not None]
    if not candidates:
        raise UnknownMessageError(_no_such(word, dialects))
    if version is not None:
        candidates.sort(key=lambda row: version not in catalog().entry(*row).versions)
    return candidates[0]


def api_names(*dialects: str) -> list[str]:
    """The apis of the dialects, one after the other, without "Request" and each once."""
    names = [name for each in dialects for name in catalog().names(each)]
    apis = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    return list(dict.fromkeys(apis))


def _no_such(word: str, dialects: Iterable[str]) -> str:
    import difflib  # only for the complaint

    names = [name for each in dialects for name in catalog().names(each)]
    others = [each for each in names if not each.endswith(("Request", "Response"))]
    folded = {each.casefold(): each for each in (*api_names(*dialects), *others)}
    meant = word.casefold().removesuffix("request").removesuffix("response")
    close = difflib.get_close_matches(meant, folded, n=3, cutoff=0.75)
    hint = f"; did you mean {', '.join(folded[each] for each in close)}?" if close else ""
    return f"there is no api or message {word!r}{hint}"
