"""A real 3.9.2 broker is the judge of ours under the shipped rules.

Drawn requests go to both. CI takes 150; more by hand:

    KAFKA_ADMIN_PROTO_PROFILE=exhaustive KAFKA_ADMIN_PROTO_JUDGED=1000 .venv/bin/python -m pytest \\
        tests/simulation/broker/test_real_broker.py
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.simulation.rules import SHIPPED, Rules
from tests.helpers.requirements import require_oracle
from tests.simulation.broker.drawn_steps import Drawing
from tests.simulation.broker.judged import Judged, differs
from tests.simulation.broker.real_broker import RealBroker, real_broker

#: Requests of a run, and how many come between two restarts.
REQUESTS = int(os.environ.get("KAFKA_ADMIN_PROTO_JUDGED", "150"))
_BETWEEN_RESTARTS = 50
_SEED = int(os.environ.get("KAFKA_ADMIN_PROTO_JUDGED_SEED", "516"))


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealBroker]:
    require_oracle()
    with real_broker(tmp_path) as found:
        yield found


#: Rule → a value that the real broker contradicts. The dialect is the messages', the time that a
#: deleted folder stays is a config, and deletions are the controller's.
OTHER_VALUES: dict[str, Any] = {
    "unequal_id": "replace",
    "full_reconciles": "never",
    "stray_folder": "delete",
    "stray_without_id": "reconcile",
    "zero_id_in_full": "no id",
    "full_update_forgets": "never",
    "unknown_deletion_keeps_id": False,
    "ids_resolved_by": "replicas",
    "fetch_of_unequal_id": 100,
    "fetch_of_unknown_id": 3,
    "fetch_session_of_other_kind": 71,
    "missing_file_written": False,
    "ids_read_back": False,
    "epochs_compared": False,
    "stale_controller_epoch": 77,
    "stale_broker_epoch": 11,
    "stale_leader_epoch": 74,
    "not_a_replica": 6,
    "stop_fenced": 11,
    "stop_unknown": 3,
}
CONFIGS = Path(__file__).parents[3] / "schemas" / "configs.json"
DELETE_DELAY_MS = SHIPPED.deleting_delay_ms
_OTHERS = {"dialect", "deleting_delay_ms", "deletion_answered", "deletion_gives_up"}


def test_each_rule_of_a_broker_is_judged() -> None:
    assert set(OTHER_VALUES) | _OTHERS == {field.name for field in fields(Rules)}
    default = f'"log.segment.delete.delay.ms", "type": "LONG", "default": "{DELETE_DELAY_MS}"'
    assert default in CONFIGS.read_text()


@pytest.mark.exhaustive
@pytest.mark.xdist_group("live broker")
def test_the_same_answers_and_folders(real: RealBroker) -> None:
    drawing = Drawing(random.Random(_SEED), real.port, int(time.time() * 1000))
    judged = Judged(real, drawing)
    migration = False
    for number in range(1, REQUESTS + 1):
        judged.take(drawing.step())
        judged.look()
        if number % _BETWEEN_RESTARTS == 0 and number < REQUESTS:
            migration = not migration
            judged.take(drawing.restart(migration=migration))
            for step in drawing.of_a_migration() if migration else ():
                judged.take(step)
                judged.look()
    assert not differs(judged.judgements, real.log_dirs, SHIPPED)
    for name, value in OTHER_VALUES.items():
        mutant = replace(SHIPPED, **{name: value})
        assert differs(judged.judgements, real.log_dirs, mutant), f"{name} is not shown"
