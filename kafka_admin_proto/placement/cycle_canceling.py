"""Exchanges of replicas between brokers until no exchange makes an assignment better.

An assignment is a flow: from each partition, through the racks, to the brokers. It is the best one
when the residual graph has no cycle of negative cost. Partitions are many and brokers are few, so
the residual graph is folded onto the brokers: an edge a → b stands for the partitions in which a
replica may go from a to b. One more node stands for the load of the brokers; what passes it
makes a broker's load smaller and another's larger. The cost of a cycle is the change of the sum of
squared loads, and below that, weighing less than the least of these changes, the change of the
number of replicas that are not where they were.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.placement.racks import RackBounds

#: A replica goes from one broker to another in a partition: (from, partition, to).
Step = tuple[int, int, int]
#: Stands for the partition in a step from a broker to the node of the load, or back.
_LOAD = -1
#: What a step may add to the number of moved replicas, in the order of the columns of a table.
_DELTAS = (-1, 0, 1)


class CycleCanceling:
    """Partitions with their chosen brokers, and the load of each broker.

    Brokers and racks are indices. ``chosen`` are the brokers of each partition, changed in place;
    ``home`` the brokers where its replicas cost nothing; ``allowed`` those that may be chosen;
    ``load`` counts, for each broker, the replicas of ``chosen`` and of whatever else the caller
    put in.
    """

    def __init__(
        self,
        chosen: list[set[int]],
        *,
        home: Sequence[frozenset[int]],
        allowed: Sequence[Sequence[int]],
        rack_of: Sequence[int],
        bounds: Sequence[RackBounds],
        load: list[int],
    ) -> None:
        self.chosen = chosen
        self.load = load
        self._home = home
        self._allowed = allowed
        self._rack_of = rack_of
        self._bounds = bounds
        self._in_rack: list[list[int]] = []
        self._partitions_of: list[set[int]] = []
        #: One unit of squared load weighs more than all replicas together.
        self._unit = 2 * sum(map(len, chosen)) + 1
        self._table: list[int] = []

    def optimize(self, fewest_moves: int) -> None:
        """Make the assignment the best one; ``fewest_moves`` is a lower bound of its moves."""
        if max(self.load) - min(self.load) <= 1 and self._moves() <= fewest_moves:
            return  # true of most assignments, which saves counting the rest
        self._in_rack = [self._count_racks(each) for each in self.chosen]
        self._partitions_of = [set() for _ in self.load]
        for partition, brokers in enumerate(self.chosen):
            for broker in brokers:
                self._partitions_of[broker].add(partition)
        self._build_table()
        self._level_directly()
        while cycle := self._negative_cycle():
            for step in cycle:
                self._apply(step)

    def _count_racks(self, brokers: set[int]) -> list[int]:
        counts = [0] * (max(self._rack_of) + 1)
        for broker in brokers:
            counts[self._rack_of[broker]] += 1
        return counts

    def _moves(self) -> int:
        return sum(len(chosen - home) for chosen, home in zip(self.chosen, self._home, strict=True))

    def _may_go(self, partition: int, source: int, target: int) -> bool:
        """Whether the racks let a replica go; ``target`` has none and is allowed."""
        out, into = self._rack_of[source], self._rack_of[target]
        if out == into:
            return True
        bounds, counts = self._bounds[partition], self._in_rack[partition]
        return counts[out] > bounds.fewest[out] and counts[into] < bounds.most[into]

    def _delta(self, partition: int, source: int, target: int) -> int:
        home = self._home[partition]
        return (target not in home) - (source not in home)

    def _level_directly(self) -> None:
        """Let replicas go from loaded brokers straight to others that have two fewer at least."""
        order = range(len(self.load))
        moved = True
        while moved:
            moved = False
            for source in sorted(order, key=self.load.__getitem__, reverse=True):
                for target in sorted(order, key=self.load.__getitem__):
                    if self.load[source] - self.load[target] < 2:
                        break
                    if self._least_delta(source, target) is not None:
                        self._apply((source, self._partition(source, target), target))
                        moved = True
                        break

    def _least_delta(self, source: int, target: int) -> int | None:
        """The least cost at which a replica goes from one broker to another; None if none may."""
        at = (source * len(self.load) + target) * 3
        for delta in _DELTAS:
            if self._table[at + delta + 1]:
                return delta
        return None

    def _partition(self, source: int, target: int) -> int:
        """The first partition in which a replica goes from one broker to another at that cost."""
        least = self._least_delta(source, target)
        return next(
            partition
            for partition in sorted(self._partitions_of[source] - self._partitions_of[target])
            if target in self._allowed[partition]
            and self._delta(partition, source, target) == least
            and self._may_go(partition, source, target)
        )

    def _apply(self, step: Step) -> None:
        source, partition, target = step
        self._enter(partition, -1)
        self.chosen[partition].remove(source)
        self.chosen[partition].add(target)
        self._partitions_of[source].remove(partition)
        self._partitions_of[target].add(partition)
        self._in_rack[partition][self._rack_of[source]] -= 1
        self._in_rack[partition][self._rack_of[target]] += 1
        self.load[source] -= 1
        self.load[target] += 1
        self._enter(partition, +1)

    def _build_table(self) -> None:
        """Count, for each pair of brokers and each delta, the partitions that allow the step."""
        self._table = [0] * (len(self.load) ** 2 * len(_DELTAS))
        for partition in range(len(self.chosen)):
            self._enter(partition, +1)

    def _enter(self, partition: int, count: int) -> None:
        """Add the steps of a partition to the table, or take them out with a count of -1."""
        chosen, home, table, brokers = (
            self.chosen[partition], self._home[partition], self._table, len(self.load),
        )  # fmt: skip
        targets = [
            (target, (target not in home) + 1)
            for target in self._allowed[partition]
            if target not in chosen
        ]
        for source in chosen:
            row, back = source * brokers, source not in home
            for target, cost in targets:
                if self._may_go(partition, source, target):
                    table[(row + target) * 3 + cost - back] += count

    def _edges(self) -> list[tuple[int, int, int]]:
        """(from, to, cost) of the folded residual graph; the last node is the load."""
        brokers, edges = len(self.load), []
        for source in range(brokers):
            for target in range(brokers):
                delta = self._least_delta(source, target)
                if delta is not None:
                    edges.append((source, target, delta))
        for broker, load in enumerate(self.load):
            edges.append((broker, brokers, self._unit * (2 * load + 1)))
            edges.append((brokers, broker, -self._unit * (2 * load - 1)))
        return edges

    def _negative_cycle(self) -> list[Step]:
        """The steps of a cycle that makes the assignment better; empty when it is the best."""
        nodes = len(self.load) + 1
        edges = self._edges()
        distance, before = [0] * nodes, [-1] * nodes
        while True:
            relaxed = False
            for source, target, cost in edges:
                if distance[source] + cost < distance[target]:
                    distance[target] = distance[source] + cost
                    before[target] = source
                    relaxed = True
            if not relaxed:
                return []
            cycle = _cycle(before)
            if cycle:
                return self._steps(cycle)

    def _steps(self, cycle: list[int]) -> list[Step]:
        """The steps of a cycle of nodes, a partition for each edge between two brokers."""
        load = len(self.load)
        steps = [
            (source, _LOAD if load in (source, target) else self._partition(source, target), target)
            for source, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        ]
        return [step for step in self._uncrossed(steps) if step[1] != _LOAD]

    def _uncrossed(self, steps: list[Step]) -> list[Step]:
        """Steps of which no two are in each other's way, out of a cycle of negative cost.

        Two that are have a partition in common. With their targets exchanged they are part of two
        smaller cycles, which cost the same together, so that one of the two has a negative cost.
        """
        while crossing := self._crossing(steps):
            first, second = crossing
            source, partition, target = steps[first]
            later_source, _, later_target = steps[second]
            inner = [*steps[first + 1 : second], (later_source, partition, target)]
            outer = [*steps[:first], (source, partition, later_target), *steps[second + 1 :]]
            steps = inner if self._cost(inner) < 0 else outer
        return steps

    def _crossing(self, steps: list[Step]) -> tuple[int, int] | None:
        """Two steps that would take two replicas from a rack that has one to give, or add two."""
        seen: dict[tuple[int, str, int], int] = {}
        for index, (source, partition, target) in enumerate(steps):
            if partition == _LOAD:
                continue
            out, into = self._rack_of[source], self._rack_of[target]
            if out == into:
                continue
            for end in ((partition, "from", out), (partition, "to", into)):
                if end in seen:
                    return seen[end], index
                seen[end] = index
        return None

    def _cost(self, steps: list[Step]) -> int:
        brokers, cost = len(self.load), 0
        for source, partition, target in steps:
            if partition != _LOAD:
                cost += self._delta(partition, source, target)
            elif target == brokers:
                cost += self._unit * (2 * self.load[source] + 1)
            else:
                cost -= self._unit * (2 * self.load[target] - 1)
        return cost


def _cycle(before: list[int]) -> list[int]:
    """A cycle in the graph of predecessors, in the order of the edges; empty without one."""
    state = [0] * len(before)
    for start in range(len(before)):
        node, path = start, []
        while node != -1 and state[node] == 0:
            state[node] = 1
            path.append(node)
            node = before[node]
        if node != -1 and state[node] == 1:
            found = path[path.index(node) :]
            return found[::-1]
        for each in path:
            state[each] = 2
    return []
