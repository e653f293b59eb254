"""The README, the first pages and the first two guides are run as a newcomer reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.schema.catalog import catalog
from tests.docs.pages import DOCS, ROOT, run_page
from tests.docs.test_blocks import RUN_WHOLE
from tests.helpers.every_message import EVERY
from tools.site.pages.code_blocks import code_blocks
from tools.site.pictures import message_bytes

README = ROOT / "README.md"


@pytest.mark.parametrize("name", sorted(RUN_WHOLE))
def test_the_page_runs(name: str, tmp_path: Path) -> None:
    run_page(DOCS / name, tmp_path)


def test_the_readme_runs(tmp_path: Path) -> None:
    run_page(README, tmp_path)
    languages = [each.language for each in code_blocks(README.read_text("utf-8"))]
    assert languages == ["sh", "python", "console"]


def test_the_readmes_numbers() -> None:
    counts = f"{len(catalog().names())} messages, {len(EVERY)} versions"
    assert counts in README.read_text("utf-8")


def test_the_readmes_picture() -> None:
    """``python -m tools.site.pictures.message_bytes`` writes it anew."""
    assert message_bytes.FILE.read_text("utf-8") == message_bytes.create_topics().standalone()
