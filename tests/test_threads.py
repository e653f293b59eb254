"""Threads that use the package at the same moment: one codec and class of each, and right bytes.

``make test-threads`` runs this with a Python that has no global lock.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import kafka_admin_proto
from tests.helpers.processes import python

ROOT = Path(__file__).parents[1]
#: Functions that have msgspec decode a struct.
_DECODING = {"Decoder", "decode", "convert", "read_kept_json", "_parse"}
#: Threads that decode a kind of struct first, one hundred times.
_FIRST_DECODERS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import msgspec

from kafka_admin_proto.structs import decodable

sys.setswitchinterval(1e-6)
fields = [(f"f{number}", int | None, None) for number in range(12)]
barrier = Barrier(6)


def decode(kind):
    barrier.wait(30)
    return msgspec.json.decode(b'{"g5": {"a": {"f3": 1}}}', type=kind)


with ThreadPoolExecutor(6) as pool:
    for _ in range(100):
        inner = msgspec.defstruct("Inner", fields)
        outer = msgspec.defstruct("Outer", [(f"g{n}", dict[str, inner], {}) for n in range(6)])
        found = list(pool.map(decode, [decodable(outer)] * 6))
        assert all(each.g5["a"].f3 == 1 for each in found)
"""
LOADED = ("CreateTopicsRequest", "FetchResponse", "MetadataResponse", "VoteRequest")


def test_eight_threads_share_what_is_made_when_it_is_first_needed(tmp_path: Path) -> None:
    """In a process of its own: in this one other tests have made it all."""
    for name in LOADED:
        shutil.copy(ROOT / f"schemas/kafka/{name}.json", tmp_path)
    done = python("-m", "tests.helpers.eight_threads", tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > len(LOADED) + 30


def test_a_struct_that_several_threads_decode_first() -> None:
    """Without the decorator the process ends with a segmentation fault."""
    done = python("-c", _FIRST_DECODERS, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_all_structs_that_are_decoded_are_made_ready_for_it() -> None:
    """By ``decodable``, where a function names one to have it decoded, or by a module's decoder."""
    ready: dict[str, bool] = {}
    decoded = set[str]()
    for path in Path(kafka_admin_proto.__path__[0]).rglob("*.py"):
        module = ast.parse(path.read_bytes())
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef) and "Struct" in ast.unparse(node):
                ready[_name(path, node.name)] = "decodable" in map(ast.unparse, node.decorator_list)
        for function in (each for each in ast.walk(module) if isinstance(each, ast.FunctionDef)):
            for node in ast.walk(function):
                if (
                    isinstance(node, ast.Call)
                    and ast.unparse(node.func).rpartition(".")[2] in _DECODING
                ):
                    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
                    decoded |= {_name(path, each.id) for each in names}
    found = decoded & ready.keys()
    assert len(found) > 15
    assert [name for name in sorted(found) if not ready[name]] == []


def _name(path: Path, name: str) -> str:
    """A name of the package, or of one module alone."""
    return f"{path}:{name}" if name.startswith("_") else name
