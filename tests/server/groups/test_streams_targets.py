"""What members of drawn streams groups shall have is what Kafka's own assignor gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from kafka_admin_proto.server.groups.streams.assignor import assign_tasks
from kafka_admin_proto.server.groups.streams.members import StreamsMember, Task, Tasks
from kafka_admin_proto.server.java import hash_order
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_TOOL = Path(__file__).parents[2] / "java" / "StreamsTargets.java"
_SEED = 5
#: One in which a second thread of a process lets the table of processes grow.
_GROWING_SEED = 1008
_ROUNDS = 6


def _rounds(seed: int) -> Iterator[tuple[str, str]]:
    """(line for Kafka's assignor, what ours gives) of a group whose members come and go."""
    random = Random(seed)
    subtopologies = {
        str(number): (random.choice((1, 2, 3, 5, 12)), random.random() < 0.6)
        for number in range(random.randint(1, 4))
    }
    ids = [f"{random.getrandbits(60):x}" for _ in range(random.choice((2, 4, 9, 20)))]
    processes = [f"p{random.getrandbits(20)}" for _ in range(random.choice((1, 2, 5, 20)))]
    replicas = random.choice((0, 1, 1, 2))
    members: dict[str, StreamsMember] = {}
    for _ in range(_ROUNDS):
        for each in random.sample(ids, random.randint(1, len(ids))):
            if each not in members:
                members[each] = StreamsMember(each, process_id=random.choice(processes))
            elif random.random() < 0.4 and len(members) > 1:
                del members[each]
        offsets = {
            name: {
                (task, random.randrange(count)): random.randrange(5)
                for task, (count, _) in subtopologies.items()
                if random.random() < 0.5
            }
            for name in random.sample(list(members), random.randrange(len(members) + 1))
        }
        names = hash_order(members)
        targets = assign_tasks(
            subtopologies, {name: members[name] for name in names}, offsets, replicas
        )
        told = " ".join(
            f"{name}:{members[name].process_id}:{_tasks(members[name].assigned)}:"
            + (",".join(f"{_task(each)}={count}" for each, count in known.items()) or "-")
            for name in members
            for known in (offsets.get(name, {}),)
        )
        parts = ",".join(f"{key}={n}{'s' * has}" for key, (n, has) in subtopologies.items())
        ours = " ".join(f"{name}:{_tasks(targets[name])}" for name in sorted(targets))
        yield f"{replicas} {parts} {told}", ours
        for name in random.sample(names, random.randint(1, len(names))):
            members[name] = msgspec.structs.replace(members[name], assigned=targets[name])


def _task(task: Task) -> str:
    return f"{task[0]}_{task[1]}"


def _tasks(tasks: Tasks) -> str:
    def text(role: Iterable[Task]) -> str:
        return ",".join(map(_task, sorted(role))) or "-"

    return f"{text(tasks.active)}:{text(tasks.standby)}"


def test_targets_are_those_of_kafkas_assignor() -> None:
    seeds = (_GROWING_SEED, *range(_SEED, _SEED + draws(240)))
    drawn = [each for seed in seeds for each in _rounds(seed)]
    java = JavaTool(_TOOL, fetch_runtime(NEWEST))
    answers = java.ask([line for line, _ in drawn])
    java.close()
    different = [
        f"{line}\n  {ours}\n  {theirs}"
        for (line, ours), theirs in zip(drawn, answers, strict=True)
        if ours != theirs
    ]
    assert not different, "\n".join(different)
