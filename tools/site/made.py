"""What pages take from the code, by the name that they give to its place."""

from __future__ import annotations

import re
from collections.abc import Callable

from kafka_admin_proto.capture.record import RECORD_KEYS
from tools.site import field, house, pipeline_tables
from tools.site.markdown import code

#: The columns of ``kap decode --output tsv``, in their order.
DECODE_COLUMNS = (*RECORD_KEYS, "number", "time")
#: Name in ``<!-- made: NAME -->`` on a page → what makes the text in its place.
MADE: dict[str, Callable[[], str]] = {
    **house.MADE,
    **field.MADE,
    **pipeline_tables.MADE,
    "decode-columns": lambda: ", ".join(map(code, DECODE_COLUMNS)) + ".",
}
_MARK = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)


def with_made(markdown: str) -> str:
    """The page with all its places filled."""
    return _MARK.sub(lambda mark: MADE[mark[1]](), markdown)
