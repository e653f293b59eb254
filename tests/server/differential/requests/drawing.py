"""What steps are drawn with: random names, nodes, replicas and configs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import AlterConfigsRequest, DescribeUserScramCredentialsRequest
from kafka_admin_proto.values import Message
from tests.server.differential.members import Members
from tests.server.differential.requests.pools import CONFIGS, FOREIGN, NAMES, ODD_NAMES, RESOURCES
from tests.server.differential.wire import PATIENCE_S

_T = TypeVar("_T")

#: ``timeout_ms`` of a request that is to be carried out.
TIMEOUT_MS = 20_000
#: After how long a node that says nothing is taken to stay silent: longer than any answer takes on
#: a busy machine.
_SILENCE_S = 10.0


class Ids:
    """What a step needs of a cluster: the ids of its topics by name, the last ids of names whose
    topics are gone, and what ``members`` of share groups were given.
    """

    def __init__(
        self,
        current: Mapping[str, UUID],
        former: Mapping[str, UUID],
        members: Members | None = None,
    ) -> None:
        self._current = current
        self._former = former
        self.members = members or Members()

    def of(self, name: str) -> UUID:
        """The id of a topic, or one that no topic of the cluster has."""
        return self._current.get(name, FOREIGN)

    def stale(self, name: str) -> UUID:
        """The id of a topic of that name that was deleted, or one that none ever had."""
        return self._former.get(name, FOREIGN)


class Step(msgspec.Struct):
    """A request for one node of both clusters; ``make`` builds it with a cluster's own ids.

    Where there is none to build a plain header of ``api_key`` is all that is sent. ``placed`` are
    topics for which the placer may choose replicas. An answer is waited for ``patience_s``.
    ``session`` puts a Fetch into one of the node's sessions, by how many were used since; the
    epoch of the request is added to the next one then.
    ``outage`` says that the node is to "stop" or to be given a "kill" instead.
    ``user`` is who asks; None leaves that to the clusters, which have users or none.
    For ``rest_s`` nothing is asked behind the answers, so that times of both clusters end.
    ``asked`` is what was sent last.
    """

    node: int
    version: int
    make: Callable[[Ids], Message] | None = None
    placed: list[str] = []
    api_key: int = -1
    patience_s: float = PATIENCE_S
    outage: str = ""
    user: str | None = None
    session: int | None = None
    rest_s: float = 0.0
    asked: Message | None = None

    def __repr__(self) -> str:
        if self.outage:
            return f"<node {self.node + 1}: {self.outage}, or the one that is away starts>"
        request = f"api {self.api_key}"
        if self.make is not None:
            request = repr(self.asked or self.make(Ids({}, {})))
        user = "" if self.user is None else f"{self.user}, "
        session = "" if self.session is None else f", session {self.session}"
        return f"<{user}node {self.node + 1}, v{self.version}{session}: {request}>"


class Draws:
    """Choices for a step: ``existing`` are the topics that are there.

    ``nodes`` is how many the clusters have, ``versions`` what both take by api key.
    """

    def __init__(
        self,
        random: Random,
        nodes: int,
        versions: Mapping[int, tuple[int, int]],
        existing: Sequence[str],
    ) -> None:
        self._random = random
        self.nodes = nodes
        self.versions = versions
        self.existing = existing

    def one(self, items: Sequence[_T]) -> _T:
        """One of these, the first ones as often as they stand there."""
        return self._random.choice(items)

    def shuffled(self, items: Sequence[_T]) -> list[_T]:
        """All of these, in any order."""
        return self._random.sample(items, len(items))

    def rarely(self, one_in: int = 8) -> bool:
        """True once in so many."""
        return self.one(range(one_in)) == one_in - 1

    def within(self, least: int, most: int) -> int:
        """A number from ``least`` to ``most``."""
        return self.one(range(least, most + 1))

    def version(self, api_key: int) -> int:
        """A version that both clusters take, the highest above all."""
        low, high = self.versions[api_key]
        return self.one([high] * (high - low) + list(range(high, low - 1, -1)))

    def node(self) -> int:
        """The index of the node that is asked."""
        return self.within(0, self.nodes - 1)

    def name(self) -> str:
        """A topic's name: one that may be there, one that is, or one that none can have."""
        kind = self.one([NAMES] * 6 + [self.existing or NAMES] * 3 + [ODD_NAMES])
        return self.one(kind)

    def new_name(self) -> str:
        """A name that a topic can have, of one that is not there if possible."""
        return self.one([each for each in NAMES if each not in self.existing] or NAMES)

    def known_name(self) -> str:
        """A topic that is there, or seldom any name."""
        if self.existing and not self.rarely(5):
            return self.one(self.existing)
        return self.name()

    def timeout_ms(self) -> int:
        """Long enough, or 0 and less."""
        return self.one([TIMEOUT_MS] * 26 + [0, -1, -100])

    def broker(self) -> int:
        """A broker's id, or one of a broker that is not there."""
        known = list(range(1, self.nodes + 1))
        return self.one(known * 12 + [0, -1, self.nodes + 1, 2**31 - 1] * (self.nodes // 3))

    def replicas(self, count: int) -> list[int]:
        """So many brokers, or any list."""
        if self.rarely():
            return [self.broker() for _ in range(self.within(0, 3))]
        return self.shuffled(range(1, self.nodes + 1))[:count]

    def partition(self) -> int:
        """A partition's number."""
        return self.one([0, 0, 0, 1, 1, 2, 3, 7, -1])

    def configs(self, kind: int, *, nulls: bool = True) -> list[tuple[str, str | None]]:
        """(name, value) of configs of a type of resource, seldom one name twice."""
        known = CONFIGS[kind]
        names = [self.one(list(known)) for _ in range(self.one([1, 1, 1, 0, 2, 2, 3]))]
        if not self.rarely(12):
            names = list(dict.fromkeys(names))
        return [
            (each, None if nulls and self.rarely(12) else self.one(known[each])) for each in names
        ]

    def resource(self, node: int) -> tuple[int, str]:
        """(type, name) of something that has configs; ``node`` is the one that is asked."""
        kind = self.one([2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 16, 16, 32, 32, 32, 8])
        if kind == 2:
            return kind, self.known_name()
        if kind == 4:
            here, any_node = str(node + 1), str(self.within(1, self.nodes))
            return kind, self.one(["", here, "", here, "", here, here, any_node, "x", "-1", "99"])
        if kind == 8:
            return kind, self.one(["", "x", "-1", "99", str(node + 1), str(node + 1)])
        return kind, self.one([*RESOURCES, *RESOURCES, ""])


def patience_of(request: Message) -> float:
    """How long an answer is waited for: not long where a real broker says nothing, for ever.

    Its own answer fails, after an error of the request was to be sent: of AlterConfigs with a
    resource twice, and of DescribeUserScramCredentials with null users from who may not ask.
    """
    if isinstance(request, AlterConfigsRequest):
        names = [(each.resource_type, each.resource_name) for each in request.resources]
        silent = len(set(names)) < len(names)
    else:
        silent = isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None
    return _SILENCE_S if silent else PATIENCE_S
