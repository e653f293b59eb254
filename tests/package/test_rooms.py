"""The contract of rooms sees every import: those by a name made at run time are few and listed."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache

from tests.package.sources import ROOT, modules, of_all_sources, parsed

pytestmark = of_all_sources

#: Module → why it imports by name, where import-linter does not see it.
BY_NAME = {
    "kafka_admin_proto/__init__.py": "public names are loaded when they are first asked for",
    "kafka_admin_proto/lazy_names.py": "the same for public names of packages",
    "kafka_admin_proto/messages/__init__.py": "a message's module is loaded when it is first named",
    "kafka_admin_proto/messages/kip_4/__init__.py": "the same for a draft",
    "kafka_admin_proto/messages/kip_4a/__init__.py": "the same for a draft",
    "kafka_admin_proto/messages/kip_4b/__init__.py": "the same for a draft",
    "kafka_admin_proto/messages/kip_516/__init__.py": "the same for a draft",
    "kafka_admin_proto/codec/value_classes.py": "value classes are found by their message's name",
    "kafka_admin_proto/capture/dumps/readers.py": "each module of formats/ is a format",
    "kafka_admin_proto/tables/rows/registry.py": "each module of derived/ is a table",
    "kafka_admin_proto/cli/lazy_group.py": "a command's module is loaded when the command is used",
    "kafka_admin_proto/cli/admin/common/client.py": "a command loads the operations that it uses",
    "kafka_admin_proto/server/apis.py": "a handler is loaded when its api is first asked for",
    "kafka_admin_proto/policies/loading.py": "a policy is a class that the user names",
    "kafka_admin_proto/records/compression/codecs.py": "cramjam is optional and has no types",
}
#: Names that load a module whose name is a value.
LOADERS = {"import_module", "__import__", "exec_module", "load_module", "run_module", "run_path"}


#: Function → the one module that calls it.
HOMES = {
    "exec": "kafka_admin_proto/wire/emit/compiled.py",
    "set_threshold": "kafka_admin_proto/gc_tuning.py",
    "freeze": "kafka_admin_proto/gc_tuning.py",
    "disable": "kafka_admin_proto/gc_tuning.py",
}
#: The module that reads and writes varints.
VARINTS = "kafka_admin_proto/wire/varint.py"
#: Function about varints in another module → why it is there.
OTHER_VARINTS = {
    "kafka_admin_proto/wire/emit/emitters.py:rest_of_uvarint": "it emits the call of uvarint_at",
    "kafka_admin_proto/records/batches/record_format.py:read_records_v2": "calls are slow",
    "kafka_admin_proto/server/security/subjects.py:_identifier": "ASN.1's, highest digits first",
}


#: Module of commands for a cluster → why it has a coroutine: the others call the client.
COROUTINES = {
    "kafka_admin_proto/cli/admin/common/completion.py": "names are asked for in the shell, too",
    "kafka_admin_proto/cli/admin/common/live.py": "it runs what commands ask of the client",
    "kafka_admin_proto/cli/admin/request/command.py": "it sends what the user has written",
}


def loaders(source: str) -> set[str]:
    """Names in a module that stand for loading another by its name."""
    return names(source) & LOADERS


@cache
def names(source: str) -> set[str]:
    """All names, attributes and texts in a module."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # getattr(importlib, "import_module")
    return found


def varint_functions(source: str) -> set[str]:
    """Functions about varints in a module: by their name, or by a shift of seven bits."""
    functions = (
        node
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        node.name
        for node in functions
        if re.search("varint|zigzag", node.name) or any(map(_shifts_by_seven, ast.walk(node)))
    }


def _shifts_by_seven(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        amount = node.right
    elif isinstance(node, ast.AugAssign):
        amount = node.value
    else:
        return False
    shift = isinstance(node.op, ast.LShift | ast.RShift)
    step = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
    return (shift or step) and isinstance(amount, ast.Constant) and amount.value == 7


def test_modules_are_imported_by_name_only_where_it_is_listed() -> None:
    found = {path for path, source in modules().items() if loaders(source)}
    assert found == set(BY_NAME)


def test_some_things_are_done_in_one_place() -> None:
    found: dict[str, list[str]] = {name: [] for name in HOMES}
    for path, source in modules().items():
        for name in names(source) & HOMES.keys():
            found[name].append(path)
    assert found == {name: [home] for name, home in HOMES.items()}


def test_varints_are_read_and_written_in_one_place() -> None:
    found = {
        f"{path}:{name}"
        for path, source in modules().items()
        if path != VARINTS
        for name in varint_functions(source)
    }
    assert found == set(OTHER_VARINTS)


def test_each_form_of_a_varint_decoder_is_noticed() -> None:
    for source in [
        "def read_varint(data): ...",
        "def from_zigzag(n): ...",
        "def read(data, p):\n    size |= (data[p] & 127) << shift\n    shift += 7",
        "def write(n):\n    while n:\n        n >>= 7",
        "def read(data, p):\n    return data[p] & 127 | data[p + 1] << 7",
    ]:
        assert varint_functions(source)
    assert not varint_functions("def week(day): return day + 7")


def test_the_table_of_rooms_is_the_contract_from_below() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    contract = [sorted(re.findall(r"kafka_admin_proto\.(\w+)", layer)) for layer in layers]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text.split("## The rooms")[1].split("\n## ")[0], re.M)
    table = [sorted(re.findall(r"`(\w+)(?:\.py|/)`", row)) for row in rows]
    not_in_package = [["schemas"], ["tools"]]
    assert table == [*reversed(contract), *not_in_package]


def test_each_way_to_import_by_name_is_noticed() -> None:
    for source in [
        "import importlib\nimportlib.import_module('a')",
        "from importlib import import_module as load\nload('a')",
        "__import__('a')",
        "import importlib\ngetattr(importlib, 'import_module')('a')",
        "spec.loader.exec_module(module)",
    ]:
        assert loaders(source)
    assert not loaders("from importlib import resources\nimport json")


def test_commands_leave_what_they_ask_to_the_client() -> None:
    """A command reads: arguments, a call of the client, an answer. All else is admin's."""
    own = {
        path
        for path, source in modules().items()
        if path.startswith("kafka_admin_proto/cli/admin/")
        and any(
            isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in ast.walk(parsed(source))
        )
    }
    assert own == COROUTINES.keys()
