"""The seam between the pipeline and what runs its tasks: processes of this machine, or Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Tasks(NamedTuple):
    """How many tasks a runner was given, how many of them are done, and how many run now."""

    total: int
    done: int
    running: int


class Runner(Protocol):
    """Runs tasks side by side in other processes, which see the same files."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""

    def run(self, task: Callable[[T], R], shares: Sequence[T]) -> list[R]:
        """What ``task`` returns for each share, in their order.

        Task, shares and results are pickled. A share may be run more than once, and one result of
        it counts.
        """

    def tasks(self) -> Tasks:
        """The tasks of what is being run."""

    def cancel(self) -> None:
        """Have what is being run fail soon; called by another thread, perhaps more than once."""
