"""The tree in the docstring of ``errors`` has every public exception of the package, as it is."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache

import kafka_admin_proto
from kafka_admin_proto import errors
from tests.package.sources import modules, of_all_sources, parsed

pytestmark = of_all_sources

ROOT = "KafkaAdminProtoError"
#: Exceptions that are caught in the room that raises them.
INTERNAL = {"ControllerUnavailable", "PatternError", "PolicyError", "BadPatternError",
    "ApiFailure", "ClosedPipe", "ConfigFailure", "Damage", "Fallback", "PolicyFailure",
    "NoBatch", "OffsetOutOfRange", "RecordsRefused", "RequestFailure", "Stopped", "StrangeRecord",
    "UnwritableOutput", "ValueChanged",
    # of the plugin for pytest, which fails the test with its sentence
    "MarkerError",
    # of the simulation, whose nodes catch them
    "BadVersionError", "ConnectionRefused", "InconsistentLeaderError", "NoNodeError",
    "NodeExistsError", "SessionExpiredError", "StoreError",
}  # fmt: skip
#: One line of the tree: bars, branch, name, what it means, what else it is or where it is defined.
LINE = re.compile(
    r"    (?P<bars>[│ ]*)(?:[├└]── )?(?P<name>[A-Z]\w+)(?: .*?)?(?:\((?P<note>[^()]+)\))?"
)


@cache
def defined() -> dict[str, tuple[str, list[str]]]:
    """Every exception class of the package: its file and the names of its bases."""
    classes = {}
    for path, source in sorted(modules().items()):
        file = path.removeprefix("kafka_admin_proto/")
        if file.startswith("messages/"):
            continue
        for node in ast.walk(parsed(source)):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                classes[node.name] = (file, bases)
    raised: set[str] = set()
    while True:
        more = {
            name
            for name, (file, bases) in classes.items()
            if file != "construct_types.py" and any(is_exception(base, raised) for base in bases)
        }
        if more == raised:
            return {name: classes[name] for name in raised}
        raised = more


def is_exception(base: str, known: set[str]) -> bool:
    found = getattr(builtins, base, None)
    return base in known or (isinstance(found, type) and issubclass(found, BaseException))


def drawn() -> dict[str, tuple[str | None, str]]:
    """Every exception of the tree: its parent and the note in brackets."""
    assert errors.__doc__ is not None
    tree = errors.__doc__.split("::\n\n")[1].split("\n\n")[0]
    found: dict[str, tuple[str | None, str]] = {}
    above: list[str] = []
    for line in tree.splitlines():
        match = LINE.fullmatch(line.rstrip())
        assert match, line
        depth = 0 if match["name"] == ROOT else 1 + len(match["bars"]) // 4
        above = [*above[:depth], match["name"]]
        found[match["name"]] = (above[-2] if depth else None, match["note"] or "")
    return found


def test_the_tree_has_every_exception_where_it_belongs() -> None:
    classes = defined()
    tree = drawn()
    assert tree.keys() == {name for name in classes if name[0] != "_"} - INTERNAL
    for name, (parent, note) in tree.items():
        file, bases = classes[name]
        if parent is None:
            continue
        public = bases[0]
        while public.startswith("_"):
            public = classes[public][1][0]
        assert public == parent, name
        also = [base for base in bases[1:] if base not in classes]
        if file == "errors.py":
            below_private = bases[0].startswith("_")
            expected = ["ConstructError"] if below_private else also
            assert note == ", ".join(f"also {base}" for base in expected), name
        else:
            assert note == file, name


def test_those_of_the_module_are_public_names_of_the_package() -> None:
    here = {name for name, (file, _) in defined().items() if file == "errors.py" and name[0] != "_"}
    assert here <= set(kafka_admin_proto.__all__)
    for name in here:
        assert getattr(kafka_admin_proto, name) is getattr(errors, name)
