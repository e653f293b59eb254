"""The public names: nested structs, copies and pickles, mistaken calls, the module as a command."""

from __future__ import annotations

import ast
import copy
import importlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    Codec,
    CreateTopicsRequest,
    CreateTopicsResponse,
    EncodeError,
    Message,
    SchemaError,
    UnknownMessageError,
    codec,
    load_schemas,
)
from kafka_admin_proto.loaded_schemas import make_classes
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import (
    FrameReader,
    frame,
    read_request,
    read_response,
    write_request,
    write_response,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.names import messages_package, python_name
from tests.helpers.mistyped import mistyped

PING = """{
  "apiKey": 901, "type": "request", "name": "PingRequest", "validVersions": "0-1",
  "flexibleVersions": "1+",
  "fields": [
    { "name": "Echoes", "type": "[]Echo", "versions": "0+", "fields": [
      { "name": "Weight", "type": "float64", "versions": "0+" },
      { "name": "Id", "type": "uuid", "versions": "0+" },
      { "name": "Inner", "type": "Inner", "versions": "0+", "nullableVersions": "0+",
        "default": "null", "fields": [
        { "name": "Text", "type": "string", "versions": "0+" } ] } ] } ]
}"""


def call(program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *arguments, "-c", program]
    return subprocess.run(command, capture_output=True, check=False)


# Nested structs.


@pytest.mark.parametrize("dialect", ["kafka", "kip-4", "kip-4a", "kip-4b", "kip-516"])
def test_every_struct_is_an_attribute_of_its_message(dialect: str) -> None:
    for name in catalog().names(dialect):
        module = importlib.import_module(f"{messages_package(dialect)}.{python_name(name)}")
        value_class = getattr(module, name)
        for struct in module.__all__:
            if struct != name:
                assert getattr(value_class, struct) is getattr(module, struct)
        assert set(module.__all__) == {name, *catalog().spec(name, dialect).structs()}


def test_nested_structs_are_the_modules() -> None:
    topic: CreateTopicsRequest.CreatableTopic = CreateTopicsRequest.CreatableTopic("apples", 3)
    assert isinstance(topic, CreatableTopic)
    request = CreateTopicsRequest([topic])
    assert CreateTopicsRequest.decode(request.encode(1), 1) == request
    assert "CreatableTopic" not in CreateTopicsRequest.__struct_fields__
    assert pickle.loads(pickle.dumps(request)) == request


def test_a_struct_cannot_have_the_name_of_a_field_or_method() -> None:
    """A field's name in Python is of small letters, as are a message's methods."""
    assert not [name for name in dir(Message) if name[0].isupper()]
    fields = '"versions": "0+", "fields": [{ "name": "X", "type": "int8", "versions": "0+" }]'
    text = f"""{{ "type": "data", "name": "Odd", "validVersions": "0", "flexibleVersions": "none",
      "fields": [{{ "name": "Same", "type": "[]Same", {fields} }}] }}"""
    made = make_classes(read_message(text))
    odd = made["Odd"](same=[made["Odd"].Same(3)])
    assert (made["Odd"].Same, odd.same[0].x) == (made["Same"], 3)
    for refused in ("encode", "Odd"):
        with pytest.raises(SchemaError):
            read_message(text.replace("[]Same", f"[]{refused}"))


# Copies and pickles.


def test_codecs_are_copied_and_pickled_by_name() -> None:
    for each in (codec(CreateTopicsRequest, 1), codec("VoteRequest", 0, dialect="kip-516")):
        assert copy.copy(each) is each
        assert copy.deepcopy({"codec": each})["codec"] is each
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(each, protocol)) is each
    assert len(pickle.dumps(codec("FetchResponse", 17))) < 200


@pytest.fixture
def ping(tmp_path: Path) -> Codec[Any]:
    (tmp_path / "PingRequest.json").write_text(PING)
    load_schemas(tmp_path, dialect="pings")
    return codec("PingRequest", 1, dialect="pings")


def drawn(ping: Codec[Any]) -> Any:
    made = ping.value_class
    inner = made.Inner("text", unknown_tagged_fields=((1, b"x"),))
    return made(echoes=[made.Echo(0.5, UUID(int=7), inner), made.Echo()])


def test_values_of_a_loaded_dialect_are_copied_and_pickled(ping: Codec[Any]) -> None:
    value = drawn(ping)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again == value
        assert type(again) is ping.value_class
    deep = copy.deepcopy(value)
    deep.echoes[0].inner.text = "other"
    assert value.echoes[0].inner.text == "text"
    assert copy.copy(value).echoes is value.echoes
    assert copy.deepcopy(ping) is ping
    request = read_request(write_request(value, 1, 5), dialect="pings")
    assert pickle.loads(pickle.dumps(request)).body == value


