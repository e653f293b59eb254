"""The example of docs/connection.md that needs no socket of the reader's runs as it stands."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import DOCS, run_page


def test_a_login_through_a_proxy(tmp_path: Path) -> None:
    run_page(DOCS / "connection.md", tmp_path)
