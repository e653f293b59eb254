"""Credentials in values: never in ``repr``, in masked JSON or in an exception."""

from __future__ import annotations

import base64
import contextlib
import importlib
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, cast
from uuid import UUID

import msgspec
import pytest

import kafka_admin_proto
from kafka_admin_proto import (
    AlterUserScramCredentialsRequest,
    CreateDelegationTokenResponse,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    EncodeError,
    FetchResponse,
    JsonError,
    RequestHeader,
    ResponseHeader,
    SaslAuthenticateRequest,
    TrailingBytesError,
    codec,
    load_schemas,
)
from kafka_admin_proto.capture.frames import FrameOrigin, codec_of, frame_of_payload
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    ScramCredentialUpsertion,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.protocol import read_response, write_request, write_response
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.render.fields import field_rows, masked_hex, secret_spans
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.secrets import METADATA_TOPIC, METADATA_TOPIC_ID, is_secret_name
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


@with_secrets
def test_no_encode_error_has_a_secret(c: Codec[Any]) -> None:
    refused = 0
    for value in wrong_values(c):
        for call in (c.encode, c.to_json):
            try:
                call(value)
            except EncodeError as error:
                assert hides(error), error
                assert error.value is None
                refused += 1
            except (AttributeError, TypeError, ValueError):
                assert call == c.to_json  # it takes values as they are; nothing is promised
    assert refused or c.name == "EnvelopeResponse"


@with_secrets
def test_no_json_error_has_a_secret(c: Codec[Any]) -> None:
    there = [(path, each) for path, each in secret_members(c.grammar) if each.wire_type]
    refused = 0
    for path, member in there:
        good = c.to_json(value_with(c, path, member, member.default()))
        places = [*path, member]
        for depth, _ in enumerate(places):
            for wrong in (SECRET + "!", [SECRET], {"x": SECRET}, 1234567890123456):
                obj = msgspec.json.decode(msgspec.json.encode(good))
                inside = obj
                for each in places[:depth]:
                    inside = inside[each.json]
                    inside = inside[0] if isinstance(inside, list) else inside
                if inside is None:
                    continue
                inside[places[depth].json] = wrong
                try:
                    c.from_json(obj)
                except JsonError as error:
                    assert hides(error), error
                    assert hides(error, "1234567890123456"), error
                    refused += 1
    tags: tuple[Any, ...] = (
        SECRET, [SECRET], [{"tag": SECRET, "data": ""}], [{"tag": 5, "data": SECRET + "!"}],
    )  # fmt: skip
    for each in tags if c.grammar.tagged is not None else ():
        with pytest.raises(JsonError) as caught:
            c.from_json(c.to_json(c.value_class()) | {"_unknownTaggedFields": each})
        assert hides(caught.value)
    assert refused or not there


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
def test_no_json_error_quotes_a_key_of_a_struct_with_secrets(c: Codec[Any]) -> None:
    for path, member in secret_members(c.grammar):
        if not all(each.wire_type for each in (*path, member)):
            continue
        good = c.to_json(value_with(c, path, member, member.default()))
        inside = good
        for each in path:
            inside = inside[each.json]
            inside = inside[0] if isinstance(inside, list) else inside
        inside[SECRET] = 1
        with pytest.raises(JsonError, match="unknown field, whose name may be") as caught:
            c.from_json(good)
        assert hides(caught.value)


@with_secrets
def test_what_trailing_bytes_leave_stays_in_the_process(c: Codec[Any]) -> None:
    data = c.encode(c.value_class())
    with pytest.raises(TrailingBytesError) as caught:
        c.decode(data + SECRET.encode())
    error = caught.value
    assert (error.value, error.rest) == (c.value_class(), SECRET.encode())
    there = pickle.loads(pickle.dumps(error))
    assert (there.value, there.rest, str(there)) == (None, b"", str(error))
    assert SECRET not in f"{error} {error!r} {error.args} {pickle.dumps(error)!r}"


def test_a_token_in_front_of_trailing_bytes_is_not_pickled() -> None:
    data = SaslAuthenticateRequest(auth_bytes=SECRET.encode()).encode(0)
    with pytest.raises(TrailingBytesError) as caught:
        SaslAuthenticateRequest.decode(data + SECRET.encode(), 0)
    assert SECRET.encode() not in pickle.dumps(caught.value)
    assert caught.value.value.auth_bytes == SECRET.encode()


