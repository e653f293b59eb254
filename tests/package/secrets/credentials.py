"""Every message with a credential, with values that have a secret in the wrong place."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct
from tests.helpers.every_message import EVERY_DIALECT
from tests.helpers.profile import EXHAUSTIVE

SECRET = "hunter2hunter2"

#: Every codec of a message with a field that is a credential, or may be one; the quick profile
#: takes the first and the last version of each.
CODECS = [
    codec(name, version, dialect=dialect)
    for dialect, name, version in EVERY_DIALECT
    if catalog().spec(name, dialect).has_secrets
    and (EXHAUSTIVE or version in (min(v := catalog().entry(name, dialect).versions), max(v)))
]

with_secrets = pytest.mark.parametrize("c", CODECS, ids=repr)


def written(error: BaseException) -> Iterator[str]:
    """All that an exception has, as text: what logs, debuggers and other processes see of it."""
    seen: BaseException | None = error
    while seen is not None:
        yield str(seen)
        yield repr(seen)
        yield repr(seen.args)
        yield repr(vars(seen))
        yield repr(pickle.dumps(seen))
        seen = seen.__cause__ or seen.__context__


def hides(error: BaseException, secret: str = SECRET) -> bool:
    """Whether no form of the secret is in the exception."""
    forms = (secret, base64.b64encode(secret.encode()).decode(), secret.encode().hex())
    return not any(form in text for text in written(error) for form in forms)


def secret_members(struct: StructType) -> Iterator[tuple[list[Member], Member]]:
    """Each field that may be a credential, absent ones too, behind the fields that lead to it."""
    for member in struct.members:
        if member.sensitive or member.named_by:
            yield [], member
        inner = struct_of(member)
        if inner is not None:
            for path, found in secret_members(inner):
                yield [member, *path], found


def struct_of(member: Member) -> StructType | None:
    found: Any = getattr(member.wire_type, "element", member.wire_type)
    if isinstance(found, NullableStruct):
        found = found.struct
    return found if isinstance(found, StructType) else None


def value_with(c: Codec[Any], path: list[Member], member: Member, value: Any) -> Any:
    """A value of the message that has nothing but that field filled."""
    structs: list[StructType] = [c.grammar]
    for each in path:
        inner = struct_of(each)
        assert inner is not None
        structs.append(inner)
    here = structs[-1].value_class()
    if member.named_by:
        setattr(here, member.named_by, "ssl.keystore.password")
    setattr(here, member.attribute, value)
    for outer, each in zip(reversed(structs[:-1]), reversed(path), strict=True):
        owner = outer.value_class()
        is_array = hasattr(each.wire_type, "element")
        setattr(owner, each.attribute, [here] if is_array else here)
        here = owner
    return here


def wrong_values(c: Codec[Any]) -> Iterator[Any]:
    """Values with the secret in a place that cannot take it."""
    for path, member in secret_members(c.grammar):
        wrong: tuple[Any, ...] = (
            SECRET,
            SECRET.encode(),
            SECRET + "\ud800",
            [SECRET],
            SECRET * 10_000,
            {SECRET: 1},
        )
        for value in wrong:
            yield value_with(c, path, member, value)
        for depth, each in enumerate(path):
            pair = {member.attribute: SECRET}
            wrong = (pair, [pair], [(member.attribute, SECRET)], SECRET)
            for value in wrong:
                yield value_with(c, path[:depth], each, value)
    tags: tuple[Any, ...] = (
        {5: SECRET}, ((5, SECRET),), (SECRET,), ((SECRET, b""),), ((5, SECRET.encode(), 1),),
        ((-1, SECRET.encode()),),
    )  # fmt: skip
    if hasattr(c.value_class, "unknown_tagged_fields"):
        yield from (c.value_class(unknown_tagged_fields=each) for each in tags)
