"""The fenced blocks of pages, and the page that lists those that no test runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tools.site.markdown import cell, code, table

DOCS = Path(__file__).parents[3] / "docs"
PATH = "reference/blocks-not-run.md"
#: Languages of blocks that a reader would run.
RUN = {"python", "sh", "console"}
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?^(?P<indent> *)```(?P<language>\w*)"
    r"(?P<options>[^\n]*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


class CodeBlock(msgspec.Struct, frozen=True):
    """A fenced block: ``reason`` says why it is not run, ``line`` is where it begins."""

    language: str
    title: str
    text: str
    line: int
    reason: str


def code_blocks(text: str) -> list[CodeBlock]:
    """The fenced blocks of a page."""
    found = []
    for match in _BLOCK.finditer(text):
        title = re.search(r'title="([^"]*)"', match["options"])
        found.append(
            CodeBlock(
                match["language"],
                title[1] if title else "",
                match["text"],
                text.count("\n", 0, match.end("options")) + 1,
                match["reason"] or "",
            )
        )
    return found


def not_run() -> Iterator[tuple[str, CodeBlock]]:
    """The page of each block that no test runs, and the block."""
    for file in sorted(DOCS.rglob("*.md")):
        for block in code_blocks(file.read_text("utf-8")):
            if block.reason:
                yield file.relative_to(DOCS).as_posix(), block


def text() -> str:
    """The page of the blocks that are not run."""
    rows = []
    for page, block in not_run():
        first = block.text.strip().splitlines()[0]
        rows.append([f"[{page}](../{page})", str(block.line), code(first), cell(block.reason)])
    lines = [
        "# Blocks that are not run", "",
        "The tests run every code block of these pages but for these, each with its reason.", "",
        *table(["Page", "Line", "First line of the block", "Why no test runs it"], rows), "",
    ]  # fmt: skip
    return "\n".join(lines)
