"""Which brokers get the replicas of a topic's partitions: pure functions, without a network.

    from kafka_admin_proto.placement import place_new, regenerate

    place_new({1: "a", 2: "b", 3: "c"}, partitions=6, replication_factor=2)
    regenerate({1: "a", 2: "b", 4: "b"}, [[1, 2], [2, 3]])     # broker 3 is gone

Both keep to one order of goals, each of them reached as well as the goals before it allow:

1. The replicas of a partition are spread over the racks: no rack has two more than another one that
   has brokers left (``racks``).
2. The brokers have equally many replicas of the topic: the sum of squares is the least possible,
   which makes the largest number the smallest and the smallest the largest possible.
3. As few replicas as possible go to a broker that had none of that partition (``cycle_canceling``).
4. The brokers lead equally many of the topic's partitions (the leader is the first replica),
   and as few partitions as possible change their leader.

A result depends on the arguments only; ``seed`` decides between assignments that are equally good.
"""

from __future__ import annotations

from kafka_admin_proto.placement.placer import count_moves, place_new, place_with_fenced, regenerate

__all__ = ["count_moves", "place_new", "place_with_fenced", "regenerate"]
