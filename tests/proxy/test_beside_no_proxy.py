"""Clients of a real cluster behind the proxy see what they see without it.

The reference cluster stands for the real one without a proxy, so that a difference is the proxy's
or the reference cluster's: ``tests/server/clients/test_beside_real.py``, without a proxy, tells.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.proxy import SyncProxy
from tests.helpers.requirements import require_oracle
from tests.server.clients import test_beside_real as beside_real
from tests.server.clients.pair import Pair, Side, started_pair
from tools.kafka_releases import NEWEST

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("live clients")]

test_javas_tools = beside_real.test_javas_tools
test_python_clients = beside_real.test_python_clients
test_requests_of_admin_clients = beside_real.test_requests_of_admin_clients


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    require_oracle()
    with (
        started_pair(tmp_path_factory.mktemp("clients"), NEWEST) as found,
        SyncProxy(found.real.bootstrap) as proxy,
    ):
        with SyncAdminClient(proxy.bootstrap_servers) as client:
            nodes = client.describe_cluster().nodes
        addresses = ",".join(f"{each.host}:{each.port}" for each in nodes)
        side = Side(addresses, found.real.controllers, behind=found.real.bootstrap)
        yield msgspec.structs.replace(found, real=side)
