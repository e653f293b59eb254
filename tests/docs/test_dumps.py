"""The page of dumps has each format that is read; `test_start.py` runs it."""

from __future__ import annotations

import re

from kafka_admin_proto.capture import READERS
from tests.docs.pages import DOCS

PAGE = DOCS / "dumps.md"


def test_it_has_each_format() -> None:
    rows = re.findall(r"^\| [^-].* \| `([\w-]+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [name for name in rows if name != "--input-format"] == list(READERS)
