"""Programs of ``tests/java`` for the classes of one release, which others have elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.java_tool import JavaTool
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import fetch_runtime

RELEASES = {"4.4": NEWEST, "3.9": LAST_WITH_ZOOKEEPER}
_FOLDER = Path(__file__).parents[1] / "java"


class ReleaseTool(JavaTool):
    """A running program, compiled for a release, "4.4" or "3.9".

    Lines that end with a comment of another release are left out.
    """

    def __init__(self, name: str, release: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / name
            source.write_text("".join(_lines(_FOLDER / name, release)))
            super().__init__(source, fetch_runtime(RELEASES[release]))


def _lines(source: Path, release: str) -> Iterator[str]:
    for line in source.read_text().splitlines(keepends=True):
        if line.rstrip().endswith(tuple(f"// {each}" for each in RELEASES if each != release)):
            continue
        yield line if release >= "4" else line.replace("common.record.internal.", "common.record.")
