"""Imports at run time: no circles, and those within functions are few and listed.

An import within a function counts for circles too, as it may hide one. Commands of ``kap`` and the
tables of Spark load what they need when they run, so that their imports are not listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.package.sources import modules, of_all_sources, parsed

pytestmark = of_all_sources

#: The rooms whose imports within functions are not listed.
NOT_LISTED = ("cli/", "spark/")
_DRAFTS_TEXT = "drafts alone are written as grammars"
_MARKED = "tests with the marker alone have a cluster"
_MISTAKEN = "only a name that nothing has needs it"
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
    "lazy_names.py": {"dis": "only a package of whose names one is asked for needs it"},
    "near_names.py": {"difflib": _MISTAKEN},
    "protocol/connection/scram.py": {"scramp": _OPTIONAL},
    "protocol/connection/server.py": {"server_sasl": "listeners with SASL alone have it"},
    "protocol/stores.py": {
        "exceptions": _OPTIONAL,
        "pkcs12": _OPTIONAL,
        "primitives": _OPTIONAL,
        "serialization": _OPTIONAL,
    },
    "protocol/tls.py": {"tempfile": "keys that are given as text alone need files"},
    "proxy/connection/relay.py": {"client_login": "a proxy that logs clients in alone has it"},
    "proxy/proxy.py": {
        "broker_login": "a proxy that logs in to the brokers alone has it",
        "faults": "a proxy with faults alone has them",
        "no_tokens": "a proxy that logs clients in alone has it",
        "read_only": "a proxy that lets nothing be changed alone has it",
    },
    "records/batches/crc32c.py": {"crc32c": _OPTIONAL},
    "schema/catalog.py": {
        "importlib": "a package inside a zip file alone needs it",
        "reader": _DRAFTS_TEXT,
    },
    "schema/message_names.py": {"difflib": _MISTAKEN},
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
        "starting": "controllers of brokers in other processes alone have it",
    },
    "server/quorum/envelopes.py": {
        "access": _AUTHORIZER,
        "ipaddress": "controllers of brokers in other processes alone need it",
        "rules": _AUTHORIZER,
    },
    "server/replication/partitions.py": {"log_dir": "clusters in memory have no folder"},
    "server/arguments/resolved_settings.py": {
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
    "server/respond.py": {"access": _AUTHORIZER, "rules": _AUTHORIZER},
    "server/security/authorizer/host_ranges.py": {"ipaddress": "ranges of IPv6 alone need it"},
    "tables/sinks/snapshots.py": {"delta": "tables of Delta alone have it"},
    "testing/markers.py": {"inspect": _MARKED, "server": _MARKED},
    "testing/pytest_plugin.py": {"server": "tests that use its fixture alone have a cluster"},
    "wire/engine.py": {"kafka_admin_proto_speed": _OPTIONAL},
}


@cache
def imports(source: str) -> list[tuple[str, list[str], bool]]:
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

    return [*visit(parsed(source), False)]


def graph(sources: dict[str, str], *, is_within: bool | None = None) -> dict[str, set[str]]:
    """Module → the modules of the package that it imports at run time.

    Those alone that it imports within functions, or outside of them, if ``is_within`` says so.
    """
    names = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in sources
        if "/messages/" not in path and path.count("/") > 1
    }
    return {
        name: {
            found
            for module, taken, within in imports(sources[path])
            if is_within in (None, within)
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
        if not place.startswith(NOT_LISTED):
            for module, _, within in imports(source):
                if within:
                    found.setdefault(place, set()).add(module.rpartition(".")[2])
    assert found == {path: set(listed) for path, listed in WITHIN_FUNCTIONS.items()}


def pointless(sources: dict[str, str]) -> set[tuple[str, str]]:
    """(module, imported module) where a function imports what is loaded with its own module."""
    at_once = graph(sources, is_within=False)
    found = set()
    for module, later in graph(sources, is_within=True).items():
        loaded, waiting = set[str](), [module]
        while waiting:
            each = waiting.pop()
            loaded.add(each)
            waiting += (at_once[each] | (_packages(each) & at_once.keys())) - loaded
        found |= {(module, each) for each in later & loaded}
    return found


def _packages(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def test_no_function_imports_what_its_own_module_loads() -> None:
    assert pointless(modules()) == set()


def test_an_import_that_saves_nothing_is_noticed() -> None:
    names = [f"kafka_admin_proto/server/{name}.py" for name in ("one", "two", "three")]
    two, three = (f"import kafka_admin_proto.server.{name}" for name in ("two", "three"))
    sources = dict(zip(names, (f"{two}\ndef later():\n    {three}", three, ""), strict=True))
    one, other = (f"kafka_admin_proto.server.{name}" for name in ("one", "three"))
    assert pointless(sources) == {(one, other)}
    assert not pointless(sources | {names[1]: ""})


def test_a_circle_through_a_function_is_noticed() -> None:
    one = "def later():\n    from kafka_admin_proto.server import two"
    two = "from kafka_admin_proto.server.one import a"
    types = "if TYPE_CHECKING:\n    from kafka_admin_proto.server import two"
    names = ("kafka_admin_proto/server/one.py", "kafka_admin_proto/server/two.py")
    TopologicalSorter(graph(dict(zip(names, (types, two), strict=True)))).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter(graph(dict(zip(names, (one, two), strict=True)))).prepare()