def test_unicode_errors_do_not_carry_the_text_along() -> None:
    """UnicodeEncodeError has the whole text, and is what an EncodeError comes from."""
    config = CreatableTopicConfig("ssl.keystore.password", SECRET + "\ud800")
    request = CreateTopicsRequest(topics=[CreatableTopic(configs=[config])])
    with pytest.raises(EncodeError, match="may be a secret") as caught:
        request.encode(1)
    assert caught.value.__context__ is None
    # Other texts are told, as they say what is wrong.
    config.name = "cleanup.policy"
    with pytest.raises(EncodeError, match="UTF-8 form, got 'hunter2") as caught:
        request.encode(1)


def test_a_body_of_the_wrong_kind_is_named_and_not_kept() -> None:
    body: Any = codec("SaslAuthenticateResponse", 0).value_class(auth_bytes=SECRET.encode())
    with pytest.raises(EncodeError, match="SaslAuthenticateResponse is not a request") as caught:
        write_request(body, 0, 1)
    assert hides(caught.value)


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


def test_a_struct_with_a_secret_that_is_something_else_is_named_by_its_type() -> None:
    pair: Any = ("alice", SECRET)
    request = AlterUserScramCredentialsRequest(upsertions=[pair])
    with pytest.raises(EncodeError) as caught:
        request.encode(0)
    assert str(caught.value) == (
        "AlterUserScramCredentialsRequest v0, upsertions[0]: expected a "
        "ScramCredentialUpsertion, got a tuple that may hold a secret and is not shown"
    )


#: Kafka 3.9.2's and 4.3.1's configs of type PASSWORD, and what connectors call theirs.
SECRET_NAMES = """
delegation.token.master.key delegation.token.secret.key password.encoder.old.secret
password.encoder.secret sasl.jaas.config sasl.oauthbearer.assertion.private.key.passphrase
sasl.oauthbearer.client.credentials.client.secret ssl.key.password ssl.keystore.certificate.chain
ssl.keystore.key ssl.keystore.password ssl.truststore.certificates ssl.truststore.password
zookeeper.ssl.keystore.password zookeeper.ssl.truststore.password
listener.name.external.scram-sha-512.sasl.jaas.config

apikey api.key api-key api_key apiKey datadog.api.key my.apikey.value pwd db.pwd user_pwd userPwd
license confluent.license confluent.licence connection.password database.passwd db.pass
aws.access.key.id aws.secret.access.key aws_access_key account.key azblob.account.key accountKey
azure.connection.string connectionString basic.auth.user.info schema.registry.basic.auth.user.info
bearer.auth.token github.access.token keyfile gcs.credentials.json snowflake.private.key
tls.passphrase http.authorization.header mq.passcode oauth2.client.secret message.key
"""
#: Kafka's own that are not, and are masked all the same.
TAKEN_FOR_SECRETS = """
delegation.token.expiry.check.interval.ms delegation.token.expiry.time.ms
delegation.token.max.lifetime.ms password.encoder.cipher.algorithm password.encoder.iterations
password.encoder.key.length password.encoder.keyfactory.algorithm
sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.client.credentials.client.id
sasl.oauthbearer.token.endpoint.url
"""
HARMLESS_NAMES = """
cleanup.policy retention.ms ssl.keystore.location ssl.key.provider key.serializer
key.deserializer confluent.license.topic confluent.license.topic.replication.factor
authorizer.class.name connection.url compression.type monkey turkey.count group.keys
sasl.mechanism bypass compass.url pass.through user.information
"""


def test_which_configs_are_secrets_by_their_names() -> None:
    assert [
        name for name in (SECRET_NAMES + TAKEN_FOR_SECRETS).split() if not is_secret_name(name)
    ] == []
    assert [name for name in HARMLESS_NAMES.split() if is_secret_name(name)] == []


def fetched(version: int) -> FetchResponse:
    """The metadata log beside another topic, each by its name or, from version 13 on, its id."""
    records = write_batch(Batch.of([Record(0, 1, None, SECRET.encode())]))
    by_name = version < 13
    topics = [
        FetchableTopicResponse(
            topic=name if by_name else "",
            topic_id=UUID(int=0) if by_name else topic_id,
            partitions=[PartitionData(high_watermark=7, records=records)] * 2,
        )
        for name, topic_id in ((METADATA_TOPIC, METADATA_TOPIC_ID), ("apples", UUID(int=2)))
    ]
    if version >= 12:
        topics[0].unknown_tagged_fields = ((99, SECRET.encode()),)
    return FetchResponse(responses=topics)


