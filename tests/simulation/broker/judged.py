"""Our broker under the shipped rules, beside a real one: the same steps, the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto import AlterReplicaLogDirsRequest, FetchRequest, FetchResponse
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME
from kafka_admin_proto.simulation.broker import Disk
from kafka_admin_proto.simulation.rules import SHIPPED, Rules
from kafka_admin_proto.values import Message
from tests.simulation.broker.alone import Alone
from tests.simulation.broker.drawn_steps import Ask, Drawing, Move, Restart, Step, fetch_of
from tests.simulation.broker.real_broker import RealBroker


@dataclass(frozen=True, slots=True)
class Judgement:
    """What ours was asked, and what the real broker answered and had on its disk then."""

    #: A request; None where the broker was started, or moved, before the disk was looked at.
    body: Message | None
    version: int
    #: None where it is not compared.
    answer: Sequence[str] | None
    #: Of a start: whether it waits to be migrated, its epoch, and the partitions without a file.
    start: tuple[bool, int, Sequence[tuple[str, int]]] | None = None
    folders: Sequence[tuple[Any, ...]] | None = None


def differs(judgements: Sequence[Judgement], log_dirs: Sequence[str], rules: Rules) -> bool:
    """Whether a broker of ours under other rules contradicts the real broker anywhere."""
    ours = Alone(rules, Disk(log_dirs))
    for each in judgements:
        if each.start is not None:
            ours.migration, epoch, lost = each.start
            _lose(ours.disk, lost)
            ours.restart()
            ours.broker.broker_epoch = epoch
        if each.body is not None:
            answer = _facts(_led(ours, ours.ask(each.body, each.version)))
            if each.answer not in (None, answer):
                return True
        ours.context.advance(0)
        if each.folders is not None and _folders(ours.disk) != each.folders:
            return True
    return False


class Judged:
    """Ours and the real one, kept in step."""

    def __init__(self, real: RealBroker, drawing: Drawing) -> None:
        self._real: RealBroker = real
        self._drawing: Drawing = drawing
        self.ours: Alone = Alone(SHIPPED, Disk(real.log_dirs))
        #: Session id and epoch, of the real broker and of ours.
        self._sessions: list[list[int]] = []
        self.judgements: list[Judgement] = []
        self._greet(())

    def take(self, step: Step) -> None:
        """Take a step on both. AssertionError, with the step, where they differ."""
        match step:
            case Ask():
                self._compare(step)
            case Restart():
                self._restart(step)
            case Move() if not self.ours.follows(step.topic, step.partition):
                # A follower's move ends when its high watermark has come as far as the log, and
                # here nobody leads it who would say how far that is.
                self._move(step)
        self._compare_disks(step)

    def look(self) -> None:
        """Compare what clients and followers are answered."""
        for each in self._drawing.looks():
            self._compare(each)
        self._fetch_in_session()

    def _greet(self, lost: Sequence[tuple[str, int]]) -> None:
        """Give both the controller's epoch and the live brokers, and ours the broker's epoch."""
        first = self._drawing.known()
        self._real.ask(first.body, first.version)
        epoch = self._real.broker_epoch(self._drawing.controller_epoch)
        self._drawing.broker_epoch = self.ours.broker.broker_epoch = epoch
        start = self.ours.migration, epoch, lost
        self.judgements.append(Judgement(None, 0, (), start))
        self._compare(first)

    def _compare(self, step: Ask) -> None:
        real = _facts(_led(self.ours, self._real.ask(step.body, step.version)))
        ours = _facts(_led(self.ours, self.ours.ask(step.body, step.version)))
        _same(ours, real, f"v{step.version} {step.body}")
        self.judgements.append(Judgement(step.body, step.version, real))

    def _compare_disks(self, step: Step) -> None:
        ours = _folders(self.ours.disk)
        real = self._real.until(ours, _folders)
        _same(ours, real, str(step))
        self.judgements.append(Judgement(None, 0, (), folders=ours))

    def _restart(self, step: Restart) -> None:
        self._real.restart(
            migration=step.migration, between=lambda: _lose(self._real.disk, step.lose)
        )
        _lose(self.ours.disk, step.lose)
        self.ours.migration = step.migration
        self.ours.restart()
        self._sessions.clear()
        self._greet(step.lose)

    def _move(self, step: Move) -> None:
        """Each from where it is to its other log directory."""
        answers = []
        for disk, ask in ((self._real.disk, self._real.ask), (self.ours.disk, self.ours.ask)):
            found = [
                each.log_dir
                for each in disk.folders()
                if each.kind == "live" and (each.topic, each.partition) == _key(step)
            ]
            (target,) = {*disk.log_dirs[:2]} - {*(found or disk.log_dirs[:1])}
            made = AlterReplicaLogDirsRequest
            topic = made.AlterReplicaLogDirTopic(step.topic, [step.partition])
            body = made([made.AlterReplicaLogDir(target, [topic])])
            answers.append(_facts(ask(body, 1)))
        self.judgements.append(Judgement(body, 1, answers[0]))
        self.ours.context.advance(0)
        _same(answers[1], answers[0], str(step))

    def _fetch_in_session(self) -> None:
        """Open a session, by name or by id, or go on with one, now and then of the other kind."""
        draw = self._drawing.random
        version = draw.choice((12, 13))
        if len(self._sessions) < 4:
            sessions, body = [0, 0, 0], fetch_of(ids=version == 13)
        else:
            sessions = self._sessions.pop(draw.randrange(len(self._sessions)))
            body = FetchRequest(max_bytes=1 << 20)
        answers: list[Any] = []
        for at, ask in enumerate((self._real.ask, self.ours.ask)):
            body.session_id, body.session_epoch = sessions[at], sessions[2]
            answers.append(ask(body, version))
        ours, real = (_facts(_led(self.ours, each)) for each in reversed(answers))
        known: list[str] | None = real
        if sessions[0] and not answers[0].error_code:
            # Of what goes well, only changes are answered, of followers' high watermarks as well.
            ours, real = ([row for row in rows if "('error_code'" in row] for rows in (ours, real))
            known = None
        self.judgements.append(Judgement(deepcopy(body), version, known))
        _same(ours, real, f"session {sessions}, v{version}")
        ids = [answer.session_id for answer in answers]
        if all(ids):
            self._sessions.append([*ids, sessions[2] + 1])


def _led(ours: Alone, answer: Message) -> Message:
    """Leave out what followers answer a consumer.

    Their high watermarks after a restart depend on when the real broker writes those of the
    replicas that it hosts.
    """
    if isinstance(answer, FetchResponse):
        for topic in answer.responses:
            topic.partitions = [
                row
                for row in topic.partitions
                if row.error_code or ours.leads(topic.topic, topic.topic_id, row.partition_index)
            ]
        answer.responses = [topic for topic in answer.responses if topic.partitions]
    return answer


def _lose(disk: Disk, partitions: Sequence[tuple[str, int]]) -> None:
    """Remove the files of these partitions."""
    for each in disk.folders():
        if each.kind == "live" and (each.topic, each.partition) in partitions:
            disk.unlink(each.log_dir, each.name, FILE_NAME)


def _key(step: Move) -> tuple[str, int]:
    return step.topic, step.partition


def _same(ours: Any, real: Any, what: str) -> None:
    """AssertionError with the rows that one of the two has alone."""
    if ours != real:
        mine = "\n".join(str(row) for row in ours if row not in real)
        theirs = "\n".join(str(row) for row in real if row not in ours)
        raise AssertionError(f"{what}\nours alone:\n{mine}\nthe real broker's alone:\n{theirs}")


def _folders(disk: Disk) -> list[tuple[Any, ...]]:
    """Kind, topic, partition and the file of each folder, whatever its log directory."""
    return sorted(
        (row.kind, row.topic, row.partition, disk.read(row.log_dir, row.name, FILE_NAME) or b"")
        for row in disk.folders()
    )


def _facts(answer: Message) -> list[str]:
    """An answer as rows, one for each innermost item; whose session id it is does not count."""
    found = msgspec.to_builtins(answer, builtin_types=(bytes, UUID))
    if "session_id" in found:
        found["session_id"] = found["session_id"] != 0
    return sorted(repr(sorted(row.items())) for row in _rows(found, {}))


def _rows(item: dict[str, Any], above: dict[str, Any]) -> Iterator[dict[str, Any]]:
    arrays = {name: each for name, each in item.items() if each and isinstance(each, list)}
    plain = {name: each for name, each in item.items() if each not in ([], (), 0, "", None)}
    row = above | {name: each for name, each in plain.items() if name not in arrays}
    if not arrays:
        yield row
    for array in arrays.values():
        for each in array:
            yield from _rows(each, {f"..{key}": value for key, value in row.items()})
