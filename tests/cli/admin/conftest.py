"""A cluster of its own for each test, and ``kap`` run against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import Result

from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.filled_cluster import filled_cluster
from tests.helpers.kap import run_kap


class Run(Protocol):
    """Runs a command line against the cluster."""

    def __call__(
        self, arguments: str, data: str | None = None, env: Mapping[str, str] | None = None
    ) -> Result: ...


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with filled_cluster() as cluster:
        yield cluster


@pytest.fixture
def run(cluster: SyncCluster, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(Path(__file__).parents[3])

    def run_on(
        arguments: str, data: str | None = None, env: Mapping[str, str] | None = None
    ) -> Result:
        settings = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "KAP_TIMEOUT": "5"}
        return run_kap(arguments, data=data, env={**settings, **(env or {})})

    return run_on
