"""The processor time of the linters grows as the text does, whatever the shape of the text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_admin_proto.cli.definitions.schema import _is_other_json, _slips
from kafka_admin_proto.schema.kip.reader import read_proposal
from kafka_admin_proto.schema.lint.kip import lint_proposal
from tests.helpers.profile import sample

HEAD = "Ping Request (Version: 0) => "
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lines(line: str, count: int) -> str:
    """``line`` for each number i, and for each word w of four letters."""
    words = ("".join(_LETTERS[i // 26**k % 26] for k in range(4)) for i in range(count))
    return "".join(line.replace("{i}", str(i)).replace("{w}", w) for i, w in enumerate(words))


def used(count: int) -> str:
    """The head of a message with so many fields."""
    return f"{HEAD}{lines('f{i} ', count)}\n"


def message(count: int, field: dict[str, Any], /, **parts: Any) -> str:
    """A definition in JSON whose fields are ``field``, {i} being their number."""
    head = {"apiKey": 1, "type": "request", "name": "Ping", "validVersions": "0"}
    fields = "[" + lines(json.dumps(field) + ",\n", count)[:-2] + "]"
    text = json.dumps({**head, "flexibleVersions": "0+", "fields": "FIELDS", **parts})
    return text.replace('"FIELDS"', fields)


def inside(name: str, count: int) -> str:
    """One struct of that name with many fields, each with a slip."""
    struct = {"name": name, "type": "S", "versions": "0+", "fields": "FIELDS"}
    fields = lines('{"name": "F{i}", "type": "int8", "versions": "0+", "odd": 1},', count)
    return message(1, struct).replace('"FIELDS"', f"[{fields[:-1]}]")


FIELD = {"name": "F{i}", "type": "int32", "versions": "0+"}
PROPOSALS: dict[str, Callable[[int], str]] = {
    "fields": lambda n: used(n) + lines("  f{i} => INT32\n", n),
    "fields without a definition": used,
    "definitions without a use": lambda n: HEAD + "a\n" + lines("  f{i} => INT32\n", n),
    "one name": lambda n: HEAD + "a " * n + "\n  a => INT32\n" + lines("    b{i} => INT8\n", n),
    "types": lambda n: HEAD + "int8 " * n,
    "messages": lambda n: lines("M{w}Request (Version: 0) => a{i}\n  a{i} => INT32\n", n),
    "messages without a reading": lambda n: lines(
        "M{w}Request_V0 => a\n  a => INT8\nM{w}Request_V1 => a\n  a => INT16\n", n
    ),
    "gaps": lambda n: lines("M Request (Version: {i}1) => a b\n  a => INT32\n", n),
    "messages without definitions": lambda n: lines("M{w}Request (Version: 0) => a{i}\n", n),
    "versions": lambda n: lines("M Request (Version: {i}) => a b\n  a => INT32\n", n),
    "versions, each with other fields": lambda n: lines("M Request (Version: {i}) => a{i}\n", n),
    "a struct that each message takes": lambda n: (
        used(1) + "  f0 => " + lines("g{i} ", n) + lines("\nM{w}Request => f0", n)
    ),
    "levels": lambda n: lines(
        "M{i} Request (Version: 0) => a0\n"
        + "".join(f"{' ' * (d + 1)}a{d} => a{d + 1}\n" for d in range(35)),
        n // 30 + 1,
    ),
    "structs": lambda n: used(n) + lines("  f{i} => x y z\n    x => INT8\n    y => INT8\n", n),
    "arrays in place": lambda n: HEAD + "[a b] " * n,
    "unknown names in prose": lambda n: HEAD + "a\n" + lines("a Create{w}Request\n", n),
    "unknown names and messages": lambda n: (
        lines("Abc{w}Request => a\n", n) + lines("the Xyz{w}Request\n", n)
    ),
    "one long word of prose": lambda n: HEAD + "a\n" + "AaRequest" * n,
    "a long name": lambda n: HEAD + "a\n  a" + "a" * n * 9 + " => b\n" + lines("b{i} => c\n", n),
    "a long name of a message": lambda n: "A" + "a" * n * 9 + "Request => " + "int8 " * n,
    "spaces": lambda n: " " * n * 9 + "a" + " " * n * 9 + "b =>" + "\t" * n * 9,
    "lines": lambda n: "\n" * n * 9,
    "a comment": lambda n: "# " + "x " * n * 9,
}  # fmt: skip
DEFINITIONS: dict[str, Callable[[int], str]] = {
    "fields": lambda n: message(n, FIELD),
    "unknown keys": lambda n: message(n, FIELD | {"odd": 1}),
    "unknown keys of one object": lambda n: message(1, FIELD, **{f"k{i}": 1 for i in range(n)}),
    "keys that are there twice": lambda n: "{" + lines('"a": {i},\n', n) + '"b": 1}',
    "fields that are numbers": lambda n: message(0, {}, fields=[7] * n),
    "fields inside a long name": lambda n: inside("B" * n * 40, n),
    "structs": lambda n: message(n, FIELD | {"type": "S{i}", "fields": [FIELD | {"tag": 5}]}),
    "structs that are nowhere": lambda n: message(n, FIELD | {"type": "S{i}"}),
    "arrays": lambda n: message(0, {}, fields=[[[[[[]]]]]] * n),
    "a long comment": lambda n: "/* " + "x" * n * 40 + " */" + message(1, FIELD),
    "comments": lambda n: message(n, FIELD).replace("\n", "// c\n"),
    "quotes": lambda n: message(0, {}) + '"\n' * n * 9,
}


def lint_json(text: str) -> None:
    _is_other_json(text)
    _slips(text, ".json")


def processor_time(lint: Callable[[str], object], text: str) -> float:
    """The less of two runs, in seconds."""
    found = []
    for _ in range(2):
        start = time.thread_time()
        lint(text)
        found.append(time.thread_time() - start)
    return min(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("lint", "make"),
    sample(
        [
            *(pytest.param(lint_proposal, make, id=name) for name, make in PROPOSALS.items()),
            *(
                pytest.param(lint_json, make, id=f"json: {name}")
                for name, make in DEFINITIONS.items()
            ),
        ],
        6,
    ),
)
def test_four_times_the_text_takes_about_four_times_as_long(
    lint: Callable[[str], object], make: Callable[[int], str]
) -> None:
    count = 30_000 * 100 // len(make(100))
    small, large = make(count // 4), make(count)
    assert len(large) > 3 * len(small)
    # Quadratic time is 16 times as long; what the first few milliseconds are of, does not count.
    assert processor_time(lint, large) < 8 * max(processor_time(lint, small), 0.01)


def test_an_end_of_comparing_names_is_a_slip() -> None:
    text = HEAD + "a\n  a => INT8\n" + lines("a Cr{w}Request\n", 2000) + "the CreateTopicsReqeust\n"
    slips = [slip for slip in lint_proposal(text) if slip.rule == "misspelt"]
    assert [slip.fault for slip in slips] == [
        "too many unknown names to compare them with messages"
    ]
    assert 300 < slips[0].line < 2000


@pytest.mark.exhaustive
def test_definitions_that_multiply_are_refused() -> None:
    text = PROPOSALS["a struct that each message takes"](1000)
    found = read_proposal(text)
    (slip,) = [slip for slip in found.slips if slip.rule == "unreadable"]
    assert "fields in all messages together; left out; so are all after it" in str(slip)
    heads = [line.partition(" ")[0] for line in text.splitlines()]
    assert list(found.messages) == ["PingRequest", *heads[2 : slip.line - 1]]
    assert found.left_out == heads[slip.line - 1 :]
