"""One cluster with all listeners for the tests of this room, and its certificates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.helpers.requirements import require_program
from tests.server.security.secured import Certificates, secured_cluster


@pytest.fixture(scope="package")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    require_program("openssl")
    return Certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="package")
def quick(certificates: Certificates) -> Iterator[SyncCluster]:
    """A cluster that refuses at once."""
    configs = {"connection.failed.authentication.delay.ms": "0"}
    with secured_cluster(certificates, configs=configs) as found:
        yield found


@pytest.fixture(scope="package")
def cluster(certificates: Certificates) -> Iterator[SyncCluster]:
    with secured_cluster(certificates, brokers=2) as found:
        yield found
