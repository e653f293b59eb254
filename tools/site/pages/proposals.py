"""The proposals' texts as pages whose lines can be linked to, and the links to them from tables.

A line is named by a letter for its text and its number: ``a40`` is line 40 of the topic commands.
"""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

FOLDER = "proposals"
#: The excerpts, which the tests of the grammars and the linter read too.
TEXTS = Path(__file__).parents[3] / "tests" / "schema" / "kip" / "proposals"
#: Letter of a text's lines → the name of its file, and its title.
PROPOSALS = {
    "a": ("kip-4-draft-topic-commands", "KIP-4, draft: topic commands"),
    "b": ("kip-4-draft-errors-and-admin-schema", "KIP-4, draft: errors and admin schema"),
    "c": ("kip-4-create-topics-v0", "KIP-4: CreateTopics v0"),
    "p": ("kip-108-create-topic-policy", "KIP-108: create topic policy"),
    "t": ("kip-516-topic-ids", "KIP-516: topic ids"),
}
#: One line, or the first and the last of several.
LINES = re.compile(r"\b(?P<letter>[abcpt])(?P<first>\d+)(?:–(?P=letter)(?P<last>\d+))?\b")
#: Pages whose tables name lines.
_PAGES = {"proposals.md", "decisions.md", "simulation.md"}


@cache
def lines_of(letter: str) -> tuple[str, ...]:
    """The lines of a text; line 1 is the first."""
    return tuple((TEXTS / f"{PROPOSALS[letter][0]}.txt").read_text("utf-8").split("\n"))


def pages() -> dict[str, str]:
    """Path below ``docs/`` → text of the page of each proposal."""
    return {f"{FOLDER}/{name}.md": _text(letter) for letter, (name, _) in PROPOSALS.items()}


def _text(letter: str) -> str:
    items = [
        f'<li id="l{number}">{html.escape(line, quote=False) or "&nbsp;"}</li>'
        for number, line in enumerate(lines_of(letter), 1)
    ]
    return "\n".join([
        f"# {PROPOSALS[letter][1]}", "",
        "An excerpt of the proposal as it stood in the wiki of Apache Kafka (Apache License 2.0),",
        "with its marks and its slips. [The proposals](../proposals.md) says where each",
        f"rule is served, and which test holds it: line 2 is `{letter}2` there.", "",
        '<ol class="proposal">', *items, "</ol>", "",
    ])  # fmt: skip


def with_links(path: str, markdown: str) -> str:
    """The page with each line of a text that its tables name linked to that line."""
    if path not in _PAGES:
        return markdown
    rows = (LINES.sub(_link, row) if row.startswith("| ") else row for row in markdown.split("\n"))
    return "\n".join(rows)


def _link(match: re.Match[str]) -> str:
    letter, first = match["letter"], int(match["first"])
    if not 0 < first <= len(lines_of(letter)) or not lines_of(letter)[first - 1].strip():
        return match[0]
    return f"[{match[0]}]({FOLDER}/{PROPOSALS[letter][0]}.md#l{first})"
