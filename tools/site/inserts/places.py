"""The places in pages for what is made of the code: each name, and what makes its text."""

from __future__ import annotations

import re
from collections.abc import Callable

from tools.site.inserts import field_to_bytes, new_release, pipeline_tables, rooms, spark_sizing

#: Name in ``<!-- insert: NAME -->`` on a page → what makes the text in its place.
INSERTS: dict[str, Callable[[], str]] = {
    **rooms.INSERTS,
    **field_to_bytes.INSERTS,
    **pipeline_tables.INSERTS,
    **spark_sizing.INSERTS,
    **new_release.INSERTS,
}
_MARK = re.compile(r"^<!-- insert: ([\w-]+) -->$", re.MULTILINE)


def with_inserts(markdown: str) -> str:
    """The page with all its places filled."""
    return _MARK.sub(lambda mark: INSERTS[mark[1]](), markdown)
