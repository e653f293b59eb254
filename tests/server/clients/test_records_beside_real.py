"""Python clients' records, groups and transactions on a real cluster and on ours: equal outputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from tests.admin.live.helpers.kafka_python import kafka_python
from tests.server.clients.pair import Side
from tests.server.clients.record_scripts import SCRIPTS
from tests.server.differential.requests.security import ALICE
from tests.server.differential.sides import Sides

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("live secured clients")]

#: Two seconds each, and a fault of most of what the others find.
_IN_CI = {("aiokafka", "reading"), ("aiokafka", "transactions")}


@pytest.fixture
def clusters(secured_sides: Sides) -> Iterator[list[Side]]:
    """A real cluster and ours, without topics and groups."""
    secured_sides.reset()
    found = []
    for number in (0, 1):
        bootstrap = secured_sides.address(number)
        secured = secured_sides.address(number, ALICE)
        found.append(Side(bootstrap, bootstrap, secured=secured))
        with SyncAdminClient(bootstrap) as admin:
            admin.delete_groups([each.group_id for each in admin.list_groups().groups])
    yield found
    secured_sides.reset()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, id=" ".join(each), marks=() if each in _IN_CI else pytest.mark.explore)
        for each in SCRIPTS
    ],
)
def test_python_clients(clusters: list[Side], name: tuple[str, str]) -> None:
    with kafka_python(), warnings.catch_warnings(), ThreadPoolExecutor(2) as both:
        warnings.simplefilter("ignore")
        real, ours = both.map(SCRIPTS[name], clusters)
    assert list(real) == list(ours)
    assert [(step, real[step], ours[step]) for step in real if real[step] != ours[step]] == []
