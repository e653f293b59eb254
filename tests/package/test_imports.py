"""Imports at run time: no circles, and those within functions are few and listed.

An import within a function counts for circles too, as it may hide one. Commands of ``kap`` and the
tables of Spark load what they need when they run, so that their imports are not listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.package.sources import modules, of_all_sources, parsed

pytestmark = of_all_sources

#: The rooms whose imports within functions are listed.
ROOMS = ("admin", "capture", "protocol", "records", "server", "simulation")
_DRAFT = "clients of drafts alone have it"
_OPTIONAL = "an optional package"
_CHECKED = "configs are checked where some are given"
_START = "its messages and configs are loaded by the first request that wants them"
_AUTHORIZER = "clusters with an authorizer alone have it"
#: Module → what it imports within functions, and why the start is faster for it.
WITHIN_FUNCTIONS = {
    "admin/drafts/__init__.py": {"altering": _DRAFT, "elections": _DRAFT, "topics": _DRAFT},
    "admin/network/tracing.py": {"field_scan": "only a client whose requests are logged has it"},
    "admin/session/base_client.py": {"drafts": _DRAFT},
    "admin/settings/config.py": {
        "jaas": "few files of properties have it",
        "msk": "clients of Amazon MSK alone have it",
        "releases": "clients with a cap alone have it",
        "tokens": "few files of properties have it",
    },
    "admin/settings/msk.py": {"aws_msk_iam_sasl_signer": _OPTIONAL},
    "admin/settings/security.py": {"tls": "clients with TLS alone load ssl"},
    "capture/files/opening.py": {
        "lzma": "few files are packed so",
        "gzip": "few files are packed so",
        "zstandard": _OPTIONAL,
    },
    "capture/tcp/segments.py": {"dpkt": _OPTIONAL},
    "protocol/connection/scram.py": {"scramp": _OPTIONAL},
    "protocol/connection/server.py": {"server_sasl": "listeners with SASL alone have it"},
    "protocol/stores.py": {
        "exceptions": _OPTIONAL,
        "pkcs12": _OPTIONAL,
        "primitives": _OPTIONAL,
        "serialization": _OPTIONAL,
    },
    "protocol/tls.py": {"tempfile": "keys that are given as text alone need files"},
    "records/batches/crc32c.py": {"crc32c": _OPTIONAL},
    "server/brokers/view.py": {"topics": _START, "rules": _AUTHORIZER},
    "server/cluster.py": {
        "faults": "clusters with faults alone have them",
        "stored_groups": "tests that look at groups alone have it",
        "stored_records": "tests that look at records alone have it",
    },
    "server/java.py": {"ipaddress": "clients of IPv6 alone need it"},
    "server/parts.py": {
        "files": "clusters with ACLs alone have them",
        "initial_topics": "clusters that start with topics alone have it",
        "opening": "clusters in memory have no folder",
        "settings": "clusters in memory have no folder",
    },
    "server/replication/partitions.py": {"log_dir": "clusters in memory have no folder"},
    "server/resolved_settings.py": {
        "access": "listeners with TLS or SASL alone have it",
        "files": "clusters with ACLs alone have them",
        "given": _CHECKED,
        "initial_topics": "clusters that start with topics alone have it",
        "listeners": "clusters with configs of listeners alone have it",
        "older": "clusters that play older ones alone have it",
    },
    "server/security/access.py": {
        "jwks": "listeners of signed tokens alone have it",
        "signed_tokens": _OPTIONAL,
    },
    "server/share/brokers.py": {"values": "groups that begin at a time alone need it"},
    "server/topics/auto_creation.py": {"topics": _START},
    "server/respond.py": {"gates": _AUTHORIZER},
    "server/security/authorizer/host_ranges.py": {"ipaddress": "ranges of IPv6 alone need it"},
}


def imports(source: str) -> Iterator[tuple[str, list[str], bool]]:
    """(module, names taken of it, whether within a function) of each import at run time."""

    def visit(node: ast.AST, within: bool) -> Iterator[tuple[str, list[str], bool]]:
        if isinstance(node, ast.ImportFrom):
            yield node.module or "", [each.name for each in node.names], within
        elif isinstance(node, ast.Import):
            yield from ((each.name, [], within) for each in node.names)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            inside = iter(node.orelse)
        for each in inside:
            yield from visit(each, within or is_function)

    return visit(parsed(source), False)


def graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Module → the modules of the package that it imports at run time."""
    names = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in sources
        if "/messages/" not in path and path.count("/") > 1
    }
    return {
        name: {
            found
            for module, taken, _ in imports(sources[path])
            for each in (taken or [""])
            if (found := f"{module}.{each}") in names or (found := module) in names
        }
        for name, path in names.items()
    }


def test_no_circle_at_run_time() -> None:
    TopologicalSorter(graph(modules())).prepare()


def test_imports_within_functions_make_the_start_faster() -> None:
    found: dict[str, set[str]] = {}
    for path, source in modules().items():
        place = path.removeprefix("kafka_admin_proto/")
        if place.startswith(ROOMS):
            for module, _, within in imports(source):
                if within:
                    found.setdefault(place, set()).add(module.rpartition(".")[2])
    assert found == {path: set(listed) for path, listed in WITHIN_FUNCTIONS.items()}


def test_a_circle_through_a_function_is_noticed() -> None:
    one = "def later():\n    from kafka_admin_proto.server import two"
    two = "from kafka_admin_proto.server.one import a"
    types = "if TYPE_CHECKING:\n    from kafka_admin_proto.server import two"
    names = ("kafka_admin_proto/server/one.py", "kafka_admin_proto/server/two.py")
    TopologicalSorter(graph(dict(zip(names, (types, two), strict=True)))).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter(graph(dict(zip(names, (one, two), strict=True)))).prepare()
