"""How much a test run draws: its profile, quick or exhaustive, and the seed of its samples."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

#: Draws every version, every message and every example; CI runs it.
EXHAUSTIVE = os.environ.get("KAFKA_ADMIN_PROTO_PROFILE") == "exhaustive"
#: Values that the exhaustive profile draws for each layout; what ``draws`` gives follows it.
EXAMPLES = int(os.environ.get("KAFKA_ADMIN_PROTO_EXAMPLES", "40"))
#: Decides which messages a sample has. Another one in each run, the same in all its workers.
SEED = int(os.environ.setdefault("KAFKA_ADMIN_PROTO_SEED", str(random.randrange(10**6))))

T = TypeVar("T")


def sample(items: Sequence[T], count: int) -> list[T]:
    """``count`` of the items, others in each run; all of them in the exhaustive profile."""
    if EXHAUSTIVE or count >= len(items):
        return list(items)
    return random.Random(SEED).sample(items, count)


def draws(count: int) -> int:
    """Examples of a property that needs many: ``count`` in the exhaustive profile, else an eighth.

    Fewer in the same measure where that profile draws fewer than 40 values for each layout. For
    ``@settings(max_examples=...)`` of properties that are too cheap for the profiles' figures.
    """
    return max(count * EXAMPLES // 40 if EXHAUSTIVE else count // 8, 4)
