"""``kap schema`` with ``--schemas``: definitions of a folder, shown, compared and as type stubs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from tests.helpers.kap import ended, run_kap
from tests.helpers.processes import python

ROOT = Path(__file__).parents[3]
GREETING = """{
  "apiKey": 9001, "type": "request", "name": "GreetingRequest", "validVersions": "0-1",
  "flexibleVersions": "1+",
  "fields": [
    { "name": "Guests", "type": "[]Guest", "versions": "0+", "fields": [
      { "name": "Name", "type": "string", "versions": "0+" },
      { "name": "Table", "type": "Table", "versions": "1+", "fields": [
        { "name": "Number", "type": "int32", "versions": "1+" } ] } ] },
    { "name": "Note", "type": "string", "versions": "0+", "nullableVersions": "0+" },
    { "name": "Id", "type": "uuid", "versions": "1+", "ignorable": true }
  ]
}"""
#: Another CreateTopicsRequest than Kafka's, with a struct of the name that GreetingRequest has.
CREATE_TOPICS = """{
  "apiKey": 19, "type": "request", "name": "CreateTopicsRequest", "validVersions": "7-8",
  "flexibleVersions": "0+",
  "fields": [ { "name": "Guests", "type": "[]Guest", "versions": "0+", "fields": [
    { "name": "Weight", "type": "float64", "versions": "0+" } ] } ]
}"""

#: Names of the message, a struct and fields that a stub needs for something else.
HIDING = """{
  "type": "data", "name": "Message", "validVersions": "0", "flexibleVersions": "0+",
  "fields": [
    { "name": "Bytes", "type": "bytes", "versions": "0+" },
    { "name": "List", "type": "[]UUID", "versions": "0+", "fields": [
      { "name": "Str", "type": "string", "versions": "0+" },
      { "name": "UUID", "type": "uuid", "versions": "0+" },
      { "name": "Names", "type": "[]string", "versions": "0+" } ] },
    { "name": "Int", "type": "int32", "versions": "0+" },
    { "name": "Tuple", "type": "[]bytes", "versions": "0+" },
    { "name": "Owner", "type": "StructValue", "versions": "0+", "fields": [
      { "name": "Builtins", "type": "bool", "versions": "0+" } ] },
    { "name": "Id", "type": "uuid", "versions": "0+" }
  ]
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "mine"
    found.mkdir()
    (found / "GreetingRequest.json").write_text(GREETING)
    (found / "CreateTopicsRequest.json").write_text(CREATE_TOPICS)
    (found / "Message.json").write_text(HIDING)
    return found


def schema(folder: Path, *arguments: str) -> Result:
    return run_kap("schema", *arguments, "--schemas", str(folder))


def test_show(folder: Path) -> None:
    shown = schema(folder, "show", "GreetingRequest@1")
    assert "GreetingRequest v1: request, api key 9001, versions 0-1" in shown.stdout
    assert "  number" in shown.stdout
    assert "versions 7-8" in schema(folder, "show", "CreateTopicsRequest").stdout
    kip = schema(folder, "show", "GreetingRequest", "--notation", "kip", "--version", "0")
    assert kip.stdout.startswith("Greeting Request (Version: 0)")


def test_diff(folder: Path) -> None:
    found = ended(schema(folder, "diff", "CreateTopicsRequest@7", "kafka:CreateTopicsRequest@7"), 1)
    assert "guests[].weight" in found.stdout
    same = schema(folder, "diff", "GreetingRequest@1", "GreetingRequest")
    assert (same.exit_code, same.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "MetadataRequest"], "MetadataRequest"),
        (["show", "kafka:MetadataRequest"], "--schemas has no effect on kafka:MetadataRequest"),
        (["diff", "kafka:VoteRequest", "kip-516:VoteRequest"], "--schemas has no effect on kafka:"),
    ],
)
def test_what_the_folder_is_not_asked_for(
    folder: Path, arguments: list[str], sentence: str
) -> None:
    assert sentence in " ".join(ended(schema(folder, *arguments), 2).stderr.split())


@pytest.mark.parametrize("command", [["show", "A"], ["diff", "A", "B"]])
def test_a_definition_with_a_fault(folder: Path, command: list[str]) -> None:
    (folder / "GreetingRequest.json").write_text(GREETING.replace("int32", "int23"))
    assert "GreetingRequest.json" in ended(schema(folder, *command), 2).stderr


PROGRAM = """
from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from kafka_admin_proto.codec import codec
from kafka_admin_proto.loaded_schemas import load_schemas

if TYPE_CHECKING:
    from mine import CreateTopicsRequest, GreetingRequest, Message

mine = load_schemas("mine", dialect="mine")
Greeting: type[GreetingRequest] = codec("GreetingRequest", 1, dialect=mine).value_class
Guest = Greeting.Guest
value = Greeting([Guest("Ada", Greeting.Table(number=3))], note=None, id=UUID(int=1))
value.unknown_tagged_fields = ((7, b"x"),)
again = codec(Greeting, 1).decode(value.encode(1))
number: int = again.guests[0].table.number
weights: list[CreateTopicsRequest.Guest] = []
Hiding: type[Message] = codec("Message", 0, dialect=mine).value_class
row = Hiding.UUID(str="a", uuid=UUID(int=2), names=["b"])
hiding = Hiding(b"c", [row], int=3, tuple=[b"d"], owner=Hiding.StructValue(builtins=True))
hiding.id, hiding.unknown_tagged_fields = row.uuid, ((7, b"e"),)
assert codec(Hiding, 0).decode(hiding.encode(0)) == hiding
print(number, again == value)
"""
WRONG = {
    "Guest(name=3)": "arg-type",
    "Guest(nickname='Ada')": "call-arg",
    "Greeting([Greeting.Table()])": "list-item",
    "again.guests[0].name = None": "assignment",
    "again.notes": "attr-defined",
    "again.note.upper()": "union-attr",
    "weights.append(Guest())": "arg-type",
    "row.str = b'a'": "assignment",
    "hiding.list = row": "assignment",
    "hiding.tuple = [1]": "list-item",
}


@pytest.mark.exhaustive
def test_type_checkers_know_what_is_loaded(folder: Path) -> None:
    """A right program runs and is accepted; each wrong line is refused for its own reason."""
    written = schema(folder, "stubs", "--out", str(folder.parent / "mine.pyi"))
    assert (written.exit_code, written.output) == (0, "")
    assert schema(folder, "stubs").stdout == (folder.parent / "mine.pyi").read_text()
    right = PROGRAM.count("\n")
    (folder.parent / "program.py").write_text(PROGRAM)
    (folder.parent / "wrong.py").write_text(PROGRAM + "\n".join(WRONG) + "\n")
    ran = python("program.py", cwd=folder.parent, check=True)
    assert ran.stdout == "3 True\n"
    command = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"))
    checked = subprocess.run(
        [*command, "--no-error-summary", "program.py", "wrong.py"],
        cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line.split(":", 2) for line in checked.stdout.splitlines() if ": error:" in line]
    found = {int(line) - right: words for _, line, words in lines}
    assert {name for name, *_ in lines} == {"wrong.py"}, checked.stdout + checked.stderr
    for place, (code, reason) in enumerate(WRONG.items(), start=1):
        assert f"[{reason}]" in found.pop(place), code
    assert not found


def test_stubs_of_nothing(folder: Path, tmp_path: Path) -> None:
    assert "name a folder with --schemas" in ended(run_kap("schema stubs"), 2).stderr
    nowhere = ended(schema(folder, "stubs", "--out", str(tmp_path / "nowhere" / "mine.pyi")), 2)
    assert "--out: " in nowhere.stderr
