"""What a built site must not have is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site.links import faults
from tools.site.markdown import docstring

GOOD = {
    "index.html": '<a href="a.html#here">a</a><a href="https://kafka.apache.org">Kafka</a>',
    "a.html": '<h2 id="here">here</h2><a href="deep/b.html">b</a><img src="a.png">',
    "deep/b.html": '<a href="../index.html">home</a><a href="#top" id="top">top</a>',
    "a.png": "",
}


@pytest.mark.parametrize(
    ("page", "text", "fault"),
    [
        ("index.html", GOOD["index.html"], ""),
        (
            "a.html",
            GOOD["a.html"] + '<a href="c.html">c</a>',
            "links to c.html, which is not there",
        ),
        ("a.html", GOOD["a.html"].replace("here", "there"), "a.html has no such place"),
        ("c.html", "c", "no page that can be reached from the first links to c.html"),
        ("a.html", GOOD["a.html"] + '<script src="https://cdn.example/x.js">', "from elsewhere"),
        ("a.html", GOOD["a.html"] + '<link rel="stylesheet" href="//f.example/">', "elsewhere"),
    ],
)
def test_faults(page: str, text: str, fault: str, tmp_path: Path) -> None:
    for name, content in (GOOD | {page: text}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    found = faults(tmp_path)
    assert len(found) == bool(fault)
    assert all(each.endswith(fault) for each in found)


def test_docstrings_are_markdown() -> None:
    assert docstring("A :class:`~a.Block` of::\n\n    code") == "A ``a.Block`` of:\n\n    code"
