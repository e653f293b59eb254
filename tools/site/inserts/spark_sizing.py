"""What to give a Spark cluster, computed of the page that `tools.benchmarks.spark` writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tools.site.markdown import code, table

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks-spark.md"
_ROW = r"\| `kap pipeline` \| {cores} \| ([\d.]+) GB \| ([\d.]+) \|[^|]*\|[^|]*\| (\d+) \| (\d+) \|"
_ONE_CONNECTION = re.compile(r"\n\(([\d.]+) ×\) and")
#: The cluster of the example, and what it reads in a day.
_CORES, _GB = 32, 500


def sizing(page: str) -> str:
    """The sizes for a cluster, from the text of the page."""
    gigabytes, seconds, java, python = _figures(page, cores=2)
    _, alone, _, _ = _figures(page, cores=1)
    skew = _ONE_CONNECTION.search(page)
    assert skew is not None, "the page has no ratio for one large connection"
    of_a_core = gigabytes * 1000 / seconds / 2
    minutes = _GB * 1000 / (of_a_core * _CORES) / 60
    rows = [
        [
            "time",
            f"{gigabytes:.2f} GB in {seconds:.0f} s on two cores, in {alone:.0f} s on one",
            f"a core decodes about {of_a_core:.0f} MB of captures in a second",
        ],
        [
            "memory of Java",
            f"{java / 1000:.1f} GB for two cores",
            f"{code('spark.executor.memory')}: 2 GB for an executor of a few cores",
        ],
        [
            "memory of Python",
            f"{python / 2000:.1f} GB for each core",
            f"{code('spark.executor.memoryOverhead')}: 0.5 GB for each core",
        ],
        [
            "one large connection",
            f"{skew[1]} times the time when it has a quarter of the bytes",
            "one task follows a connection, so more cores do not help it",
        ],
    ]
    head = ["what", "figure there", "for a cluster"]
    day = (
        f"At that rate a day with {_GB} GB of captures takes {_CORES} cores {minutes:.0f} minutes."
    )
    return "\n".join([*table(head, rows), "", day])


def _figures(page: str, cores: int) -> tuple[float, float, int, int]:
    """GB, seconds, and MB of Java and of Python: of the first run with so many cores."""
    found = re.search(_ROW.format(cores=cores), page)
    assert found is not None, f"the page has no run of kap pipeline on {cores} cores"
    return float(found[1]), float(found[2]), int(found[3]), int(found[4])


INSERTS: dict[str, Callable[[], str]] = {"spark-sizing": lambda: sizing(PAGE.read_text("utf-8"))}
