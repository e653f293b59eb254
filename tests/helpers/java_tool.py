"""The programs in ``tests/java`` that answer line by line, each started once for many tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.helpers.requirements import require_oracle
from tools.oracles.line_program import LineProgram


class JavaTool(LineProgram):
    """A program of the tests; the calling test is skipped where there is no Java."""

    def __init__(self, source: Path, jars: Sequence[Path]) -> None:
        require_oracle()
        super().__init__(source, jars)
