"""Each recipe of CONTRIBUTING.md with code is followed to the letter in a copy of the tree.

What changes is what the recipe names and what ``make generate`` writes; then a program uses what
was added.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.helpers.processes import python
from tests.helpers.requirements import skip_or_fail
from tools.definitions.generate import COUNTED

ROOT = Path(__file__).parents[2]
ADDED_WIRE_TYPE = ROOT / "tests" / "wire" / "added_wire_type.py"
#: A block of code, and the path of the file that stands before it.
_BLOCK = re.compile(r"`([\w/-]+\.(?:py|json))`[^`]*```\w+\n(.*?)```", re.S)

#: One worker makes the copy for all of them.
pytestmark = pytest.mark.xdist_group("recipes")

#: The type plain, in arrays, tagged, below structs, and beside fields of other kinds.
VARINT_SAMPLE = {
    "type": "data", "name": "VarintSample", "validVersions": "0-1", "flexibleVersions": "1+",
    "fields": [
        {"name": "Before", "type": "int16", "versions": "0+"},
        {"name": "Plain", "type": "varint", "versions": "0+", "default": "-7"},
        {"name": "After", "type": "string", "versions": "0+", "nullableVersions": "0+"},
        {"name": "Many", "type": "[]varint", "versions": "0+", "nullableVersions": "1+"},
        {"name": "Rows", "type": "[]Row", "versions": "0+", "fields": [
            {"name": "First", "type": "varint", "versions": "0+"},
            {"name": "Second", "type": "varint", "versions": "1+"}]},
        {"name": "Flag", "type": "bool", "versions": "0+"},
        {"name": "Tagged", "type": "varint", "versions": "1+", "taggedVersions": "1+", "tag": 0},
        {"name": "TaggedMany", "type": "[]varint", "versions": "1+", "taggedVersions": "1+",
         "tag": 1},
    ],
}  # fmt: skip


class Recipe(NamedTuple):
    """A recipe by its title: how many files it touches, what follows, and what uses it.

    ``program`` runs on the copy, with the samples as its argument, and prints what ``shown`` is.
    ``definition`` is a message that is added as well, ``generated`` what ``make generate`` writes.
    """

    title: str
    places: int
    program: str
    shown: str
    generated: tuple[str, ...] = ()
    definition: dict[str, Any] = {}


MESSAGE = Recipe(
    "A message",
    places=1,
    program="""
from kafka_admin_proto import PingRequest
print(PingRequest.decode(PingRequest("x").encode(1), 1), PingRequest.api_key)
""",
    shown=r"PingRequest\(text='x'\) 900\n",
    generated=(
        "schemas/index.json",
        "kafka_admin_proto/messages/__init__.py",
        "kafka_admin_proto/messages/ping_request.py",
        "kafka_admin_proto/protocol/api_keys.py",
        *COUNTED,
    ),
)
API = Recipe(
    "An api that the cluster serves",
    places=1,
    program="""
from kafka_admin_proto.admin import BrokerError, SyncAdminClient
from kafka_admin_proto.server import SyncCluster
with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as admin:
    try:
        admin.describe_delegation_tokens()
    except BrokerError as error:
        print(error.error)
""",
    shown="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED\n",
)
OPERATION = Recipe(
    "An operation of the admin client, with its command",
    places=2,
    program="""
from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
with SyncCluster() as cluster:
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        print(admin.feature_level("no.such"), admin.feature_level("metadata.version") > 20)
    line = ["cluster", "level", "no.such", "--output", "jsonl"]
    kap([*line, "--bootstrap-server", cluster.bootstrap_servers], standalone_mode=False)
""",
    shown=r'0 True\n{"feature":"no.such","level":0,"errors":\[\]}\n',
    generated=("kafka_admin_proto/admin/sync.py",),
)
DUMP = Recipe(
    "A dump format",
    places=1,
    program="""
import sys
from pathlib import Path
from kafka_admin_proto.capture import read_blocks
from kafka_admin_proto.cli.app import kap
def array(data):
    return str([each - 256 * (each > 127) for each in data])
data = bytes(range(256))
blocks = read_blocks(f"{array(data)}\\n{array(b'ab')}".encode())
print([each.data for each in blocks] == [data, b"ab"])
request = read_blocks(Path(sys.argv[1], "create_topics.hex").read_bytes())[0]
Path("array").write_text(array(request.data))
kap(["decode", "array", "--input-format", "java", "--output", "tsv"], standalone_mode=False)
""",
    shown=r"True\n(.*\n)*.*CreateTopics.*\n",
)
TABLE = Recipe(
    "A table of the pipeline",
    places=1,
    program="""
