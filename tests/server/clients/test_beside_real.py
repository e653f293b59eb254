"""Kafka's own tools and admin clients on a real cluster and on ours, with equal outputs.

A release at a time: three nodes, and the tools of the same release. The proxy's
``test_beside_no_proxy.py`` has one in front of the real one, and fails of all that this fails of.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.messages import ApiVersionsRequest
from kafka_admin_proto.values import Message
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.requirements import require_oracle
from tests.server.clients.admin_requests import admin_requests
from tests.server.clients.java_tools import run_script, write_files
from tests.server.clients.normalised import KNOWN, RULES, is_known
from tests.server.clients.pair import Pair, Side, started_pair
from tests.server.clients.python_clients import SCRIPTS
from tests.server.differential.wire import Nodes
from tests.server.releases import RELEASES
from tools.oracles.jars import fetch_runtime

pytestmark = [pytest.mark.explore, pytest.mark.xdist_group("live clients")]


@pytest.fixture(params=RELEASES, scope="module")
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    require_oracle()
    with started_pair(tmp_path_factory.mktemp("clients"), request.param) as found:
        yield found


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("java_commands.txt", 100),
        pytest.param("record_commands.txt", 90, marks=pytest.mark.explore),
    ],
)
def test_javas_tools(pair: Pair, tmp_path: Path, script: str, commands: int) -> None:
    write_files(tmp_path)
    with contextlib.closing(KafkaTools(fetch_runtime(pair.release))) as tools:
        found = list(run_script(tools, pair, tmp_path, script))
    wrong = [each for each in found if each.real != each.ours and not is_known(each.command)]
    assert wrong == []
    assert len(found) > commands
    pair.change(_delete_groups)  # some have a time in their names, and would differ from here on


def _delete_groups(side: Side) -> None:
    with SyncAdminClient(side.bootstrap) as admin:
        admin.delete_groups([each.group_id for each in admin.list_groups().groups])


@pytest.mark.parametrize("name", SCRIPTS)
def test_python_clients(pair: Pair, name: str) -> None:
    script = SCRIPTS[name]
    real, ours = pair.change(script)
    assert list(real) == list(ours)
    assert [(step, real[step], ours[step]) for step in real if real[step] != ours[step]] == []


def test_requests_of_admin_clients(pair: Pair) -> None:
    def versions(side: Side) -> dict[int, tuple[int, int]]:
        with Nodes(side.bootstrap) as nodes:
            rows = nodes.ask(0, ApiVersionsRequest("tests", "1"), 3).api_keys
        return {row.api_key: (row.min_version, row.max_version) for row in rows}

    ranges, theirs = versions(pair.ours), versions(pair.real)
    assert {key: theirs[key] for key in ranges} == ranges
    wrong = []
    for request in admin_requests():
        assert request.api_key is not None
        lowest, highest = ranges[request.api_key]
        for version in range(lowest, highest + 1):
            try:
                request.encode(version)
            except EncodeError:
                continue  # what this version has no field for
            asked = partial(_asked, request, version)
            reads = request.message_name.startswith(("Describe", "List"))
            # Nothing is waited for behind a read: brokers of 3.9 hear of all a moment late.
            real, ours = pair.question(asked) if reads else pair.change(asked)
            wrong += [(request, version, real, ours)] if real != ours else []
    assert wrong == []


def _asked(request: Message, version: int, side: Side) -> object:
    with Nodes(side.bootstrap) as nodes:
        response = nodes.ask(0, request, version)
    return None if response is None else _comparable(msgspec.to_builtins(response))


def _comparable(value: Any) -> Any:
    """Lists of structures sorted, since Kafka keeps most in hash maps; no throttle times."""
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items() if key != "throttle_time_ms"}
    if isinstance(value, list):
        rows = [_comparable(each) for each in value]
        return sorted(rows, key=repr) if rows and isinstance(rows[0], dict) else rows
    return value


def test_the_lists_say_why() -> None:
    assert len(KNOWN) <= 10
    assert all(each.why for each in KNOWN)
    assert all(why for _, _, why in RULES)
