"""The order in which brokers list the configs of a resource: that of their hash maps.

Clients see it, and tests of other projects compare lists with it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from kafka_admin_proto.server.java import hash_order, scala_order
from kafka_admin_proto.server.releases import ReleaseNumber

#: Topics have the same names mostly; so have brokers, groups and subscriptions.
_ORDERS = 8


def broker_order(
    names: Collection[str], defined: Collection[str], release: ReleaseNumber
) -> tuple[str, ...]:
    """The names in a broker's order.

    4.x lists those that are set without being ``defined`` before the others, 3.9 all in one map.
    """
    return _ordered(tuple(names), frozenset(defined), release < (4,))


@lru_cache(_ORDERS)
def _ordered(names: tuple[str, ...], defined: frozenset[str], is_scala: bool) -> tuple[str, ...]:
    if is_scala:
        return tuple(scala_order(names))
    others = [each for each in names if each not in defined]
    return (*hash_order(others), *hash_order(each for each in names if each in defined))
