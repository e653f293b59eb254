"""What the scripts begin with: topics that take records in different ways, and times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from tests.server.clients.pair import Side
from tests.server.clients.record_clients import WHEN_MS

#: Seconds after which a step has failed that a broker refuses again and again.
REFUSED_S = 3.0
#: Times that ``ROWS`` are looked for with.
TIMES_MS = {
    "before": WHEN_MS - 60_001,
    "first": WHEN_MS - 60_000,
    "between": WHEN_MS - 30_000,
    "last": WHEN_MS + 60_000,
    "behind": WHEN_MS + 60_001,
}
#: A clock's time within this of now is of this run.
_RUN_MS = 600_000
#: Three replicas, and one in each of three partitions.
_FULL, _WIDE = {0: [1, 2, 3]}, {0: [1], 1: [2], 2: [3]}
_TOPICS: dict[str, tuple[dict[int, list[int]], dict[str, str | None]]] = {
    "plain": (_FULL, {}),
    "wide": (_WIDE, {}),
    "stamped": (_FULL, {"message.timestamp.type": "LogAppendTime"}),
    "recoded": (_FULL, {"compression.type": "zstd"}),
    "small": (_FULL, {"max.message.bytes": "300"}),
    "compacted": (_FULL, {"cleanup.policy": "compact"}),
    "late": (_FULL, {"message.timestamp.before.max.ms": "60000"}),
    "strict": ({0: [1]}, {"min.insync.replicas": "2"}),
}


def create_topics(side: Side, prefix: str, *names: str) -> None:
    """Create topics, ``prefix`` before the name of each, with the same leaders everywhere."""
    with SyncAdminClient(side.bootstrap) as admin:
        created = admin.create_topics(
            [
                NewTopic(
                    f"{prefix}-{each}",
                    assignment=_TOPICS[each][0],
                    # Old records would be gone when a cluster next looks for them.
                    configs={"retention.ms": "-1", **_TOPICS[each][1]},
                )
                for each in names
            ]
        )
    assert [each.error for each in created] == [None] * len(names)
    side.wait_for_brokers()


def is_shared(shares: Sequence[Sequence[Any]], sizes: Sequence[int]) -> bool:
    """Whether members have as many partitions as that, each of them one member.

    For a moment members have shares of different generations of their group, in which two may have
    the same partition.
    """
    different = {str(each) for share in shares for each in share}
    return sorted(map(len, shares)) == sorted(sizes) and len(different) == sum(sizes)


def when(time_ms: Any) -> Any:
    """A record's time as both clusters have it: "now" for one of a clock."""
    now_ms = time.time() * 1000
    return "now" if time_ms is not None and abs(now_ms - time_ms) < _RUN_MS else time_ms