def test_another_process_needs_the_same_dialect(ping: Codec[Any], tmp_path: Path) -> None:
    pickles = tmp_path / "pickles"
    pickles.write_bytes(pickle.dumps((drawn(ping), ping)))
    read = (
        "import pickle, sys\nfrom kafka_admin_proto import load_schemas\n{}"
        f"value, codec = pickle.load(open({str(pickles)!r}, 'rb'))\n"
        "sys.stdout.buffer.write(codec.encode(value))"
    )
    done = call(read.format(f"load_schemas({str(tmp_path)!r}, dialect='pings')\n"))
    assert done.stdout == ping.encode(drawn(ping)), done.stderr
    refused = call(read.format(""))
    assert b"dialect 'pings', which this process has not loaded; call load_s" in refused.stderr
    pickles.write_bytes(pickle.dumps((None, ping)))
    refused = call(read.format(""))
    assert b"unknown dialect 'pings'" in refused.stderr
    assert b"load_schemas loads others" in refused.stderr


def test_a_value_of_another_definition_is_refused(ping: Codec[Any], tmp_path: Path) -> None:
    data = pickle.dumps(drawn(ping))
    for old, new in (("Weight", "Mass"), ("Inner", "Other")):
        (tmp_path / "PingRequest.json").write_text(PING.replace(old, new))
        load_schemas(tmp_path, dialect="pings")
        with pytest.raises(UnknownMessageError, match="of another PingRequest than dialect 'ping"):
            pickle.loads(data)
    (tmp_path / "PingRequest.json").write_text(PING)
    load_schemas(tmp_path, dialect="pings")
    again = codec("PingRequest", 1, dialect="pings")
    assert pickle.loads(data) == drawn(again) != drawn(ping)


# Mistaken calls, as no checker of types lets pass.

make: Any = codec
c: Any = codec(CreateTopicsRequest, 1)
Request: Any = CreateTopicsRequest
AN_INTEGER = "a version is an integer, as in codec(message, 1), not "
AN_API_KEY = "an api key is an integer, as 18 is ApiVersions', not "