@pytest.mark.parametrize("version", [4, 11, 12, 13, 17])
@pytest.mark.parametrize("zero_copy", [False, True])
def test_records_of_the_metadata_log_are_masked(version: int, zero_copy: bool) -> None:
    c = codec(FetchResponse, version)
    value = c.decode(c.encode(fetched(version)), zero_copy=zero_copy)
    log, apples = value.responses
    assert SECRET not in repr(log) + str(log.__rich_repr__())
    assert repr(log).count("high_watermark=7") == 2
    assert repr(value).count("'********'") == (3 if version >= 12 else 2)
    assert SECRET in repr(apples) or zero_copy
    assert log.partitions[0].records is not None  # what is shown is a copy

    for found in (c.to_json(value, mask=True), c.grammar.to_json(value, JsonOptions(mask=True))):
        masked_log, shown_apples = found["responses"]
        parts = [[part["records"] for part in each["partitions"]] for each in found["responses"]]
        assert parts[0] == ["********"] * 2
        assert base64.b64decode(parts[1][0]) == fetched(version).responses[1].partitions[0].records
        if version >= 12:
            assert masked_log["_unknownTaggedFields"] == [{"tag": 99, "data": "********"}]
        assert masked_log["partitions"][0]["highWatermark"] == 7
        assert shown_apples != masked_log
    sizes = c.to_json(value, mask=True, records="size")["responses"][0]["partitions"][0]
    assert "records" not in sizes
    assert c.from_json(c.to_json(value)) == c.decode(c.encode(value))


def test_a_frame_with_the_metadata_log_hides_it_in_repr() -> None:
    body = fetched(12)
    body.responses.pop()
    payload = write_response(body, 12, 5)
    response = read_response(payload, 1, 12)
    assert response.error is None
    assert SECRET not in repr(response)
    assert SECRET not in repr(
        frame_of_payload(response, payload, 0, codec_of(response), FrameOrigin(""))
    )


def test_errors_do_not_quote_records() -> None:
    wrong: Any = {"value": SECRET}
    not_records: list[Any] = [SECRET, wrong, [SECRET]]
    for records in not_records:
        value = fetched(12)
        value.responses[0].partitions[0].records = records
        with pytest.raises(EncodeError, match="expected bytes or None") as caught:
            value.encode(12)
        assert hides(caught.value)
    c = codec(FetchResponse, 12)
    obj = c.to_json(fetched(12))
    for records in [SECRET + "!", wrong]:
        obj["responses"][0]["partitions"][0]["records"] = records
        with pytest.raises(JsonError) as refused:
            c.from_json(obj)
        assert hides(refused.value)


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


CONFIG = {"name": "ssl.key.password", "value": SECRET}


def misplaced() -> Iterator[Message]:
    """Messages with a credential where another field is, as arguments in the wrong order make."""
    wrong: Any
    for wrong in (SECRET, SECRET.encode(), [SECRET], ("x", SECRET), CONFIG):
        yield CreateTopicsRequest(timeout_ms=wrong)
        yield AlterUserScramCredentialsRequest(
            upsertions=[ScramCredentialUpsertion("al", 1, wrong)]
        )
        if not isinstance(wrong, str):
            config = CreatableTopicConfig(wrong, "x")
            yield CreateTopicsRequest(topics=[CreatableTopic("t", configs=[config])])
            yield CreateDelegationTokenResponse(token_id=wrong)
            yield RequestHeader(client_id=wrong)
        yield AlterUserScramCredentialsRequest(deletions=[wrong])


def test_misplaced_credentials_stay_out_of_errors() -> None:
    for value in misplaced():
        version = 2 if isinstance(value, RequestHeader) else 0
        with pytest.raises(EncodeError) as caught:
            codec(type(value), version).encode(value)
        assert hides(caught.value), caught.value
        assert caught.value.value is None
    c = codec("CreateTopicsRequest", 7)
    good = c.to_json(CreateTopicsRequest(topics=[CreatableTopic()]))
    wrong: Any
    for wrong in (SECRET, [SECRET], CONFIG):
        with pytest.raises(JsonError) as refused:
            c.from_json(good | {"timeoutMs": wrong})
        assert hides(refused.value), refused.value
    # Numbers are told, and so is anything in messages without credentials.
    with pytest.raises(EncodeError, match="got 4294967296"):
        c.encode(CreateTopicsRequest(timeout_ms=1 << 32))
    text: Any = "soon"
    with pytest.raises(EncodeError, match="got 'soon'"):
        DeleteTopicsRequest(timeout_ms=text).encode(1)


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
