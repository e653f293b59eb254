"""Fixtures for pytest: a reference cluster for a test, and one for the whole run.

    def test_mine(kafka_cluster):
        client = connect(kafka_cluster.bootstrap_servers)

    @pytest.mark.kafka(brokers=3, topics={"orders": 6})
    def test_with_three(kafka_cluster): ...

``kafka_session_cluster`` is kept for the run, or for a worker's part of it with pytest-xdist.
Override the fixture ``kafka_cluster_settings`` to change both: it returns keyword arguments of
``kafka_admin_proto.server.Cluster``. The marker ``kafka`` gives further ones to ``kafka_cluster``,
for a test, class or module. Each cluster runs in a thread of its own, so that the event loops of
tests do not matter to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from kafka_admin_proto.loggers import TESTING
from kafka_admin_proto.testing.markers import (
    MARKER_HELP,
    MarkerError,
    check_markers,
    marked_settings,
    note_unused_markers,
    settings_of,
)

if TYPE_CHECKING:
    from kafka_admin_proto.server import SyncCluster


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER_HELP)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Find markers that no test can use, before tests are left out by ``-k`` and its like."""
    note_unused_markers(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose markers cannot work, or would have no effect, with a sentence."""
    try:
        check_markers(item)
    except MarkerError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture(scope="session")
def kafka_cluster_settings() -> dict[str, Any]:
    """The arguments of each cluster; one broker of the newest release unless overridden."""
    return {}


@pytest.fixture
def kafka_cluster(
    request: pytest.FixtureRequest, kafka_cluster_settings: dict[str, Any]
) -> Iterator[SyncCluster]:
    """An empty cluster for one test, with the settings of its ``kafka`` markers."""
    with _running(kafka_cluster_settings, marked_settings(request.node)) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_session_cluster(kafka_cluster_settings: dict[str, Any]) -> Iterator[SyncCluster]:
    """A cluster that the tests of a run share; markers do not change it."""
    with _running(kafka_cluster_settings, {}) as cluster:
        yield cluster


@contextmanager
def _running(settings: dict[str, Any], marked: dict[str, Any]) -> Iterator[SyncCluster]:
    with _cluster(settings, marked) as cluster:
        TESTING.info("a cluster listens at %s", cluster.bootstrap_servers)
        yield cluster
    TESTING.info("the cluster has ended")


def _cluster(settings: dict[str, Any], marked: dict[str, Any]) -> SyncCluster:
    """The cluster of the settings; an error of theirs has a note that says who gave them."""
    from kafka_admin_proto.server import SyncCluster

    try:
        given = settings_of(settings, marked)
    except MarkerError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    try:
        return SyncCluster(**given)
    except (TypeError, ValueError) as error:
        names = ", ".join(marked)
        more = f"; the marker kafka gave {names}" if marked else ""
        error.add_note(
            f"the arguments are those that the fixture kafka_cluster_settings returned{more}"
        )
        raise
