"""Kafka's error codes and api keys are written once, in the generated constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kafka_admin_proto.protocol import api_keys, codes
from tests.package.sources import modules, of_all_sources, parsed

_GENERATED = {f"kafka_admin_proto/protocol/{name}.py" for name in ("api_keys", "codes")}
#: Names in expressions that stand for an error code or an api key.
_ABOUT = re.compile(r"(.*_)?(error_code|api_key)s?", re.I)
#: A comment, and the line of a constant below it that is a number or a collection of some.
_COMMENTED = re.compile(r"^#:? (.*)\n(\w+(?:: \w+)? = [a-z(){}\[\], \d]*\d[(){}\[\], ]*)$", re.M)
pytestmark = of_all_sources

_CODES = {name: value for name, value in vars(codes).items() if name.isupper()}
_KEYS = {name: value for name, value in vars(api_keys).items() if name.isupper()}


def bare_numbers(source: str) -> Iterator[str]:
    """The expressions of a module in which a number stands for an error code or an api key.

    These are a constant with the name and value of one, and a number beside a field or variable of
    one: compared, assigned or given as an argument. 0 stands for no error.
    """
    for node in ast.walk(parsed(source)):
        pairs: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs = [(_name(each), node.value) for each in targets]
            pairs += _elements(targets[0], node.value)
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg or "", node.value)]
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = [(_name(one), other) for one in sides for other in sides]
        for name, value in pairs:
            numbers = {found for each in _parts(value) if (found := _number(each))}
            if numbers & _standing_for(name):
                yield ast.unparse(node)


def numbers_in_words(source: str) -> list[str]:
    """The constants of a module below a comment that names the error code whose number they have.

    A comment that says "api key" is about any number.
    """
    found = []
    for comment, line in _COMMENTED.findall(source):
        named = {_CODES[name] for name in re.findall(r"[A-Z_]{4,}", comment) if name in _CODES}
        named |= {*_KEYS.values()} if re.search(r"\bapi keys?\b", comment) else set()
        if named & {int(number) for number in re.findall(r"\b\d+\b", line)}:
            found.append(line)
    return found


def _elements(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [(_name(name), each) for name, each in zip(target.elts, value.elts, strict=False)]
    return []


def _name(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """An expression, or the elements of a collection."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        yield from _parts(node.args[0])
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        yield from node.elts
    else:
        yield node


def _number(node: ast.expr) -> int:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return 0
    return found if type(found) is int else 0


def _standing_for(name: str) -> set[int]:
    """The numbers that a constant has in its place under this name, or that a field may have."""
    if about := _ABOUT.fullmatch(name):
        return {*(_CODES if about[2].lower() == "error_code" else _KEYS).values()} - {0}
    name = name.strip("_").upper()
    return {_CODES.get(name, 0), _KEYS.get(name.removesuffix("_KEY"), 0)} - {0}


def test_error_codes_and_api_keys_are_written_once() -> None:
    found = {
        f"{path}: {each}"
        for path, source in modules().items()
        if "/messages/" not in path and path not in _GENERATED
        for each in (*bare_numbers(source), *numbers_in_words(source))
    }
    assert found == set()


def test_each_form_of_a_bare_number_is_noticed() -> None:
    for source in [
        "UNKNOWN_TOPIC_ID = 100",
        "_FETCH_KEY: int = 1",
        "NOT_CONTROLLER, INVALID_REQUEST = 41, 42",
        "_API_KEYS = frozenset({3, 19})",
        "if answer.error_code == 41: ...",
        "if request.api_key in (17, 36): ...",
        "answer.error_code = -1",
        "Answer(error_code=35)",
    ]:
        assert [*bare_numbers(source)], source
    for source in ["TOPICS = 100", "if answer.error_code == 0: ...", "Answer(error_code=code)"]:
        assert not [*bare_numbers(source)], source
    for comment in ["#: NOT_CONTROLLER and REQUEST_TIMED_OUT.", "# The api key of Metadata."]:
        assert numbers_in_words(f"{comment}\n_REFUSED = (41, 3)\n"), comment
    assert not numbers_in_words("#: The first version that has NOT_CONTROLLER.\n_SINCE = 4\n")
