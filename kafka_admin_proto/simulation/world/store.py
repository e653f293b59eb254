"""A store in ZooKeeper's place: znodes, sessions, ephemeral nodes and watches.

Each operation is done at once and seen by all, as by ZooKeeper's leader. Watches are called a
moment later, and so is a node whose session has ended: until then it acts as if it had one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafka_admin_proto.simulation.world.scheduler import Scheduler
from kafka_admin_proto.simulation.world.trace import Trace

#: How long a session outlives the crash of its node.
SESSION_TIMEOUT_MS = 600
#: How long it takes until a watch, or the end of a session, is heard of.
WATCH_DELAY_MS = 5


class StoreError(Exception):
    """An operation that the store refuses."""


class NodeExistsError(StoreError):
    """The path is there already."""


class NoNodeError(StoreError):
    """The path is not there."""


class BadVersionError(StoreError):
    """The znode, or the one to be checked, has another version."""


class SessionExpiredError(StoreError):
    """The session has ended."""


@dataclass(slots=True)
class Znode:
    """One entry of the store."""

    data: bytes
    #: The transaction that created it: a broker's epoch is that of its registration.
    created_zxid: int
    #: How often the data was set since.
    version: int = 0
    #: The session it ends with.
    owner: Session | None = None


#: A path and the version that its znode must have for an operation to be done.
Check = tuple[str, int]


class Store:
    """The znodes, and the sessions of nodes."""

    def __init__(self, scheduler: Scheduler, trace: Trace) -> None:
        self.scheduler: Scheduler = scheduler
        self.trace: Trace = trace
        self.znodes: dict[str, Znode] = {}
        #: Those that have ended and whose node does not know it yet are still there.
        self.sessions: list[Session] = []
        self._zxid = 0

    def open_session(self, node: int, on_expired: Callable[[], None]) -> Session:
        session = Session(self, node, on_expired)
        self.sessions.append(session)
        return session

    def node_crashed(self, node: int) -> None:
        """The node's sessions end when their timeout is over; the node is not notified."""
        for session in self.sessions:
            if session.node == node and session.on_expired is not None:
                session.on_expired = session.watches = None
                self.scheduler.call_later(SESSION_TIMEOUT_MS, session.expire)

    def sessions_of(self, node: int) -> list[Session]:
        return [each for each in self.sessions if each.node == node and not each.expired]

    def read(self, path: str) -> bytes | None:
        """A znode's data, for those who look on; None if it is not there."""
        znode = self.znodes.get(path)
        return None if znode is None else znode.data

    def children(self, path: str) -> list[str]:
        """Names of the znodes right below a path, sorted."""
        start = path + "/"
        below = (each[len(start) :] for each in self.znodes if each.startswith(start))
        return sorted(name for name in below if "/" not in name)

    def next_zxid(self) -> int:
        self._zxid += 1
        return self._zxid

    def changed(self, node: int, what: str, path: str) -> None:
        """Put a change into the trace, and call the watches of the path a moment later."""
        text = f"{what} {path}"
        znode = self.znodes.get(path)
        fields = {} if znode is None else {"data": znode.data.decode()}
        self.trace.add(self.scheduler.now_ms, "store", node, text=text, fields=fields)
        for session in self.sessions:
            for start in session.watches or ():
                if path == start or path.startswith(start + "/"):
                    self._call_watch(session, start)

    def _call_watch(self, session: Session, start: str) -> None:
        def call() -> None:
            if session.watches is not None and not session.expired:
                session.watches[start](start)

        self.scheduler.call_later(WATCH_DELAY_MS, call)


class Session:
    """A node's connection to the store. Every operation raises SessionExpiredError at its end."""

    def __init__(self, store: Store, node: int, on_expired: Callable[[], None]) -> None:
        self.node: int = node
        self.expired: bool = False
        self.on_expired: Callable[[], None] | None = on_expired
        self.watches: dict[str, Callable[[str], None]] | None = {}
        self._store = store

    def create(
        self, path: str, data: bytes, *, ephemeral: bool = False, check: Check | None = None
    ) -> int:
        """Make a znode; returns the number of the transaction."""
        self._begin(check)
        if path in self._store.znodes:
            raise NodeExistsError(path)
        zxid = self._store.next_zxid()
        owner = self if ephemeral else None
        self._store.znodes[path] = Znode(data, zxid, owner=owner)
        self._store.changed(self.node, "create", path)
        return zxid

    def get(self, path: str) -> tuple[bytes, int] | None:
        """A znode's data and version; None if it is not there."""
        self._begin(None)
        znode = self._store.znodes.get(path)
        return None if znode is None else (znode.data, znode.version)

    def created_zxid(self, path: str) -> int | None:
        """The transaction that created a znode; None if it is not there."""
        self._begin(None)
        znode = self._store.znodes.get(path)
        return None if znode is None else znode.created_zxid

    def set(
        self, path: str, data: bytes, *, version: int | None = None, check: Check | None = None
    ) -> int:
        """Replace a znode's data, if it has the given version; returns its new one."""
        self._begin(check)
        znode = self._store.znodes.get(path)
        if znode is None:
            raise NoNodeError(path)
        if version is not None and znode.version != version:
            raise BadVersionError(path)
        self._store.next_zxid()
        znode.data = data
        znode.version += 1
        self._store.changed(self.node, "set", path)
        return znode.version

    def delete(self, path: str, *, check: Check | None = None) -> None:
        """Remove a znode and what is below it, if it is there."""
        self._begin(check)
        gone = [each for each in self._store.znodes if each == path or each.startswith(path + "/")]
        for each in sorted(gone, reverse=True):
            del self._store.znodes[each]
        if gone:
            self._store.next_zxid()
            self._store.changed(self.node, "delete", path)

    def children(self, path: str) -> list[str]:
        """Names of the znodes right below a path, sorted."""
        self._begin(None)
        return self._store.children(path)

    def watch(self, path: str, call: Callable[[str], None]) -> None:
        """Call with the path whenever it or anything below it has changed; stays until the end."""
        self._begin(None)
        if self.watches is not None:
            self.watches[path] = call

    def expire(self, heard_after_ms: int = WATCH_DELAY_MS) -> None:
        """End the session: its ephemeral znodes go, and the node hears of it later.

        Until then it acts on its old state, as a process does that was paused.
        """
        if self.expired:
            return
        self.expired = True
        znodes = self._store.znodes
        self._store.changed(self.node, "session ended of", f"node {self.node}")
        for path in [each for each in sorted(znodes) if znodes[each].owner is self]:
            del znodes[path]
            self._store.next_zxid()
            self._store.changed(self.node, "delete", path)
        self._store.scheduler.call_later(heard_after_ms, self._notify_expired)

    def _notify_expired(self) -> None:
        self._store.sessions.remove(self)
        if self.on_expired is not None:
            self.on_expired()

    def _begin(self, check: Check | None) -> None:
        if self.expired:
            raise SessionExpiredError(f"node {self.node}")
        if check is not None:
            znode = self._store.znodes.get(check[0])
            if znode is None or znode.version != check[1]:
                raise BadVersionError(check[0])
