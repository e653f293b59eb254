"""``docs/real-broker.md``: its file starts a broker, and its commands are run against that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, run_page
from tests.helpers.requirements import require_oracle
from tools.site.pages.code_blocks import code_blocks

PAGE = DOCS / "real-broker.md"
#: What the page writes for the address of its broker.
SHOWN = "127.0.0.1:24225"


@pytest.mark.exhaustive
def test_the_page_runs(tmp_path: Path) -> None:
    require_oracle()
    (start,) = [each for each in code_blocks(PAGE.read_text("utf-8")) if each.title]
    file = tmp_path / start.title
    file.write_text(start.text, "utf-8")
    folder = tmp_path / "page"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, file],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as broker:  # fmt: skip
        try:
            assert broker.stdout is not None
            address = broker.stdout.readline().strip()
            run_page(PAGE, folder, {SHOWN: address})
            broker.communicate("\n", timeout=60)
        finally:
            broker.terminate()
    assert broker.returncode == 0
