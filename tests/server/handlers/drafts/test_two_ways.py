"""A draft's AlterTopic and our client's plan of Kafka's requests end in the same."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tests.server.handlers.drafts.two_ways import (
    DRAFTS,
    Draft,
    beside_real,
    differences,
    real_cluster,
)

#: Instructions beside a real cluster: 300 by hand, docs/drafts.md.
_BESIDE_REAL = 40


@pytest.mark.parametrize("draft", DRAFTS)
def test_on_our_cluster(draft: Draft) -> None:
    """The plans run on our cluster as shipped."""
    with (
        SyncCluster(3, sync_delay_s=0.01) as shipped,
        SyncCluster(3, rules=draft, sync_delay_s=0.01) as ours,
    ):
        servers = shipped.bootstrap_servers, ours.bootstrap_servers
        found = asyncio.run(differences(*servers, draft, draws(240), random.Random(draft)))
    assert not found, "\n".join(found)


@pytest.mark.explore
@pytest.mark.xdist_group("live drafts")
def test_beside_a_real_cluster(tmp_path: Path) -> None:
    require_oracle()
    with real_cluster(tmp_path) as real:
        found = beside_real(real, _BESIDE_REAL, seed=1)
    assert not found, "\n".join(found)