import sys
import pyarrow.parquet as pq
from kafka_admin_proto.cli.app import kap
if __name__ == "__main__":
    line = ["pipeline", f"{sys.argv[1]}/admin42.pcap.gz", "--out", "out", "--runner", "processes"]
    kap(line, standalone_mode=False)
    rows = pq.read_table("out/listed_offsets").to_pylist()
    print({(row["topic"], row["api"], row["answered"]) for row in rows})
    print(all(row["date"] == row["ts"].date() for row in rows))
""",
    shown=r"(.*\n)*listed_offsets +[1-9]\d*\n(.*\n)*"
    r"{(\('(fruit|veg)', 'ListOffsets', True\)(, )?){2}}\nTrue\n",
)
WIRE_TYPE = Recipe(
    "A wire type",
    places=2,
    program=ADDED_WIRE_TYPE.read_text("utf-8"),
    shown=r"wire json damage\nnotation\n(columns\n)?",
    generated=(
        "schemas/index.json",
        "kafka_admin_proto/messages/__init__.py",
        "kafka_admin_proto/messages/varint_sample.py",
        *COUNTED,
    ),
    definition=VARINT_SAMPLE,
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A copy of the tree, with what Python has compiled, and what its files contain."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("kafka_admin_proto", "schemas", "tools"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("pyproject.toml", *COUNTED):
        shutil.copy(ROOT / name, folder)
    return folder, contents(folder)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(MESSAGE, id="message"),
        pytest.param(API, id="api"),
        pytest.param(OPERATION, id="operation"),
        pytest.param(DUMP, id="dump format"),
        pytest.param(TABLE, id="table", marks=pytest.mark.explore),
        pytest.param(WIRE_TYPE, id="wire type", marks=pytest.mark.explore),
    ],
)
def test_a_recipe(recipe: Recipe, copied: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    tree, before = copied
    try:
        blocks = _blocks(recipe.title)
        for path, block in blocks:
            add(tree / path, block)
        python = [path for path, _ in blocks if path.endswith(".py")]
        if python:
            run_in(tree, "-m", "ruff", "check", *python)
            run_in(tree, "-m", "ruff", "format", "--check", *python)
        named = {path for path, _ in blocks}
        assert len(named) == recipe.places
        if recipe.definition:
            named.add(f"schemas/kafka/{recipe.definition['name']}.json")
            (tree / max(named)).write_text(json.dumps(recipe.definition))
        if recipe.generated:
            run_in(tree, "-m", "tools.definitions.generate")
        assert changed(tree, before) == named | set(recipe.generated)
        program = tmp_path / "program.py"
        program.write_text(recipe.program)
        done = run_in(tmp_path, "-P", program, ROOT / "samples", tree=tree)
        assert re.fullmatch(recipe.shown, done), done
    finally:
        restore(tree, before)
    if recipe is WIRE_TYPE and find_spec("pyarrow") is None:
        skip_or_fail("columns need pyarrow")


def _blocks(title: str) -> list[tuple[str, str]]:
    """(path, code) of each block of the recipe with that title."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n## To add …\n")[1]
    text = page.split(f"\n**{title}.**")[1].split("\n**")[0]
    return _BLOCK.findall(text)


def add(path: Path, block: str) -> None:
    """Follow a block: a new file, a row of ``SCALARS``, or the end of a module."""
    if not path.exists():
        path.write_text(block, "utf-8")
        return
    text = path.read_text("utf-8")
    if block.lstrip().startswith("Scalar("):
        assert text.count("\n    )\n}") == 1
        path.write_text(text.replace("\n    )\n}", f"\n{block}    )\n}}"), "utf-8")
        return
    imports = re.match(r"(from .*\n|\n)*", block)
    assert imports is not None
    for line in filter(None, imports[0].splitlines()):
        module, _, names = line.partition(" import ")
        there = re.search(rf"^{re.escape(module)} import (.*)$", text, re.M)
        if there:
            joined = {*there[1].split(", "), *names.split(", ")}
            text = text.replace(there[0], f"{module} import {', '.join(joined)}")
        else:
            text = text.replace("\nfrom kafka_admin_proto", f"\n{line}\nfrom kafka_admin_proto", 1)
    path.write_text(f"{text}\n{block[imports.end() :]}", "utf-8")
    run_in(path.parent, "-m", "ruff", "check", "--fix", "--select", "I", path)
    run_in(path.parent, "-m", "ruff", "format", path)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".ruff_cache"} & set(path.parts)
    }


def changed(folder: Path, before: dict[str, bytes]) -> set[str]:
    after = contents(folder)
    assert before.keys() <= after.keys()
    return {path for path, data in after.items() if data != before.get(path)}


def restore(folder: Path, before: dict[str, bytes]) -> None:
    for path in changed(folder, before):
        if path in before:
            (folder / path).write_bytes(before[path])
        else:
            (folder / path).unlink()


def run_in(folder: Path, *arguments: object, tree: Path | None = None) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree or folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = python(*arguments, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
