"""Fixtures for pytest: a reference cluster for a test, and one for the whole run.

    def test_mine(kafka_cluster):
        client = connect(kafka_cluster.bootstrap_servers)

``kafka_session_cluster`` is kept for the run, or for a worker's part of it with pytest-xdist.
Override the fixture ``kafka_cluster_settings`` to change both: it returns keyword arguments of
``kafka_admin_proto.server.Cluster``. Each cluster runs in a thread of its own, so that the event
loops of tests do not matter to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_admin_proto.server import SyncCluster


@pytest.fixture(scope="session")
def kafka_cluster_settings() -> dict[str, Any]:
    """The arguments of each cluster; one broker of the newest release unless overridden."""
    return {}


@pytest.fixture
def kafka_cluster(kafka_cluster_settings: dict[str, Any]) -> Iterator[SyncCluster]:
    """An empty cluster for one test."""
    from kafka_admin_proto.server import SyncCluster

    with SyncCluster(**kafka_cluster_settings) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_session_cluster(kafka_cluster_settings: dict[str, Any]) -> Iterator[SyncCluster]:
    """A cluster that the tests of a run share."""
    from kafka_admin_proto.server import SyncCluster

    with SyncCluster(**kafka_cluster_settings) as cluster:
        yield cluster
