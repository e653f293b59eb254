"""Drawn steps have the answers of real clusters, and leave the same behind; nodes also end.

More steps: ``python -m tests.server.differential.real_cluster --outages``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.server.differential.machine import run_steps
from tests.server.differential.real_cluster import (
    both_secured,
    both_with_outages,
    run_raw,
    run_records,
    run_secured,
    run_with_outages,
)
from tests.server.differential.requests import records
from tests.server.differential.scenarios import Scenario, create, lost_records
from tests.server.releases import real_releases
from tools.kafka_releases import NEWEST

_TIMES = 2 if EXHAUSTIVE else 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("differential"))
def test_drawn_steps(release: str, tmp_path: Path) -> None:
    """One cluster is enough for all kinds: who does not log in may do everything."""
    require_oracle()
    with both_secured(tmp_path, release) as sides:
        run_secured(sides, 40 * _TIMES)
        sides.users = ()
        run_steps(sides, 40 * _TIMES)
        run_raw(sides, 30 * _TIMES)
        sides.questions += records.questions()
        run_records(sides, 40 * _TIMES)


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
