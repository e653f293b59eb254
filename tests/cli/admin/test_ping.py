"""``kap ping`` names every registered broker that is fenced, has ended or never answers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from click.testing import Result

from kafka_admin_proto.server import SyncCluster
from tests.helpers.kap import ended, run_kap

TIMEOUT_S = 1.0
#: Accepts connections and never answers.
FROZEN = "api=ApiVersions drop=request node={}"


def ping(cluster: SyncCluster, *options: str) -> Result:
    env = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "KAP_TIMEOUT": str(TIMEOUT_S)}
    return run_kap("ping", *options, env=env)


def answer(cluster: SyncCluster, code: int = 1) -> Any:
    result = ping(cluster, "--output", "json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_all_is_well() -> None:
    with SyncCluster(3) as cluster:
        found = answer(cluster, 0)
        assert [each["fenced"] for each in found["brokers"]] == [False] * 3
        assert all(each["ms"] > 0 for each in found["brokers"])
        assert ping(cluster).stderr == ""


@pytest.mark.parametrize("how", ["stop_broker", "fence_broker"])
def test_a_broker_that_is_not_live_is_named(how: str) -> None:
    with SyncCluster(3) as cluster:
        getattr(cluster, how)(2)
        found = answer(cluster)
        (error,) = found["errors"]
        assert (error["broker"], error["error"]) == (2, "Fenced")
        assert [each["fenced"] for each in found["brokers"]] == [False, True, False]
        result = ping(cluster)
        assert [line.split()[0] for line in result.stdout.splitlines()] == ["broker", "1", "3"]
        assert result.stderr.startswith("kap: broker 2: Fenced: it is registered and fenced")


def test_a_broker_that_has_just_ended_is_named() -> None:
    """The controller misses its heartbeats later."""
    with SyncCluster(3) as cluster:
        cluster.kill_broker(2)
        found = answer(cluster)
        assert [(each["broker"], each["error"]) for each in found["errors"]] == [
            (2, "ConnectionFailedError")
        ]
        assert found["brokers"][1]["fenced"] is False


@pytest.mark.parametrize("frozen", [(3,), (1, 3)])
def test_frozen_brokers_take_no_longer_than_the_timeout(frozen: tuple[int, ...]) -> None:
    with SyncCluster(3) as cluster:
        for broker in frozen:
            cluster.faults.add_text(FROZEN.format(broker))
        start = time.monotonic()
        found = answer(cluster)
        assert time.monotonic() - start < TIMEOUT_S + 1
        assert [each["broker"] for each in found["errors"]] == list(frozen)
        assert {each["error"] for each in found["errors"]} == {"RequestTimedOutError"}
        assert [each["broker"] for each in found["brokers"] if each["ms"]] == sorted(
            {1, 2, 3} - set(frozen)
        )


@pytest.mark.parametrize("api", ["Metadata", "DescribeCluster"])
def test_a_broker_that_never_says_which_ones_there_are_leaves_it_to_another(api: str) -> None:
    """It is there: it owes that answer on one connection, and answers on another."""
    with SyncCluster(2) as cluster:
        cluster.faults.add_text(f"api={api} drop=request node=1")
        found = answer(cluster, 0)
        assert [each["broker"] for each in found["brokers"] if each["ms"]] == [1, 2]


def test_a_broker_that_ends_each_connection_is_named() -> None:
    with SyncCluster(3) as cluster:
        cluster.faults.add_text("api=ApiVersions cut=before node=2")
        (error,) = answer(cluster)["errors"]
        assert (error["broker"], error["error"]) == (2, "ConnectionFailedError")


def test_no_broker_answers() -> None:
    with SyncCluster(2) as cluster:
        cluster.faults.add_text("api=ApiVersions drop=request")
        found = answer(cluster)
        assert found["brokers"] == []
        assert len(found["errors"]) == 1


def test_an_older_cluster_names_live_brokers_alone_and_kap_says_so() -> None:
    with SyncCluster(3, release="3.9") as cluster:
        cluster.stop_broker(2)
        assert "only live brokers were asked" in ended(ping(cluster)).stderr
        assert [each["broker"] for each in answer(cluster, 0)["brokers"]] == [1, 3]
