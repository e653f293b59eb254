"""How much a page counts in the search: what explains a thing comes before what lists it.

Without these weights a word leads to the shortest heading that has it, which is often the
attribute of a class or a key of a record.
"""

from __future__ import annotations

from functools import cache

from tools.site.pages import messages, proposals, reference

#: Beginning of a path → weight; the first one that fits counts.
_WEIGHTS = {
    f"{reference.FOLDER}/kap.md": 1.2,
    f"{reference.FOLDER}/python/": 0.1,
    f"{reference.FOLDER}/": 1.0,
    f"{proposals.FOLDER}/": 0.3,
    "decisions.md": 0.3,
    "benchmarks": 0.3,
}
#: Apis of Kafka, and all other messages.
_API, _OTHER_MESSAGE, _GUIDE = 1.0, 0.05, 2.0


@cache
def _apis() -> frozenset[str]:
    return frozenset(
        page.path
        for page in messages.pages()
        if page.kind == "request" and page.specs[0].dialect == "kafka"
    )


def weight(path: str) -> float:
    """The weight of the page at a path below ``docs/``."""
    if path.startswith(f"{messages.FOLDER}/"):
        return _API if path in _apis() else _OTHER_MESSAGE
    return next((each for start, each in _WEIGHTS.items() if path.startswith(start)), _GUIDE)
