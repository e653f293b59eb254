"""Nodes that end and start again leave the same behind on a real cluster and on ours.

More steps: ``python -m tests.server.differential.real_cluster --outages``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.server.differential.real_cluster import both_with_outages, run_with_outages
from tests.server.differential.scenarios import Scenario, create, lost_records
from tests.server.releases import real_releases
from tools.kafka_releases import NEWEST

_STEPS = 12 if EXHAUSTIVE else 6


@pytest.mark.explore
@pytest.mark.parametrize("release", real_releases("loss"))
def test_lost_records(release: str, tmp_path: Path) -> None:
    require_oracle()
    with both_with_outages(tmp_path, release) as sides:
        scenario = Scenario(sides)
        sides.reset()
        create(scenario)
        lost_records(scenario)


@pytest.mark.explore
@pytest.mark.xdist_group("live outages")
def test_drawn_outages(tmp_path: Path) -> None:
    require_oracle()
    with both_with_outages(tmp_path, NEWEST) as sides:
        run_with_outages(sides, _STEPS)
        assert sides.steps >= _STEPS / 2
        assert sum(sides.outages.values()) > 0
