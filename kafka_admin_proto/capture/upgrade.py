"""Find the clients that an upgrade of the brokers breaks (KIP-896): they send removed versions.

    check = UpgradeCheck("4.0")
    for frame in read_captures(["admin.pcap"]):
        check.add(frame)
    check.rows()

The report on the pipeline's tables counts the requests in them, and has the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.protocol.releases import BROKER_APIS, BROKER_CLIENT, upgrade_rules
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The headline of frames without any request.
NO_REQUEST = "no request is among the frames, so the question has no answer"

_DEPRECATED, _FINE, _NOT_READ = "deprecated", "fine", "not read"
#: Clients first, which have to change; brokers are what is upgraded.
_TRAFFIC = ("client", "forwarded", "broker")
_HOST = re.compile(r"\[?(.*?)\]?:\d+")
_BROKER = re.compile(BROKER_CLIENT, re.ASCII)


_Sender = tuple[str | None, str | None, bool]
_Identity = tuple[str | None, str | None]


class Client(NamedTuple):
    """A client that sends requests; its address has no port."""

    client_id: str | None
    address: str | None
    software: str | None
    principal: str | None
    forwarded: bool

    @property
    def sender(self) -> _Sender:
        """The properties that every request shows."""
        return self.client_id, self.address, self.forwarded

    @property
    def identity(self) -> _Identity:
        """The properties that a connection has only after ApiVersions and the login."""
        return self.software, self.principal


class _Use(msgspec.Struct):
    """The number of requests, and the times of the first and last in microseconds since 1970."""

    requests: int = 0
    first_ts: int | None = None
    last_ts: int | None = None

    def add(self, requests: int, first: int | None, last: int | None) -> None:
        self.requests += requests
        if first is not None and last is not None:
            self.first_ts = first if self.first_ts is None else min(self.first_ts, first)
            self.last_ts = last if self.last_ts is None else max(self.last_ts, last)


class UpgradeCheck:
    """Collects the requests of clients and finds those that a release does not understand.

    Raises UnknownReleaseError for a release that is not known.
    """

    def __init__(self, release: str) -> None:
        self._rules = upgrade_rules(release)
        #: Client → (api key, api, version) → use.
        self._used: dict[Client, dict[tuple[int, str, int], _Use]] = {}
        #: Client ids and addresses of brokers and controllers.
        self._brokers: set[tuple[str | None, str | None]] = set()
        #: The number of undecoded pieces that may be requests, and their connections.
        self.unread: int = 0
        self._unread_of: set[tuple[str, str]] = set()

    def add(self, frame: DecodedFrame) -> None:
        """Count a frame if it is a request, or an undecoded piece that may be one."""
        if frame.api is None:
            if frame.error is not None:
                self.unread += 1
                if frame.connection is not None:
                    self._unread_of.add((frame.capture, frame.connection))
            return
        if frame.direction != "request" or frame.api_key is None or frame.api_version is None:
            return
        client = Client(
            _shown(frame.client_id), _host(frame.client), _shown(frame.client_software),
            _shown(frame.principal), frame.forwarded,
        )  # fmt: skip
        self.count(
            client, frame.api_key, frame.api, frame.api_version, 1, frame.ts, frame.ts
        )  # fmt: skip

    def count(
        self, client: Client, api_key: int, api: str, api_version: int, requests: int,
        first_ts: int | None, last_ts: int | None,
    ) -> None:  # fmt: skip
        """Count ``requests`` of a client; the times are those of the first and the last."""
        if not client.forwarded and is_broker_use(api, client.client_id):
            self._brokers.add((client.client_id, client.address))
        uses = self._used.setdefault(client, {})
        what = (api_key, api, api_version)
        if what not in uses:
            uses[what] = _Use()
        uses[what].add(requests, first_ts, last_ts)

    @property
    def unread_connections(self) -> int:
        """The number of connections with undecoded pieces."""
        return len(self._unread_of)

    @property
    def has_requests(self) -> bool:
        """Whether any request was counted."""
        return bool(self._used)

    def rows(self) -> list[dict[str, Any]]:
        """The removed and deprecated versions that each client sends, by api; then other clients.

        ``status``, ``least`` and ``removed_in`` are as in `UpgradeRule`. ``traffic`` is "broker"
        between brokers and controllers, "forwarded" where a broker forwarded a request (the address
        is the broker's), otherwise "client". A client with the status "fine" sends only versions of
        the release; its row has the number of all its requests. The last row, "not read", counts
        undecoded pieces that may be requests of any client.
        """
        rows = self.rows_in_question()
        rows += sorted(self._fine_rows(), key=_order)
        if self.unread:
            rows.append(_row(_NOT_READ, None, None, _Use(self.unread)))
        return rows

    def rows_in_question(self) -> list[dict[str, Any]]:
        """The ``rows`` about removed and deprecated versions."""
        return sorted(self._rows_in_question(), key=_order)

    def to_change(self) -> tuple[int, int]:
        """How many clients have to change, and how many apis brokers pass on that are gone."""
        rows = [row for row in self._rows_in_question() if row["status"] != _DEPRECATED]
        changing = {
            (row["client_id"], row["address"], row["software"])
            for row in rows
            if row["traffic"] == "client"
        }
        clients = [
            each
            for each in self.clients()
            if each in changing or (each[0], each[1], None) in changing
        ]
        return len(clients), sum(row["traffic"] == "forwarded" for row in rows)

    def clients(self) -> set[tuple[str | None, str | None, str | None]]:
        """The `distinct_clients` that are no brokers, each with its id, address and software."""
        return distinct_clients(
            (each.client_id, each.address, each.software)
            for each in self._used
            if self._traffic(each) == "client"
        )

    def _rows_in_question(self) -> Iterator[dict[str, Any]]:
        for client, uses in self._used.items():
            rows: dict[tuple[Any, ...], dict[str, Any]] = {}
            for (key, api, version), use in sorted(uses.items()):
                rule = self._rules.get((key, version))
                if rule is None:
                    continue
                about = (rule.status, key, rule.least, rule.removed_in)
                row = rows.setdefault(
                    about,
                    _row(rule.status, self._traffic(client), client, _Use())
                    | {"api": api, "api_key": key, "least": rule.least}
                    | {"removed_in": rule.removed_in or None},
                )
                row["versions"].append(version)
                _add(row, use)
            yield from rows.values()

    def _fine_rows(self) -> Iterator[dict[str, Any]]:
        """A row for each client that sends only versions of the release.

        Before ApiVersions and the login, requests show neither software nor principal. Such
        requests are left out if a client with the same id and address shows them later. They may be
        that client's own, so if they have removed versions, the client is not fine.
        """
        known: dict[_Sender, set[_Identity]] = {}
        breaking: dict[_Sender, set[_Identity]] = {}
        for client, uses in self._used.items():
            known.setdefault(client.sender, set()).add(client.identity)
            rules = (self._rules.get((key, version)) for key, _, version in uses)
            if any(rule is not None and rule.status != _DEPRECATED for rule in rules):
                breaking.setdefault(client.sender, set()).add(client.identity)
        softwares = {who: {one for one, _ in said} for who, said in known.items()}
        principals = {who: {one for _, one in said} for who, said in known.items()}
        for client, uses in self._used.items():
            software, principal = client.identity
            if (software is None and softwares[client.sender] != {None}) or (
                principal is None and principals[client.sender] != {None}
            ):
                continue
            before = {(None, None), (software, None), (None, principal), client.identity}
            if before & breaking.get(client.sender, set()):
                continue
            row = _row(_FINE, self._traffic(client), client, _Use())
            for use in uses.values():
                _add(row, use)
            yield row

    def _traffic(self, client: Client) -> str:
        if client.forwarded:
            return "forwarded"
        return "broker" if (client.client_id, client.address) in self._brokers else "client"


def distinct_clients(
    seen: Iterable[tuple[str | None, str | None, str | None]],
) -> set[tuple[str | None, str | None, str | None]]:
    """The clients among ids, addresses and softwares that requests have shown.

    Before ApiVersions a request shows no software: it is one of the clients with the same id and
    address that show theirs, and no client of its own.
    """
    found = set(seen)
    named = {each[:2] for each in found if each[2] is not None}
    return {each for each in found if each[2] is not None or each[:2] not in named}


def is_broker_use(api: str | None, client_id: str | None) -> bool:
    """Whether only a broker or a controller sends requests like this one by itself."""
    return api in BROKER_APIS or _BROKER.search(client_id or "") is not None


def upgrade_verdict(
    clients: int, forwarded: int, *, has_requests: bool, whole: bool
) -> tuple[str, bool]:
    """The answer in a few words, and whether it is "ready" without a doubt: the exit code is 0.

    ``whole`` if every piece that may be a request was decoded.
    """
    if not has_requests:
        return NO_REQUEST, False
    headline = upgrade_headline(clients, forwarded, whole=whole)
    return headline, whole and not clients and not forwarded


def upgrade_headline(clients: int, forwarded: int, *, whole: bool) -> str:
    """The number of clients to change, in a few words; ``whole`` if every piece was decoded."""
    if clients:
        return f"{with_commas(clients, 'clients')} to change"
    if forwarded:
        return "clients behind forwarding brokers to change"
    return "ready" if whole else "ready, as far as could be read"


def unread_pieces(pieces: int, connections: int) -> str:
    """The sentence about undecoded pieces that may be requests, without the full stop."""
    of = f" of {with_commas(connections, 'connections')}" if connections else ""
    return (
        f"Nothing is known of {with_commas(pieces, 'pieces')}{of} that could not be "
        "read as requests (TLS, another protocol or port, bytes that were not captured): the "
        "clients that sent them may be missing from these rows"
    )


def _row(status: str, traffic: str | None, client: Client | None, use: _Use) -> dict[str, Any]:
    return {
        "status": status,
        "traffic": traffic,
        "client_id": client and client.client_id,
        "address": client and client.address,
        "software": client and client.software,
        "principal": client and client.principal,
        "api": None,
        "api_key": None,
        "versions": [],
        "least": None,
        "removed_in": None,
        "requests": use.requests,
        "first_ts": use.first_ts,
        "last_ts": use.last_ts,
    }


def _add(row: dict[str, Any], use: _Use) -> None:
    total = _Use(row["requests"], row["first_ts"], row["last_ts"])
    total.add(use.requests, use.first_ts, use.last_ts)
    row |= msgspec.structs.asdict(total)


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    """The sort key of a row: deprecated versions last, clients first, then frequent requests."""
    texts = [(row[name] is not None, row[name] or "") for name in ("client_id", "address")]
    key = -1 if row["api_key"] is None else row["api_key"]
    return (
        row["status"] == _DEPRECATED,
        _TRAFFIC.index(row["traffic"]),
        -row["requests"],
        *texts,
        key,
    )


def _shown(text: str | None) -> str | None:
    return None if text is None else replace_invalid_utf8(text)


def _host(client: str | None) -> str | None:
    """The host of an endpoint, without the port and without the brackets of IPv6."""
    found = _HOST.fullmatch(client or "")
    return client if found is None else found[1]