@pytest.mark.parametrize(
    ("mistake", "error", "sentence"),
    [
        (lambda: make(ApiVersionsRequest(), 1), UnknownMessageError,
         "this is a value of ApiVersionsRequest, and a codec is that of a class: "
         "codec(ApiVersionsRequest, version)"),
        (lambda: make({}, 1), UnknownMessageError, "{} is not a message's class, nor a name"),
        (lambda: make(True, 1, "request"), UnknownMessageError, "True is not a message's class"),
        (lambda: make(CreatableTopic, 1), UnknownMessageError, "CreatableTopic is not a message's"),
        (lambda: make("CreateTopicsRequest", "1"), TypeError, AN_INTEGER + "'1'"),
        (lambda: make("X", "1"), TypeError, AN_INTEGER + "'1'"),
        (lambda: make("CreateTopicsRequest", True), TypeError, AN_INTEGER + "True"),
        (lambda: make("CreateTopicsRequest", 1.0), TypeError, AN_INTEGER + "1.0"),
        (lambda: make(19, True), TypeError, AN_INTEGER + "True"),
        (lambda: make(19, 1), UnknownMessageError, 'say type "request" or "response", not \'\''),
        (lambda: make(19, 1, "req"), UnknownMessageError, "or \"response\", not 'req'"),
        (lambda: make("CreateTopicRequest", 1), UnknownMessageError,
         "did you mean CreateTopicsRequest"),
        (lambda: make("create_topics_request", 1), UnknownMessageError,
         "did you mean CreateTopicsRequest"),
        (lambda: Request().encode("1"), TypeError, AN_INTEGER + "'1'"),
        (lambda: Request.decode(b"", None), TypeError, AN_INTEGER + "None"),
        (lambda: c.decode("text"), TypeError, "expected bytes, got an object of type str; bytes.f"),
        (lambda: c.decode("text", strict=True), TypeError, "got an object of type str"),
        (lambda: c.decode(5), TypeError, "expected bytes, got an object of type int"),
        (lambda: c.decode([1]), TypeError, "expected bytes, got an object of type list"),
        (lambda: c.encode(CreateTopicsResponse()), EncodeError,
         "CreateTopicsRequest v1: expected a CreateTopicsRequest, got "),
        (lambda: c.encode({"topics": []}), EncodeError, "expected a CreateTopicsRequest, got "),
        (lambda: write_request(mistyped({"topics": []}), 0, 1), EncodeError,
         "expected a request, as CreateTopicsRequest() is one, got an object of type dict; codec("),
        (lambda: write_response(Request, 0, 1), EncodeError,
         "expected a response, as CreateTopicsResponse() is one, got a class"),
        (lambda: write_request(Request(), mistyped("0"), 1), TypeError, AN_INTEGER),
        (lambda: read_request(mistyped("abc")), TypeError, "got an object of type str"),
        (lambda: read_request(mistyped(5)), TypeError, "got an object of type int"),
        (lambda: read_response(mistyped("abc"), 19, 1), TypeError, "of type str"),
        (lambda: read_response(b"abcd", 19, mistyped("1")), TypeError, AN_INTEGER),
        (lambda: read_response(b"abcd", mistyped("19"), 1), TypeError, AN_API_KEY + "'19'"),
        (lambda: read_response(b"abcd", mistyped(None), 1), TypeError, AN_API_KEY + "None"),
        (lambda: read_request(bytes(20), offset=-3), ValueError, "offset -3 is outside the 20 by"),
        (lambda: read_response(bytes(20), 19, 1, offset=-3), ValueError, "offset -3 is outside"),
        (lambda: read_response(bytes(20), 19, 1, offset=21), ValueError, "offset 21 is outside"),
        (lambda: write_request(Request(), header=mistyped({})), EncodeError,
         "header: expected a RequestHeader, got {}"),
        (lambda: write_response(CreateTopicsResponse(), 0, header=mistyped(3)), EncodeError,
         "header: expected a ResponseHeader, got 3"),
        (lambda: frame(mistyped("x")), TypeError, "expected bytes, got an object of type str"),
        (lambda: frame(mistyped(5)), TypeError, "expected bytes, got an object of type int"),
        (lambda: FrameReader().feed(mistyped("x")), TypeError, "bytes, got an object of type str"),
        (lambda: FrameReader().feed(mistyped([1])), TypeError, "got an object of type list"),
        (lambda: make("ApiVersionsRequest", 1, None), UnknownMessageError,
         "the type of ApiVersionsRequest is 'request', not None"),
        (lambda: c.encode(None), EncodeError, "expected a CreateTopicsRequest, got None"),
        (lambda: c.encode(Request), EncodeError,
         "got the class CreateTopicsRequest; make a value of it"),
        (lambda: make("ApiVersionsRequest", 1).encode(None), EncodeError,
         "expected an ApiVersionsRequest, got None"),
        (lambda: make("SaslAuthenticateRequest", 0).encode(5), EncodeError,
         "got an int that may hold a secret and is not shown"),
    ],
)  # fmt: skip
def test_a_mistaken_call_gets_a_sentence(
    mistake: Callable[[], object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error) as caught:
        mistake()
    assert sentence in str(caught.value)


def test_what_stands_for_an_integer_is_a_version() -> None:
    class Index:
        def __index__(self) -> int:
            return 1

    assert make("CreateTopicsRequest", Index()) is c
    assert type(c.version) is int


def test_what_has_bytes_is_bytes() -> None:
    import array

    data = c.encode(CreateTopicsRequest())
    whole = data + bytes(-len(data) % 4)
    payload = write_request(CreateTopicsRequest(), 1, 1)
    assert c.decode_from(array.array("i", whole))[0] == CreateTopicsRequest()
    assert read_request(memoryview(payload)).body == CreateTopicsRequest()
    assert read_request(payload).data is payload  # not copied


# The command.


def test_the_module_is_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_admin_proto", "error", "44"], capture_output=True, check=False
    )
    assert b"POLICY_VIOLATION" in done.stdout
    usage = [sys.executable, "-m", "kafka_admin_proto", "nothing"]
    wrong = subprocess.run(usage, capture_output=True, check=False)
    assert (wrong.returncode, b"Usage: kap" in wrong.stderr) == (2, True)
    without = (
        "import sys, runpy; sys.modules['click'] = None; sys.argv = ['x', 'error'];"
        "runpy.run_module('kafka_admin_proto', run_name='__main__')"
    )
    done = call(without)
    assert done.returncode == 2
    assert done.stderr == b"kap needs the package click: pip install 'kafka-admin-proto[cli]'\n"


# Names of packages.


@pytest.mark.parametrize("name", ["capture", "records"])
def test_a_package_has_the_same_names_for_checkers_and_at_run_time(name: str) -> None:
    package = importlib.import_module(f"kafka_admin_proto.{name}")
    tree = ast.parse(Path(package.__file__ or "").read_text("utf-8"))
    (for_checkers,) = [node.body for node in tree.body if isinstance(node, ast.If)]
    imported: dict[str, str | None] = {}
    for node in for_checkers:
        assert isinstance(node, ast.ImportFrom)
        imported |= {alias.name: node.module for alias in node.names}
    assert sorted(imported) == sorted(package.__all__)
    for each, module in imported.items():
        home = importlib.import_module(module or "")
        assert getattr(package, each) is getattr(home, each)
        assert each in dir(package)
    with pytest.raises(AttributeError, match="has no attribute 'read_kaptures'"):
        _ = package.read_kaptures


def test_a_package_loads_what_is_asked_for() -> None:
    program = (
        "import sys\nfrom kafka_admin_proto.records import PartitionMetadata\n"
        "import kafka_admin_proto.capture\n"
        "loaded = [name for name in sys.modules if name.startswith('kafka_admin_proto.')]\n"
        "print([name for name in loaded if '.records.' in name or '.capture.' in name])\n"
    )
    room = "kafka_admin_proto.records.segments"
    assert call(program).stdout == f"{[room, f'{room}.partition_metadata']}\n".encode()
