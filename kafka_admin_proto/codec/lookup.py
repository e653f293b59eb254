"""``codec(...)``: the codec of a message at a version, by class, name or api key."""

from __future__ import annotations

import copyreg
from typing import Any, Literal, overload

from kafka_admin_proto.arguments import version_number
from kafka_admin_proto.codec.message_codec import Codec, M, MessageValue
from kafka_admin_proto.codec.value_classes import MakeClasses, make_classes_with
from kafka_admin_proto.errors import UnknownMessageError, UnsupportedVersionError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.types.base import shown

#: (message, version, type and dialect as asked for) → codec.
_codecs: dict[tuple[Any, int, str, str | None], Codec[Any]] = {}


@overload
def codec(message: type[M], version: int, *, dialect: str | None = ...) -> Codec[M]: ...


@overload
def codec(message: str, version: int, *, dialect: str | None = ...) -> Codec[Any]: ...


@overload
def codec(
    message: int, version: int, type: Literal["request", "response"], *, dialect: str | None = ...
) -> Codec[Any]: ...


def codec(
    message: type[MessageValue] | str | int,
    version: int,
    type: str = "",
    *,
    dialect: str | None = None,
) -> Codec[Any]:
    """The codec of a message at a version, kept after the first call.

    ``message`` is a value class, a name ("CreateTopicsRequest") or an api key with ``type``
    "request" or "response". Names and keys are of ``dialect``, Kafka's own by default; a class has
    its dialect. For type checkers, a class gives a codec of its values, a name or key a
    ``Codec[Any]``. Raises UnknownMessageError, also for a class of another dialect than the one
    given, or UnsupportedVersionError; TypeError for a version that is no integer.
    """
    key = (message, version, type, dialect)
    try:
        found = _codecs.get(key)
    except TypeError:  # a value, which has no hash, where its class is wanted
        found = None
    if found is None or version.__class__ is not int:  # as a key, True is 1
        found = _make_codec(message, version, type, dialect)
        _codecs[key] = found
    return found


def _make_codec(
    message: type[MessageValue] | str | int, version: int, type_: str, wanted: str | None
) -> Codec[Any]:
    version = version_number(version)
    dialect = "kafka" if wanted is None else wanted
    if isinstance(message, int) and not isinstance(message, bool):
        name = catalog().name_of(message, type_, dialect)
        if name is None:
            if type_ not in ("request", "response"):
                raise UnknownMessageError(
                    'an api key names two messages: say type "request" or "response", '
                    f"not {type_!r}"
                )
            raise UnknownMessageError(f"no api with key {message} in dialect {dialect!r}")
    elif isinstance(message, str):
        name = catalog().current_name(message, dialect)
    elif isinstance(message, type) and hasattr(message, "message_name"):
        name, dialect = message.message_name, message.dialect
        if wanted not in (None, dialect):
            raise UnknownMessageError(
                f"{name} is a class of the dialect {dialect!r}, not of {shown(wanted)}; leave out "
                "dialect, or name the message by a text"
            )
    elif hasattr(message, "message_name") and not isinstance(message, type):
        name = message.__class__.__name__
        raise UnknownMessageError(
            f"this is a value of {name}, and a codec is that of a class: codec({name}, version)"
        )
    else:
        what = message.__name__ if isinstance(message, type) else shown(message)
        raise UnknownMessageError(
            f"{what} is not a message's class, nor a name or api key of a message"
        )
    entry = catalog().entry(name, dialect)
    if type_ not in ("", entry.type):
        raise UnknownMessageError(f"the type of {name} is {entry.type!r}, not {shown(type_)}")
    if version not in entry.versions:
        raise UnsupportedVersionError(f"{name} has versions {entry.valid_versions}, not {version}")
    by_name = (name, version, "", dialect)  # however it was asked for, there is one codec
    found = _codecs.get(by_name)
    if found is None:  # two threads may come here at a time: the first one's counts
        found = _codecs.setdefault(by_name, Codec(catalog().spec(name, dialect), version))
    return found


def use_classes(dialect: str, make_classes: MakeClasses) -> None:
    """Have the value classes of a loaded dialect made by ``make_classes``, each when first needed.

    Codecs and classes of an earlier loading under that name are forgotten.
    """
    make_classes_with(dialect, make_classes)
    for key in [key for key, made in _codecs.items() if made.spec.dialect == dialect]:
        del _codecs[key]


def _codec_named(name: str, version: int, dialect: str) -> Codec[Any]:
    return codec(name, version, dialect=dialect)


def _by_name(found: Codec[Any]) -> tuple[Any, ...]:
    """How a codec is copied: a copy is the codec itself, another process finds its own."""
    return _codec_named, (found.name, found.version, found.spec.dialect)


copyreg.pickle(Codec, _by_name)
