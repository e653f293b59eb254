"""Definitions loaded at run time: upstream's own files, one's own messages, reloading, faults."""

from __future__ import annotations

import importlib
import shutil
import zipfile
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings

from kafka_admin_proto import Codec, SchemaError, UnsupportedVersionError, codec, load_schemas
from kafka_admin_proto.loaded_schemas import make_classes
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.layout import layout
from kafka_admin_proto.schema.names import messages_package, python_name
from kafka_admin_proto.testing import messages
from tests.helpers.profile import sample
from tests.helpers.requirements import skip_or_fail
from tools.oracles import jars
from tools.oracles.oracle import why_unavailable

PING = """{
  "apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-1",
  "flexibleVersions": "1+",
  "fields": [
    { "name": "Token", "type": "string", "versions": "0+" },
    { "name": "Echoes", "type": "[]Echo", "versions": "0+", "fields": [
      { "name": "Weight", "type": "float64", "versions": "0+", "default": "0.5" },
      { "name": "Id", "type": "uuid", "versions": "1+", "nullableVersions": "none",
        "taggedVersions": "1+", "tag": 0 } ] } ]
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "PingRequest.json").write_text(PING)
    return tmp_path


def test_entity_types_of_ones_own_are_found(folder: Path) -> None:
    """In all messages of the folder, with or without such a field; mistakes are said."""
    stream = '"name": "Token", "type": "string", "entityType": "streamId"'
    marked = PING.replace('"name": "Token", "type": "string"', stream)
    (folder / "StreamRequest.json").write_text(
        marked.replace("PingRequest", "StreamRequest").replace("900", "901")
    )
    load_schemas(folder, dialect="streams")
    found = codec("StreamRequest", 1, dialect="streams")
    assert found.entity_fields("streamId") == ["token"]
    value = found.value_class(token="t")
    found.replace_entities(value, "streamId", str.upper)
    assert value.token == "T"
    assert codec("PingRequest", 1, dialect="streams").entity_fields("streamId") == []
    with pytest.raises(ValueError, match=r"'streamid' is not an entity type: .*, streamId$"):
        found.entity_fields("streamid")
    with pytest.raises(ValueError, match="'streamId' is not an entity type"):
        codec("MetadataRequest", 1).entity_fields("streamId")


def test_messages_of_ones_own_work_at_once(folder: Path) -> None:
    assert load_schemas(folder, dialect="ping") == "ping"
    found = codec("PingRequest", 1, dialect="ping")
    ping = found.value_class
    (echo,) = [type(ping.decode(b"\x01\x02" + bytes(8) + b"\x00\x00", 1).echoes[0])]
    value = ping(token="t", echoes=[echo(id=UUID(int=7)), echo(weight=float("nan"))])
    assert found.decode(found.encode(value)) == value
    assert found.from_json(found.to_json(value)) == value
    assert codec(ping, 1) is found
    assert codec(900, 1, "request", dialect="ping") is found
    assert repr(ping(token="t")) == "PingRequest(token='********')"

    @given(messages("PingRequest", 1, dialect="ping"))
    def check(drawn: Any) -> None:
        assert found.decode(found.encode(drawn), strict=True) == drawn

    check()


def test_loading_again_replaces(folder: Path) -> None:
    load_schemas(folder, dialect="again")
    before = codec("PingRequest", 0, dialect="again").value_class
    (folder / "PingRequest.json").write_text(PING.replace('"0-1"', '"0-2"'))
    load_schemas(folder, dialect="again")
    after = codec("PingRequest", 2, dialect="again").value_class
    assert after is not before
    assert codec(before, 2).value_class is after


def test_the_folder_names_the_dialect_and_grammars_are_read_too(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "sub"
    folder.mkdir(parents=True)
    (folder / "Ping.kip").write_text("Ping Request (Version: 3) => token\n  token => STRING\n")
    assert load_schemas(tmp_path / "mine") == "mine"
    found = codec("PingRequest", 3, dialect="mine")
    assert found.encode(found.value_class(token="x")) == b"\x00\x01x"
    with pytest.raises(UnsupportedVersionError):
        codec("PingRequest", 0, dialect="mine")


def test_a_fault_loads_nothing_and_says_where(folder: Path) -> None:
    load_schemas(folder, dialect="kept")
    (folder / "sub").mkdir()
    bad = folder / "sub" / "Other.json"
    for text, fault in [
        (PING, "PingRequest is in PingRequest.json too"),
        (PING.replace("PingRequest", "PongRequest"), "both have api key 900"),
        ("{", "correct the JSON"),
        (PING.replace("float64", "float65"), "unknown type 'float65'"),
    ]:
        bad.write_text(text)
        with pytest.raises(SchemaError, match=fault) as caught:
            load_schemas(folder, dialect="kept")
        assert caught.value.file in ("Other.json", "PingRequest.json")
    bad.write_bytes(b"\xff\xfe")
    with pytest.raises(SchemaError, match="UTF-8"):
        load_schemas(folder, dialect="kept")
    assert catalog().names("kept") == ["PingRequest"]


def test_faulty_files_may_be_left_out_and_are_named(folder: Path) -> None:
    """Those that stand for themselves, and those that meet another file's name or api key."""
    for name, text in {
        "Bad.json": "{",
        "Latin.json": "\xff",
        "Word.json": PING.replace("PingRequest", "Word").replace('"Token"', '"From"'),
        "Twice.json": PING,
        "Taken.json": PING.replace("PingRequest", "TakenRequest"),
    }.items():
        (folder / name).write_text(text, "latin-1")
    faults: list[SchemaError] = []
    load_schemas(folder, dialect="good", on_fault=faults.append)
    assert catalog().names("good") == ["PingRequest"]
    assert {fault.file: fault.fault.partition(" is in")[0] for fault in faults} == {
        "Bad.json": "line 1 column 2: Expecting property name enclosed in double quotes",
        "Latin.json": "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "Word.json": "from is a word of Python",
        "Twice.json": "PingRequest",
        "Taken.json": "TakenRequest and PingRequest both have api key 900",
    }
    (folder / "PingRequest.json").unlink()
    (folder / "Twice.json").unlink()
    (folder / "Taken.json").unlink()
    with pytest.raises(SchemaError, match="there are no definitions"):
        load_schemas(folder, dialect="good", on_fault=faults.append)
    assert catalog().names("good") == ["PingRequest"]


