"""Where a browser may begin a new line in a page, where it may not, and what scrolls on a phone.

A name such as ``group.consumer.heartbeat.interval.ms`` has no place to break, so that one column of
a table would be wider than the page and hide the others. ``<wbr>`` changes nothing that is copied.
The dashes in front of an option stay with its first word, which browsers part from them.
"""

from __future__ import annotations

import html
import re

#: Shorter words stay whole.
_LONGEST_WORD = 14
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_TEXT = re.compile(r"(?<=>)[^<>]+(?=<)")
_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
#: Behind a mark inside a name, or in front of a capital of a name such as ``CreatableTopic``.
_BREAK = re.compile(r"(?<=[^\s_./,:=|-][_./,:=|-])(?=[^\s_./,:=|-])|(?<=[a-z0-9])(?=[A-Z])")
#: Code in a sentence; that of a block stands behind ``<pre>``, which wraps nowhere.
_CODE = re.compile(r"(?<!</span>)<code>[^<]*</code>")
_OPTION = re.compile(r"(?<![\w-])--?\w+")
_PICTURE = re.compile(r"<p>(<img [^>]*>)</p>")


def with_breaks(page: str) -> str:
    """The HTML of a page: long words in tables may break, options stay whole, pictures scroll."""
    whole = _CODE.sub(lambda code: _OPTION.sub(r'<span class="whole">\g<0></span>', code[0]), page)
    broken = _CELL.sub(lambda cell: _TEXT.sub(_broken, cell[0]), whole)
    return _PICTURE.sub(r'<div class="drawing">\1</div>', broken)


def _broken(text: re.Match[str]) -> str:
    words = _WORD.sub(lambda word: _BREAK.sub("\0", word[0]), html.unescape(text[0]))
    return html.escape(words, quote=False).replace("\0", "<wbr>")
