"""The first pages are run as a newcomer reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, run_page


@pytest.mark.parametrize("name", ["index.md", "start.md"])
def test_the_page_runs(name: str, tmp_path: Path) -> None:
    run_page(DOCS / name, tmp_path)