def test_what_cannot_be_loaded(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(SchemaError, match="no such folder"):
        load_schemas(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SchemaError, match="no definitions"):
        load_schemas(tmp_path / "empty")
    for dialect in ("kafka", "kip-516"):
        with pytest.raises(SchemaError, match="the package's own"):
            load_schemas(folder, dialect=dialect)
    (folder / "PingRequest.json").write_text(PING.replace('"Token"', '"Encode"'))
    with pytest.raises(SchemaError, match=r"PingRequest\.json.*Encode.*hide Message\.encode"):
        load_schemas(folder, dialect="hidden")
    (folder / "PingRequest.json").write_text(PING.replace('"Token"', '"From"'))
    with pytest.raises(SchemaError, match="from is a word of Python"):
        load_schemas(folder, dialect="hidden")


def test_credentials_are_marked_as_in_the_shipped_message(tmp_path: Path) -> None:
    name = "SaslAuthenticateRequest"
    shutil.copy(catalog().folder / "kafka" / f"{name}.json", tmp_path)
    load_schemas(tmp_path, dialect="sasl")
    value = codec(name, 0, dialect="sasl").value_class(auth_bytes=b"hunter2")
    assert "hunter2" not in repr(value)


@pytest.mark.parametrize("dialect", [5, None, b"mine"], ids=repr)
def test_a_dialect_is_named_by_text(tmp_path: Path, dialect: Any) -> None:
    with pytest.raises(TypeError, match="load_schemas: dialect: expected str, got"):
        load_schemas(tmp_path, dialect=dialect)


def test_credentials_that_moved_are_still_marked(tmp_path: Path) -> None:
    """A renamed message is known by its api, a renamed neighbour or a moved field fails closed."""
    folder = catalog().folder / "kafka"
    token = (folder / "SaslAuthenticateRequest.json").read_text()
    (tmp_path / "A.json").write_text(token.replace("SaslAuthenticateRequest", "SaslAuthRequest"))
    record = (folder / "ConfigRecord.json").read_text()
    (tmp_path / "B.json").write_text(record.replace('"Name"', '"ConfigName"', 1))
    load_schemas(tmp_path, dialect="moved")
    login = codec("SaslAuthRequest", 0, dialect="moved")
    assert "hunter2" not in repr(login.value_class(auth_bytes=b"hunter2"))
    config = codec("ConfigRecord", 0, dialect="moved")
    value = config.value_class(config_name="ssl.keystore.password", value="hunter2")
    assert "hunter2" not in repr(value)
    assert "hunter2" not in repr(config.to_json(value, mask=True))


def test_fields_that_look_like_credentials_count_as_such(tmp_path: Path) -> None:
    """Nobody can be asked here, and masking is the safe side."""
    (tmp_path / "LoginRequest.json").write_text("""{
      "apiKey": 901, "type": "request", "name": "LoginRequest", "validVersions": "0",
      "flexibleVersions": "none",
      "fields": [
        { "name": "User", "type": "string", "versions": "0+" },
        { "name": "Secret", "type": "string", "versions": "0+" },
        { "name": "TokenCount", "type": "int32", "versions": "0+" },
        { "name": "Credentials", "type": "[]Pair", "versions": "0+", "fields": [
          { "name": "Key", "type": "string", "versions": "0+" },
          { "name": "Data", "type": "bytes", "versions": "0+" } ] } ]
    }""")
    load_schemas(tmp_path, dialect="login")
    c = codec("LoginRequest", 0, dialect="login")
    value: Any = c.from_json(
        {"user": "ann", "secret": "hunter2", "tokenCount": 7,
         "credentials": [{"key": "k", "data": "aHVudGVyMg=="}]}
    )  # fmt: skip
    assert repr(value) == (
        "LoginRequest(user='ann', secret='********', token_count=7, credentials='********')"
    )
    masked = c.to_json(value, mask=True)
    assert masked == {
        "user": "ann", "secret": "********", "tokenCount": 7, "credentials": "********"
    }  # fmt: skip
    assert c.decode(c.encode(value)) == value


def test_what_the_overlay_says_of_a_shipped_message_holds_for_loaded_ones(tmp_path: Path) -> None:
    name = "DescribeDelegationTokenResponse"
    text = (catalog().folder / "kafka" / f"{name}.json").read_text()
    (tmp_path / f"{name}.json").write_text(text.replace('"MaxTimestamp"', '"MaxToken"', 1))
    load_schemas(tmp_path, dialect="delegation")
    loaded = catalog().spec(name, "delegation")
    shipped = catalog().spec(name)
    assert loaded.fields[1].name == "Tokens"
    marked = [field.name for field in loaded.fields[1].fields or () if field.sensitive]
    assert marked == [field.name for field in shipped.fields[1].fields or () if field.sensitive]
    assert marked == ["Hmac"]


@pytest.mark.parametrize("name", catalog().names())
def test_classes_made_on_the_fly_are_like_the_generated_ones(name: str) -> None:
    generated = importlib.import_module(f"{messages_package('kafka')}.{python_name(name)}")
    made = make_classes(catalog().spec(name))
    assert sorted(made) == generated.__all__
    for struct, other in made.items():
        one = getattr(generated, struct)
        assert one.__struct_fields__ == other.__struct_fields__
        assert one.secret_fields == other.secret_fields
        assert repr(one()) == repr(other())
        for field in one.__struct_fields__:
            assert type(getattr(one(), field)).__name__ == type(getattr(other(), field)).__name__
        assert ("__eq__" in vars(one)) == ("__eq__" in vars(other))
    one, other = getattr(generated, name), made[name]
    assert (one.api_key, one.message_name) == (other.api_key, other.message_name)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The definitions of 4.4.0 as its jars have them, not a byte changed."""
    if reason := why_unavailable():
        skip_or_fail(reason)
    folder = tmp_path_factory.mktemp("upstream")
    for jar in jars.fetch("4.4.0", jars.definition_artifacts("4.4.0")):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if entry.endswith(".json") and entry.split("/")[-2:-1] in (
                    ["message"], ["metadata"],
                ):  # fmt: skip
                    archive.extract(entry, folder / jar.stem)
    return load_schemas(folder, dialect="4.4.0")


@pytest.mark.exhaustive
@pytest.mark.xdist_group("upstream definitions")
def test_unchanged_upstream_files_give_codecs_equal_to_the_shipped_ones(upstream: str) -> None:
    checked = 0
    names = catalog().names(upstream)
    drawn = set(sample(names, 60))
    for name in names:
        entry = catalog().entry(name, upstream)
        for version in entry.versions:
            shipped, loaded = codec(name, version), codec(name, version, dialect=upstream)
            assert layout(loaded.spec, version) == layout(shipped.spec, version)
            assert loaded.spec.is_flexible(version) == shipped.spec.is_flexible(version)
            if name in drawn:
                check_equal(shipped, loaded)
            checked += 1
    assert checked >= 740


def check_equal(shipped: Codec[Any], loaded: Codec[Any]) -> None:
    @settings(max_examples=4)
    @given(messages(shipped.name, shipped.version))
    def check(value: Any) -> None:
        data = shipped.encode(value)
        assert loaded.encode(loaded.decode(data)) == data
        assert loaded.to_json(loaded.decode(data)) == shipped.to_json(value)

    check()
