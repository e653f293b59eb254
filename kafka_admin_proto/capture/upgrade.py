"""Which clients an upgrade of the brokers breaks (KIP-896): those that send removed versions.

    check = UpgradeCheck("4.0")
    for frame in read_captures(["admin.pcap"]):
        check.add(frame)
    check.rows()

The report on the pipeline's tables counts the requests in them, and has the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.protocol.releases import BROKER_APIS, BROKER_CLIENT, upgrade_rules
from kafka_admin_proto.wire.blobs import replace_invalid_utf8

#: The headline without any request.
NO_REQUEST = "No request could be read, so the question has no answer"

_DEPRECATED, _FINE, _NOT_READ = "deprecated", "fine", "not read"
_HOST = re.compile(r"\[?(.*?)\]?:\d+")
_BROKER = re.compile(BROKER_CLIENT, re.ASCII)


_Sender = tuple[str | None, str | None, bool]
_Identity = tuple[str | None, str | None]


class Client(NamedTuple):
    """Who sends, as far as is known: the address is without the port."""

    client_id: str | None
    address: str | None
    software: str | None
    principal: str | None
    forwarded: bool

    @property
    def sender(self) -> _Sender:
        """What is known of each request."""
        return self.client_id, self.address, self.forwarded

    @property
    def identity(self) -> _Identity:
        """What a connection tells some time after its start."""
        return self.software, self.principal


class _Use(msgspec.Struct):
    """How often, and from when to when in microseconds since 1970."""

    requests: int = 0
    first_ts: int | None = None
    last_ts: int | None = None

    def add(self, requests: int, first: int | None, last: int | None) -> None:
        self.requests += requests
        if first is not None and last is not None:
            self.first_ts = first if self.first_ts is None else min(self.first_ts, first)
            self.last_ts = last if self.last_ts is None else max(self.last_ts, last)


class UpgradeCheck:
    """Takes frames, and says who has to change before the release. Raises UnknownReleaseError."""

    def __init__(self, release: str) -> None:
        self._rules = upgrade_rules(release)
        #: Client → (api key, api, version) → use.
        self._used: dict[Client, dict[tuple[int, str, int], _Use]] = {}
        #: Client ids and addresses that brokers and controllers have.
        self._brokers: set[tuple[str | None, str | None]] = set()
        #: Pieces that may have been requests and were not read, and the connections they are of.
        self.unread: int = 0
        self._unread_of: set[tuple[str, str]] = set()

    def add(self, frame: DecodedFrame) -> None:
        """Count a frame: requests by their client, and what may be one."""
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
        """Count ``requests`` of a client, the first and the last at these times."""
        if not client.forwarded and (api in BROKER_APIS or _BROKER.search(client.client_id or "")):
            self._brokers.add((client.client_id, client.address))
        uses = self._used.setdefault(client, {})
        what = (api_key, api, api_version)
        if what not in uses:
            uses[what] = _Use()
        uses[what].add(requests, first_ts, last_ts)

    @property
    def unread_connections(self) -> int:
        """How many connections had pieces that were not read."""
        return len(self._unread_of)

    @property
    def has_requests(self) -> bool:
        """Whether anything can be said at all."""
        return bool(self._used)

    def rows(self) -> list[dict[str, Any]]:
        """What each client sends that is no more or deprecated, by api; then who is fine.

        ``status``, ``least`` and ``removed_in`` are as in `UpgradeRule`. ``traffic`` is "broker"
        where one broker or controller talks to another, "forwarded" where a broker passed a
        request on (its address), else "client". A client with the status "fine" sends nothing that
        the release lacks, and has its ``requests`` in all. With "not read", the last row, they are
        pieces that may be requests of anybody.
        """
        rows = self.rows_in_question()
        rows += sorted(self._fine_rows(), key=_order)
        if self.unread:
            rows.append(_row(_NOT_READ, None, None, _Use(self.unread)))
        return rows

    def rows_in_question(self) -> list[dict[str, Any]]:
        """Those of the ``rows`` on what is no more or deprecated."""
        return sorted(self._rows_in_question(), key=_order)

    def to_change(self) -> tuple[int, int]:
        """How many clients have to change, and how many apis brokers pass on that are gone."""
        found = [row for row in self._rows_in_question() if row["status"] != _DEPRECATED]
        clients = {
            (row["client_id"], row["address"], row["software"], row["principal"])
            for row in found
            if row["traffic"] == "client"
        }
        return len(clients), sum(row["traffic"] == "forwarded" for row in found)

    def _rows_in_question(self) -> Iterator[dict[str, Any]]:
        for client, uses in self._used.items():
            found: dict[tuple[Any, ...], dict[str, Any]] = {}
            for (key, api, version), use in sorted(uses.items()):
                rule = self._rules.get((key, version))
                if rule is None:
                    continue
                about = (rule.status, key, rule.least, rule.removed_in)
                row = found.setdefault(
                    about,
                    _row(rule.status, self._traffic(client), client, _Use())
                    | {"api": api, "api_key": key, "least": rule.least}
                    | {"removed_in": rule.removed_in or None},
                )
                row["versions"].append(version)
                _add(row, use)
            yield from found.values()

    def _fine_rows(self) -> Iterator[dict[str, Any]]:
        """A row for each client that sends nothing that the release lacks.

        Requests from before a client named its software or logged in are left out where a client
        with the same id and address did either. A client is not fine where such earlier requests,
        which may be its own, are in versions that the release lacks.
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


def upgrade_headline(clients: int, forwarded: int, *, whole: bool) -> str:
    """How many clients have to change, in a few words; ``whole``: all pieces could be read."""
    if clients:
        return f"{clients:,} client{'s' * (clients != 1)} to change"
    if forwarded:
        return "clients behind forwarding brokers to change"
    return "ready" if whole else "ready, as far as could be read"


def unread_pieces(pieces: int, connections: int) -> str:
    """The sentence on pieces that may be requests and were not read, without the full stop."""
    of = f" of {connections:,} connection{'s' * (connections != 1)}" if connections else ""
    return (
        f"Nothing is known of {pieces:,} piece{'s' * (pieces != 1)}{of} that could not be "
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
    """What is only deprecated comes last, the most frequent first, nulls first."""
    texts = [(row[name] is not None, row[name] or "") for name in ("client_id", "address")]
    key = -1 if row["api_key"] is None else row["api_key"]
    return row["status"] == _DEPRECATED, row["traffic"], -row["requests"], *texts, key


def _shown(text: str | None) -> str | None:
    return None if text is None else replace_invalid_utf8(text)


def _host(client: str | None) -> str | None:
    """A client's host without its port; of an IPv6 address without the brackets."""
    found = _HOST.fullmatch(client or "")
    return client if found is None else found[1]
