"""What pages take from the code, by the name that they give to its place."""

from __future__ import annotations

import re

from tools.site import field, house, pipeline_tables

#: Name in ``<!-- made: NAME -->`` on a page → what makes the text in its place.
MADE = {**house.MADE, **field.MADE, **pipeline_tables.MADE}
_MARK = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)


def with_made(markdown: str) -> str:
    """The page with all its places filled."""
    return _MARK.sub(lambda mark: MADE[mark[1]](), markdown)
