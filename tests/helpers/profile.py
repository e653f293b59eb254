"""How much a test run draws, and which tests it has: ``KAFKA_ADMIN_PROTO_PROFILE``.

- ``quick``, the default: a few values, and no test that is marked ``exhaustive`` or ``explore``.
- ``ci``: a few values, the same each time as in ``quick``, and no test that is marked ``explore``.
- ``exhaustive`` (``make explore``): many values, other ones in each run, and every test.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

PROFILES = ("quick", "ci", "exhaustive")
PROFILE = os.environ.get("KAFKA_ADMIN_PROTO_PROFILE", PROFILES[0])
if PROFILE not in PROFILES:
    raise SystemExit(f"KAFKA_ADMIN_PROTO_PROFILE={PROFILE} is none of {', '.join(PROFILES)}")

#: Draws every message and many examples.
EXHAUSTIVE = PROFILE == "exhaustive"
#: Marks of tests that the profile leaves out.
LEFT_OUT = {"quick": ("exhaustive", "explore"), "ci": ("explore",), "exhaustive": ()}[PROFILE]
#: Values that the exhaustive profile draws for each layout; what ``draws`` gives follows it.
EXAMPLES = int(os.environ.get("KAFKA_ADMIN_PROTO_EXAMPLES", "40"))
#: Decides which messages a sample has, and the values of tests that draw by themselves. The same in
#: all workers of a run.
SEED = int(
    os.environ.setdefault(
        "KAFKA_ADMIN_PROTO_SEED", str(random.randrange(10**6)) if EXHAUSTIVE else "516"
    )
)

T = TypeVar("T")


def sample(items: Sequence[T], count: int) -> list[T]:
    """``count`` of the items; all of them in the exhaustive profile."""
    if EXHAUSTIVE or count >= len(items):
        return list(items)
    return random.Random(SEED).sample(items, count)


def draws(count: int) -> int:
    """Examples of a property that needs many: ``count`` in the exhaustive profile, else an eighth.

    Fewer in the same measure where that profile draws fewer than 40 values for each layout. For
    ``@settings(max_examples=...)`` of properties that are too cheap for the profiles' figures.
    """
    return max(count * EXAMPLES // 40 if EXHAUSTIVE else count // 8, 4)
