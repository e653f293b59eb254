"""Tables put in place whole, whatever is killed when.

    with Output(Path("tables"), mode="batch", inputs=("captures/",)) as output:
        ...                                     # write below output.staging
        output.publish(moves=[(output.staging / "frames", output.path / "frames")])

Everything is written to a folder ``.staging-…`` beside the tables first. A journal then says what
goes where, and whoever finds it, the one who wrote it or the next, carries it out: each step is a
rename that is done or not, and steps that are done are passed over. What a run leaves that never
came to its journal is removed by the next. A lock keeps two runs from one folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.spark.tables.schemas import JOURNAL, MARKER

Mode = Literal["batch", "streaming"]

_LOCK, _STAGING = ".lock", ".staging-"
#: The mode of folders that are nobody else's.
_PRIVATE = 0o700
#: Where a stream keeps how far it is, and the names of topics that it was told.
CHECKPOINT, TOPICS = ".checkpoint", "_topics.json"
#: The layout of the folder.
_FORMAT = 1


class OutputError(KafkaAdminProtoError):
    """A folder that tables cannot be written to; the message says why and what to do."""


class Output:
    """The folder of the tables, held by one run. Raises OutputError when it is entered.

    ``inputs`` are what the tables are made of: those of other inputs are only replaced with
    ``overwrite``. ``staging`` is this run's, and gone with it.
    """

    def __init__(
        self, path: Path, *, mode: Mode, inputs: Sequence[str], overwrite: bool = False
    ) -> None:
        self.path = self.staging = path.absolute()
        self._wanted = {"format": _FORMAT, "mode": mode, "inputs": list(inputs)}
        self._overwrite = overwrite
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            self._hold()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written to: {error}") from None
        try:
            self._recover()
            self._refuse_others()
            self._stage()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What a journal names is not tidied away: whoever comes next carries it out.
        if self._lock is not None and not (self.path / JOURNAL).exists():
            shutil.rmtree(self.staging, ignore_errors=True)
        self._release()

    @property
    def batch(self) -> int:
        """The last batch of a stream that is in the tables, -1 before the first."""
        found = self._read(MARKER)
        return -1 if found is None else int(found.get("batch", -1))

    def claim(self) -> None:
        """Say whose tables these are going to be: a stream keeps a checkpoint before it has any."""
        if self._read(MARKER) is None:
            self._write(MARKER, self._wanted)

    def publish(
        self,
        moves: Iterable[tuple[Path, Path]],
        removes: Iterable[Path] = (),
        *,
        batch: int | None = None,
    ) -> None:
        """Put what is below ``staging`` in its place, and take what it replaces away.

        A move replaces what is there. ``removes`` goes first, none of it where a move leads.
        ``staging`` is another folder then. ``batch`` is the number of a stream's.
        """
        self._write(
            JOURNAL,
            {
                "staging": self.staging.name,
                "moves": [[self._name(each) for each in move] for move in moves],
                "removes": [self._name(each) for each in removes],
                "marker": self._wanted | ({} if batch is None else {"batch": batch}),
            },
        )
        self._carry_out()
        self._stage()

    def _stage(self) -> None:
        self.staging = self.path / f"{_STAGING}{uuid.uuid4().hex[:12]}"
        self.staging.mkdir(_PRIVATE)

    def checkpoint(self) -> Path:
        """The folder where a stream keeps how far it is.

        It is its owner's alone: of connections that go on it has bytes as they were captured,
        with the credentials in them.
        """
        folder = self.path / CHECKPOINT
        try:
            folder.mkdir(_PRIVATE, exist_ok=True)
            folder.chmod(_PRIVATE)
        except OSError as error:
            raise OutputError(f"{folder} cannot be made private: {error}") from None
        return folder

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.path))

    def _write(self, name: str, value: Any) -> None:
        """A file that is there whole or not at all."""
        new = self.path / f"{_STAGING}{name.strip('.')}"
        with new.open("w") as file:
            json.dump(value, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path / name)

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_text())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise OutputError(f"{self.path / name} is none of the pipeline's: {error}") from None

    def _refuse_foreign(self) -> None:
        found = sorted(each.name for each in self.path.iterdir())
        if MARKER in found or JOURNAL in found:
            # What people put beside their tables, a report for one, no run touches.
            return
        foreign = [n for n in found if n != _LOCK and not n.startswith(_STAGING)]
        if foreign:
            raise OutputError(
                f"{self.path} has something else in it ({', '.join(foreign[:3])}"
                f"{', …' if len(foreign) > 3 else ''}): name a new or empty folder"
            )

    def _hold(self) -> None:
        self._lock = (self.path / _LOCK).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release()
            raise OutputError(
                f"another run writes to {self.path}: wait for it, or name another folder"
            ) from None

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _recover(self) -> None:
        """Finish what a killed run has decided on, and remove what it has not."""
        if (self.path / JOURNAL).exists():
            self._carry_out()
        for each in self.path.glob(f"{_STAGING}*"):
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink()

    def _refuse_others(self) -> None:
        found = self._read(MARKER)
        if found is None or (self._overwrite and found["mode"] == self._wanted["mode"]):
            return
        for name, wanted in self._wanted.items():
            if found[name] != wanted:
                told = ", ".join(found[name]) if name == "inputs" else found[name]
                raise OutputError(
                    f"{self.path} has tables of another {name.removesuffix('s')} ({told}): name "
                    "another folder" + (", or --overwrite them" if name == "inputs" else "")
                )

    def _carry_out(self) -> None:
        journal = self._read(JOURNAL)
        old = self.path / journal["staging"] / "old"
        old.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(journal["removes"]):
            if (self.path / name).exists():
                (self.path / name).rename(old / f"removed-{number}")
        for number, (source, target) in enumerate(journal["moves"]):
            if not (self.path / source).exists():
                continue
            if (self.path / target).exists():
                (self.path / target).rename(old / f"replaced-{number}")
            (self.path / target).parent.mkdir(parents=True, exist_ok=True)
            (self.path / source).rename(self.path / target)
        self._write(MARKER, journal["marker"])
        (self.path / JOURNAL).unlink()
        shutil.rmtree(self.path / journal["staging"], ignore_errors=True)
