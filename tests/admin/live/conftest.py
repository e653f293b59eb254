"""Clusters of real brokers, each started when the first test asks for it and kept for the run.

Live tests are ``exhaustive``, and those of one cluster are of one xdist group, so that a run starts
each cluster once; a test that ends a node starts it again, and each has topic names of its own (the
fixture ``unique``). Those of the cluster with ZooKeeper are of ``make explore``: it takes long to
start, and nearly all of them have a twin that asks the other cluster.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.secured import Secured, start_secured
from tests.helpers.requirements import require_oracle
from tests.scheduling.group_order import LIVE
from tools.clusters import Cluster, kraft, zookeeper
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_HERE = Path(__file__).parent
#: The fixtures below that start a cluster.
CLUSTERS = ("kraft_cluster", "zookeeper_cluster", "secured")
_RACKS = ("east", "west", "north")
#: An authorizer lets the anonymous users of the plain listener do all. The log cleaner starts anew
#: when its configs change, beside the buffer of the one before: two of Kafka's 128 MB are more than
#: the heap of a broker here, and a broker with ZooKeeper takes up no config any more after that.
_PROPERTIES = {"super.users": "User:ANONYMOUS", "log.cleaner.dedupe.buffer.size": "16777216"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.exhaustive)
            item.add_marker(pytest.mark.xdist_group(LIVE + cluster_of(item)))
            if cluster_of(item) == "zookeeper_cluster":
                item.add_marker(pytest.mark.explore)


def cluster_of(item: pytest.Item) -> str:
    """The fixture of the cluster that a test asks: one of its own, or a fixture's parameter."""
    assert isinstance(item, pytest.Function)
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next(each for each in CLUSTERS if each in parameters or each in item.fixturenames)


@pytest.fixture(params=["kraft_cluster", "zookeeper_cluster"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """The real clusters, one after the other: a test of both takes it."""
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def admin(cluster: Cluster) -> Iterator[SyncAdminClient]:
    """A client of that cluster."""
    with SyncAdminClient(cluster.bootstrap) as client:
        yield client


@pytest.fixture(scope="package")
def kraft_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes of the newest release in three racks, brokers and controllers at once.

    Their authorizer lets the anonymous users of the plain listener do all.
    """
    require_oracle()
    name = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    properties = {"authorizer.class.name": name, **_PROPERTIES}
    folder = tmp_path_factory.mktemp("kraft")
    with kraft(folder, nodes=3, racks=_RACKS, properties=properties) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def zookeeper_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers of 3.9.2 with ZooKeeper, in three racks, with an authorizer as above."""
    require_oracle()
    name = "kafka.security.authorizer.AclAuthorizer"
    properties = {"authorizer.class.name": name, **_PROPERTIES}
    folder = tmp_path_factory.mktemp("zookeeper")
    with zookeeper(folder, brokers=3, ibp="3.9", racks=_RACKS, properties=properties) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """One node of the newest release with a listener for each way of logging in."""
    require_oracle()
    with start_secured(tmp_path_factory.mktemp("secured")) as found:
        yield found


@pytest.fixture(scope="package")
def kafka_tools() -> Iterator[KafkaTools]:
    """Kafka's commands, of the newest release for clusters of 3.9.2 too."""
    require_oracle()
    tools = KafkaTools(fetch_runtime(NEWEST))
    yield tools
    tools.close()


@pytest.fixture(scope="package")
def unique() -> Callable[[str], str]:
    """Names that no other test has: unique("created") is "created-1", then "created-2"."""
    numbers = itertools.count(1)
    return lambda stem: f"{stem}-{next(numbers)}"
