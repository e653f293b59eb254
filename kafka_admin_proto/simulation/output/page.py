"""A run as a sequence diagram: the messages between nodes, and the nodes' states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kafka_admin_proto.counts import counted, with_commas
from kafka_admin_proto.render.sequence import Diagram, SequenceRow, sequence_page
from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.simulation.output.rows import body_json, errors_in, leaves, node_name
from kafka_admin_proto.simulation.world.trace import NO_NODE, Trace, TraceEvent

#: The last colour is for apis beyond the others.
_COLOURS = 9
#: Fields of a message that the page shows; a message of hundreds of topics has more.
_MOST_FIELDS = 200

_EVENTS = {
    "crash": "crashes",
    "start": "starts",
    "cut": "link to {} is cut",
    "heal": "link to {} is up",
}


def html_page(trace: Trace, title: str, about: list[str]) -> Iterator[str]:
    return sequence_page(diagram(trace, title, about))


def diagram(trace: Trace, title: str, about: list[str]) -> Diagram:
    """The diagram: a message is in the row of its arrival, a lost one in that of its loss."""
    rows = _Rows(trace)
    lines = list(rows.rows())
    colours = list(rows.colours)
    if len(colours) > _COLOURS - 1:
        colours[_COLOURS - 2 :] = ["others"]
    return Diagram(
        title=title,
        about=about,
        columns=[trace.names[node] for node in rows.columns],
        colours=colours,
        rows=lines,
        start_up=rows.start_up,
    )


class _Rows:
    """The rows of a trace, one after the other."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.columns: dict[int, int] = {node: at for at, node in enumerate(sorted(trace.names))}
        #: Api → its colour, in the order in which they appear.
        self.colours: dict[str, int] = {}
        #: How many of the first rows show the nodes' start.
        self.start_up = 0
        self._up: set[int] = set()
        #: When a frame was sent: client, correlation id and whether it is the response.
        self._sent: dict[tuple[int, int, bool], int] = {}

    def rows(self) -> Iterator[SequenceRow]:
        """A state is shown at the row before it, whose event has changed it."""
        waiting: SequenceRow | None = None
        states: dict[int, Mapping[str, Any]] = {}
        for event in self._trace.events:
            if event.kind == "state":
                states[event.node] = event.fields
                continue
            row = self._row(event)
            if row is None:
                continue
            self.start_up += event.number < self._trace.start_up
            if waiting is not None:
                yield self._with_states(waiting, states)
                states = {}
            waiting = row
        if waiting is not None:
            yield self._with_states(waiting, states)

    def _with_states(self, row: SequenceRow, states: dict[int, Mapping[str, Any]]) -> SequenceRow:
        shown = [
            (self.columns[node], [(name, _text(value)) for name, value in leaves(dict(state))])
            for node, state in states.items()
        ]
        return msgspec.structs.replace(row, states=shown)

    def _row(self, event: TraceEvent) -> SequenceRow | None:
        if event.kind == "send":
            self._sent[self._key(event)] = event.at_ms
            return None
        if event.kind == "start":
            self._up.add(event.node)
        elif event.kind == "crash":
            self._up.discard(event.node)
        if event.kind in ("receive", "lose"):
            return self._message(event)
        at, up = str(event.at_ms), self._shown_up()
        if event.node == NO_NODE:
            return SequenceRow(kind="step", at=at, text=event.text, up=up)
        peer = node_name(self._trace, event.peer) or ""
        known = _EVENTS.get(event.kind, "").format(peer)
        text = known or event.text
        return SequenceRow(
            kind="event" if known else "note",
            at=at,
            column=self.columns[event.node],
            to=self.columns[event.node],
            text=text,
            bad=event.kind in ("crash", "cut"),
            title=f"{node_name(self._trace, event.node)}: {text}",
            fields=[(name, _text(value)) for name, value in leaves(dict(event.fields))],
            up=up,
        )

    def _message(self, event: TraceEvent) -> SequenceRow:
        """Of ``receive`` the node is the receiver, of ``lose`` the sender."""
        arrived = event.kind == "receive"
        source, target = (event.peer, event.node) if arrived else (event.node, event.peer)
        body = body_json(event, self._trace.dialect)
        errors = errors_in(body, self._trace.dialect)
        sent_ms = self._sent.get(self._key(event), event.at_ms)
        answer = event.type == "response"
        label = f"{event.api} v{event.version}" + (f": {', '.join(errors)}" if errors else "")
        names = [node_name(self._trace, each) for each in (source, target)]
        fields = [(path, _text(value)) for path, value in leaves(body)]
        if len(fields) > _MOST_FIELDS:
            more = len(fields) - _MOST_FIELDS
            fields[_MOST_FIELDS:] = [("…", with_commas(more, "more fields"))]
        facts = [
            ("sent", f"{sent_ms} ms"),
            ("arrived" if arrived else "lost", f"{event.at_ms} ms"),
            ("size", counted(len(event.frame or b""), "bytes")),
            ("correlation id", str(event.correlation_id)),
        ]
        return SequenceRow(
            kind="message" if arrived else "lost",
            at=str(event.at_ms),
            text=label,
            column=self.columns[source],
            to=self.columns[target],
            colour=min(self.colours.setdefault(event.api, len(self.colours)), _COLOURS - 2),
            answer=answer,
            bad=bool(errors) or not arrived,
            up=self._shown_up(),
            title=f"{event.api} v{event.version} {event.type}, {names[0]} → {names[1]}",
            fields=[*facts, *fields],
        )

    def _shown_up(self) -> frozenset[int]:
        return frozenset(self.columns[node] for node in self._up)

    def _key(self, event: TraceEvent) -> tuple[int, int, bool]:
        answer = event.type == "response"
        # The client of a response is its receiver; of a request, its sender.
        arrived = event.kind == "receive"
        client = event.node if answer == arrived else event.peer
        return client, event.correlation_id, answer


def _text(value: Any) -> str:
    return value if isinstance(value, str) else compact_json(value)
