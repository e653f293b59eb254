"""Where each leader epoch of a log begins (``LeaderEpochFileCache``)."""

from __future__ import annotations

from collections.abc import Callable


class LeaderEpochs:
    """The leader epochs of a log and their first offsets, both rising.

    ``write`` is called with all of them after each change.
    """

    def __init__(
        self,
        entries: list[tuple[int, int]],
        write: Callable[[list[tuple[int, int]]], None],
    ) -> None:
        self.entries: list[tuple[int, int]] = entries
        self._write = write

    def assign(self, epoch: int, start_offset: int) -> None:
        """The epoch begins here, unless it is the latest; entries that contradict it go."""
        if self.entries:
            latest, latest_start = self.entries[-1]
            if epoch == latest and start_offset >= latest_start:
                return
        while self.entries and (
            self.entries[-1][0] >= epoch or self.entries[-1][1] >= start_offset
        ):
            self.entries.pop()
        self.entries.append((epoch, start_offset))
        self._write(self.entries)

    @property
    def latest(self) -> int:
        return self.entries[-1][0] if self.entries else -1

    @property
    def start_of_latest(self) -> int:
        """Where the latest epoch begins, -1 if there is none."""
        return self.entries[-1][1] if self.entries else -1

    def at(self, offset: int) -> int:
        """The epoch of the record with this offset, -1 before all epochs."""
        return max((epoch for epoch, start in self.entries if start <= offset), default=-1)

    def end_of(
        self, epoch: int, end_offset: int, *, is_latest_known: bool = True
    ) -> tuple[int, int]:
        """The largest epoch up to this one, and where it ends; (-1, -1) if that is not known.

        An epoch before all others is given back itself, and ends where these begin. Whoever does
        not know the latest one answers without it.
        """
        entries = self.entries if is_latest_known else self.entries[:-1]
        if entries and epoch == entries[-1][0]:
            return epoch, end_offset
        higher = next((start for each, start in entries if each > epoch), None)
        if epoch == -1 or higher is None:
            return -1, -1
        return max((each for each, _ in entries if each <= epoch), default=epoch), higher

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that begin at the offset or behind it."""
        self._replace([each for each in self.entries if each[1] < end_offset])

    def truncate_from_start(self, start_offset: int) -> None:
        """Let the log's first epoch begin at the offset."""
        before = [each for each in self.entries if each[1] <= start_offset]
        if before:
            self._replace([(before[-1][0], start_offset), *self.entries[len(before) :]])

    def clear(self) -> None:
        self._replace([])

    def _replace(self, entries: list[tuple[int, int]]) -> None:
        if entries != self.entries:
            self.entries = entries
            self._write(entries)
