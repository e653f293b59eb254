"""AlterTopic two ways: a draft's handler, and our client's plan of Kafka's requests.

Run as ``python -m tests.server.handlers.drafts.two_ways [--instructions N] [--seed N]``: the plans
run on a real cluster of three nodes. It ends with 1 when the two end otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.alter import AlterPlan, TopicAlteration, TopicPlan
from kafka_admin_proto.admin.drafts.altering import alter_topic_step
from kafka_admin_proto.admin.operations.topics.alteration import AlteredTopic
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.server import SyncCluster
from tests.server.configs.real_configs import configs_of
from tools.clusters import Cluster, kraft

Draft = Literal["kip-4a", "kip-4b"]
DRAFTS: tuple[Draft, ...] = ("kip-4a", "kip-4b")
_READINGS: dict[Draft, Literal["first", "second"]] = {"kip-4a": "first", "kip-4b": "second"}
_BROKERS = (1, 2, 3)
#: Topics that are altered side by side.
_BATCH = 25
#: Seconds for what ends well.
_ENOUGH_S = 60.0
#: Seconds until both have ended alike; only a difference takes that long.
_SETTLE_S, _PAUSE_S = 20.0, 0.05
#: A slow machine is no reason for another leader or for a broker less.
_PATIENT = {"broker.session.timeout.ms": "60000", "controller.quorum.fetch.timeout.ms": "30000"}
#: What the controller and the draft's tables call the same.
_SAME = {"INVALID_CONFIG": "InvalidTopicConfig", "InvalidArgumentTopicConfig": "InvalidTopicConfig"}


class Case(msgspec.Struct, frozen=True):
    """A topic as it is, and what is asked of it."""

    topic: NewTopic
    wanted: TopicAlteration


def drawn(dice: random.Random, draft: Draft, name: str) -> Case:
    """A topic on three brokers, and an instruction that may be impossible."""
    factor = dice.randint(1, 3)
    now = {number: dice.sample(_BROKERS, factor) for number in range(dice.randint(1, 4))}
    configs: dict[str, str | None] = {"retention.ms": "1000"} if dice.random() < 0.5 else {}
    if dice.random() < 0.3:
        configs["segment.ms"] = "60000"
    partitions = replication_factor = assignment = None
    what = dice.random()
    if what < 0.5:
        partitions = dice.choice([-2, 0, *range(len(now) - 1, len(now) + 4)])
    if 0.35 < what < 0.65:
        replication_factor = dice.choice([-2, 0, 1, 2, 3, 3, 4])
    if what < 0.15 or what > 0.6:
        assignment = _assignment(dice, now, partitions, factor)
    added: dict[str, str] = {}
    deleted: list[str] = []
    if draft == "kip-4b" and dice.random() < (0.8 if what > 0.85 else 0.1):
        added = dict(dice.sample(_CONFIGS, dice.randint(0, 2)))
        deleted = dice.sample(["retention.ms", "segment.ms", "flush.ms"], dice.randint(0, 2))
    wanted = TopicAlteration(name, partitions, replication_factor, assignment, added, deleted)
    return Case(NewTopic(name, assignment=now, configs=configs), wanted)


_CONFIGS = [
    ("retention.ms", "2000"),
    ("segment.ms", "60000"),
    ("cleanup.policy", "compact"),
    ("retention.ms", "soon"),
    ("no.such.config", "1"),
]


def _assignment(
    dice: random.Random, now: dict[int, list[int]], partitions: int | None, factor: int
) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    if partitions is None or dice.random() < 0.3:
        for number, replicas in now.items():
            if dice.random() < 0.6:
                same = dice.random() < 0.3
                found[number] = replicas if same else dice.sample(_BROKERS, dice.randint(1, 3))
    last = max(partitions or 0, len(now)) if dice.random() < 0.7 else len(now) + dice.randint(0, 2)
    for number in range(len(now), last):
        found[number] = dice.sample(_BROKERS, factor if dice.random() < 0.8 else 1)
    if dice.random() < 0.15:
        found[dice.choice([0, len(now), last + 1, -1])] = dice.choice([[], [1, 1], [9], [1, 9]])
    return found


def outcome(case: Case, result: AlteredTopic, topic: Any) -> dict[str, Any]:
    """What became of a topic, as far as the instruction decides it.

    Of a generated assignment that is how many replicas there are.
    """
    error = None if result.error is None else _SAME.get(result.error, result.error)
    named = case.wanted.assignment or {}
    kept = case.topic.assignment or {}
    if case.wanted.replication_factor not in (None, -1):
        kept = {}
    return {
        "error": error,
        "partitions": {
            each.partition: each.replicas
            if each.partition in named or each.partition in kept
            else len(each.replicas)
            for each in topic.partitions
        },
        "configs": topic.configs,
    }


async def _created(admin: AdminClient, cases: Sequence[Case]) -> None:
    made = await admin.create_topics([each.topic for each in cases], timeout=_ENOUGH_S)
    assert all(each.complete for each in made), made


async def _served(admin: AdminClient, cases: Sequence[Case], draft: Draft) -> list[AlteredTopic]:
    """Send AlterTopic with all that is asked, also what the client refuses as ignored."""
    topics = [TopicPlan(each.wanted.name, [alter_topic_step(each.wanted)]) for each in cases]
    return await admin.run_alter_plan(AlterPlan(_READINGS[draft], topics), timeout=0)


async def _outcomes(
    admin: AdminClient, cases: Sequence[Case], results: Sequence[AlteredTopic]
) -> list[dict[str, Any]]:
    described = await admin.describe_topics([each.topic.name for each in cases], configs=True)
    return [outcome(*each) for each in zip(cases, results, described, strict=True)]


async def _deleted(admin: AdminClient, cases: Sequence[Case]) -> None:
    gone = await admin.delete_topics([each.topic.name for each in cases], timeout=_ENOUGH_S)
    assert all(each.complete for each in gone), gone


async def differences(
    plans_on: str, served_by: str, draft: Draft, count: int, dice: random.Random
) -> list[str]:
    """Draw so many instructions for two clusters; a line for each that ends otherwise.

    Replicas take their time: both are looked at again while there is a difference.
    """
    found = []
    async with (
        AdminClient(plans_on) as shipped,
        AdminClient(served_by) as beside,
        AdminClient(served_by, dialect=draft) as speaking,
    ):
        for start in range(0, count, _BATCH):
            numbers = range(start, min(start + _BATCH, count))
            cases = [drawn(dice, draft, f"{draft}-{number}") for number in numbers]
            await _created(shipped, cases)
            await _created(beside, cases)
            wanted = [each.wanted for each in cases]
            planned = await shipped.alter_topics(wanted, reading=_READINGS[draft], timeout=0)
            served = await _served(speaking, cases, draft)
            deadline = time.monotonic() + _SETTLE_S
            while True:
                lefts = await _outcomes(shipped, cases, planned)
                rights = await _outcomes(beside, cases, served)
                if lefts == rights or time.monotonic() > deadline:
                    break
                await asyncio.sleep(_PAUSE_S)
            await _deleted(shipped, cases)
            await _deleted(beside, cases)
            for case, left, right in zip(cases, lefts, rights, strict=True):
                if left != right:
                    found.append(f"{draft} {case!r}\n   planned {left}\n   served  {right}")
    return found


@contextlib.contextmanager
def real_cluster(folder: Path) -> Iterator[Cluster]:
    """The cluster that the plans run on."""
    with kraft(folder, nodes=3, properties=_PATIENT) as real:
        yield real


def beside_real(real: Cluster, count: int, seed: int) -> list[str]:
    """Half of the instructions for each draft."""
    found = []
    for index, draft in enumerate(DRAFTS):
        dice = random.Random(2 * seed + index)
        configs = configs_of(real) | _PATIENT
        with SyncCluster(3, rules=draft, configs=configs, sync_delay_s=0.01) as ours:
            servers = ours.bootstrap_servers
            found += asyncio.run(differences(real.bootstrap, servers, draft, count // 2, dice))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instructions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, real_cluster(Path(folder)) as real:
        found = beside_real(real, arguments.instructions, arguments.seed)
    print("\n".join(found))
    print(f"{arguments.instructions} instructions, {len(found)} end otherwise")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
