"""Credentials in values: never in ``repr``, in masked JSON or in masked bytes."""

from __future__ import annotations

import base64
import contextlib
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec
import pytest

import kafka_admin_proto
from kafka_admin_proto import (
    CreateTopicsRequest,
    EncodeError,
    RequestHeader,
    ResponseHeader,
    codec,
    load_schemas,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.render.fields import field_rows, masked_hex, secret_spans
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.model import MessageSpec
from tests.package.secrets.credentials import SECRET, hides, struct_of, with_secrets, wrong_values

FIELDS = """{
  "apiKey": 901, "type": "request", "name": "KeysRequest", "validVersions": "0",
  "flexibleVersions": "0+",
  "fields": [
    { "name": "Passwords", "type": "[]string", "versions": "0+" },
    { "name": "Login", "type": "Login", "versions": "0+", "fields": [
      { "name": "User", "type": "string", "versions": "0+" } ] },
    { "name": "Tagged", "type": "[]Other", "versions": "0+", "taggedVersions": "0+", "tag": 0,
      "fields": [ { "name": "Text", "type": "string", "versions": "0+" } ] } ]
}"""


@with_secrets
def test_a_wrong_value_in_the_place_of_a_struct_with_secrets_is_masked(c: Codec[Any]) -> None:
    shown = [text for value in wrong_values(c) for text in (repr(value), str(rich_parts(value)))]
    assert not [text for text in shown if SECRET in text]


def rich_parts(value: Any) -> Any:
    return [(name, str(each)) for name, each in value.__rich_repr__()]


PAIR = {"name": "ssl.key.password", "value": SECRET}


@pytest.mark.parametrize(
    "value",
    [
        CreateTopicsRequest(topics=cast(Any, [{"name": "a", "configs": [PAIR]}])),
        CreatableTopic(configs=cast(Any, [PAIR])),
        CreatableTopic(configs=cast(Any, {"ssl.key.password": SECRET})),
        CreatableTopic(configs=cast(Any, [("ssl.key.password", SECRET)])),
        CreatableTopicConfig(cast(Any, 5), SECRET),
        CreatableTopicConfig(cast(Any, b"ssl.key.password"), SECRET),
        CreatableTopicConfig(cast(Any, ["ssl.key.password"]), SECRET),
        CreateTopicsRequest(
            topics=[CreatableTopic(configs=[CreatableTopicConfig(cast(Any, []), SECRET)])]
        ),
    ],
)
def test_configs_of_a_wrong_shape_are_masked(value: Any) -> None:
    assert SECRET not in repr(value)
    assert "********" in repr(value)
    assert SECRET not in str(rich_parts(value))


@with_secrets
def test_unknown_tags_of_messages_with_credentials_are_masked(c: Codec[Any]) -> None:
    """A newer release's credential comes as a tag that is not known yet."""
    if c.grammar.tagged is None:
        return
    value = c.value_class(unknown_tagged_fields=((99, SECRET.encode()),))
    assert SECRET not in repr(value)
    assert c.to_json(value, mask=True)["_unknownTaggedFields"] == [{"tag": 99, "data": "********"}]
    data = c.encode(value)
    shown = masked_hex(data, secret_spans(c, data, 0))
    assert SECRET.encode().hex() not in shown
    rows, _ = field_rows(c, data)
    assert not [row for row in rows if SECRET.encode().hex() in str(row.value)]
    rows, _ = field_rows(c, data, mask=False)
    assert [row for row in rows if SECRET.encode().hex() in str(row.value)]


def test_unknown_tags_of_a_struct_inside_are_masked_too() -> None:
    c = codec("DescribeDelegationTokenResponse", 3)
    inner = c.grammar.members[1]
    assert inner.attribute == "tokens"
    struct = struct_of(inner)
    assert struct is not None
    token = struct.value_class(unknown_tagged_fields=((9, SECRET.encode()),))
    value = c.value_class(tokens=[token])
    assert SECRET not in repr(value)
    assert base64.b64encode(SECRET.encode()).decode() not in str(c.to_json(value, mask=True))
    data = c.encode(value)
    assert SECRET.encode().hex() not in masked_hex(data, secret_spans(c, data, 0))


def test_unknown_tags_of_other_messages_are_shown() -> None:
    c = codec("MetadataRequest", 12)
    value = c.value_class(unknown_tagged_fields=((99, b"rack"),))
    assert "rack" in repr(value)
    assert c.to_json(value, mask=True)["_unknownTaggedFields"][0]["data"] == "cmFjaw=="


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Codec[Any]:
    """A message whose secrets are an array, a struct and a tagged array of structs."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "KeysRequest.json").write_text(FIELDS)
    dialect = load_schemas(folder, dialect="keys")
    spec = catalog().spec("KeysRequest", dialect)
    marked = [msgspec.structs.replace(field, sensitive=True) for field in spec.fields]
    return _codec_of(msgspec.structs.replace(spec, fields=tuple(marked)))


def _codec_of(spec: MessageSpec) -> Codec[Any]:
    return Codec(spec, 0)


def test_what_is_inside_a_secret_is_secret(keys: Codec[Any]) -> None:
    tagged, login = (struct_of(keys.grammar.members[at]) for at in (2, 1))
    assert tagged is not None
    assert login is not None
    value = keys.value_class(
        passwords=[SECRET],
        login=login.value_class(user=SECRET),
        tagged=[tagged.value_class(text=SECRET)],
    )
    data = keys.encode(value)
    assert data.count(SECRET.encode()) == 3
    assert SECRET.encode().hex() not in masked_hex(data, secret_spans(keys, data, 0))
    rows, _ = field_rows(keys, data)
    assert not [row for row in rows if SECRET in str(row.value)]
    rows, _ = field_rows(keys, data, mask=False)
    assert len([row for row in rows if SECRET in str(row.value)]) == 3
    assert SECRET not in str(keys.to_json(value, mask=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda value: setattr(value, "passwords", [("x", SECRET)]),
        lambda value: setattr(value, "passwords", [SECRET + "\ud800"]),
        lambda value: setattr(value, "login", SECRET),
        lambda value: setattr(value.login, "user", [SECRET]),
        lambda value: setattr(value, "tagged", [SECRET]),
    ],
)
def test_elements_of_secrets_stay_out_of_errors(
    keys: Codec[Any], change: Callable[[Any], None]
) -> None:
    value = keys.value_class()
    change(value)
    with pytest.raises(EncodeError) as caught:
        keys.encode(value)
    assert hides(caught.value)


def test_unknown_tags_of_headers_are_masked() -> None:
    """A damaged count of them has read the start of the body, which may be a credential."""
    tags = ((1, SECRET.encode()),)
    for header, version in (
        (RequestHeader(3, 12, 1, "me", unknown_tagged_fields=tags), 2),
        (ResponseHeader(1, unknown_tagged_fields=tags), 1),
    ):
        c = codec(type(header), version)
        assert SECRET not in repr(header)
        shown = c.to_json(header, mask=True)["_unknownTaggedFields"]
        assert shown == [{"tag": 1, "data": "********"}]
        rows, _ = field_rows(c, c.encode(header))
        assert SECRET.encode().hex() not in str(rows)


def test_what_repr_masks_rich_masks_too() -> None:
    """msgspec gives each struct a ``__rich_repr__`` with all its fields."""
    import_everything()
    plain: Any = msgspec.Struct
    forgotten = [
        kind.__qualname__
        for kind in structs_below(plain)
        if kind.__module__.startswith("kafka_admin_proto.")
        and kind.__repr__ is not plain.__repr__
        and kind.__rich_repr__ is plain.__rich_repr__
    ]
    assert forgotten == []


def import_everything() -> None:
    for module in pkgutil.walk_packages(kafka_admin_proto.__path__, "kafka_admin_proto."):
        if not module.name.startswith(("kafka_admin_proto.messages.", "kafka_admin_proto.spark")):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)


def structs_below(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from structs_below(each)
