"""The pipeline's tasks as jobs of Spark's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pyspark import SparkContext

from kafka_admin_proto.spark.cluster import require_version
from kafka_admin_proto.tables.runner import R, T, Tasks
from kafka_admin_proto.version import __version__


class SparkRunner:
    """A `Runner` on this machine's cores or a cluster's, without Spark's SQL.

    Its tasks are those of an RDD. A DataFrame's would load, start and compile all of Spark's SQL
    for a list of numbers, which takes as long as to start Spark.
    """

    def __init__(self, context: SparkContext) -> None:
        self._context = context

    @property
    def cores(self) -> int:
        """The cores of all workers, or what spark.default.parallelism says."""
        return self._context.defaultParallelism

    def run(self, task: Callable[[T], R], shares: Sequence[T]) -> list[R]:
        """See `Runner`. Raises pyspark's error, with that of a task in its text."""
        if not shares:
            return []

        version = __version__

        def run_all(shares: Iterable[T]) -> Iterable[R]:
            require_version(version)
            return map(task, shares)

        tasks = self._context.parallelize(shares, len(shares))
        results: list[R] = tasks.mapPartitions(run_all).collect()
        return results

    def tasks(self) -> Tasks:
        """See `Runner`."""
        tracker = self._context.statusTracker()
        stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
        known = [each for each in stages if each is not None]
        return Tasks(
            sum(each.numTasks for each in known),
            sum(each.numCompletedTasks for each in known),
            sum(each.numActiveTasks for each in known),
        )

    def cancel(self) -> None:
        """Cancel all jobs; tasks that end later would log what they miss of them."""
        self._context.setLogLevel("OFF")
        self._context.cancelAllJobs()
