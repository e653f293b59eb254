"""``--trace``: each request and response on standard error as it passes, secrets masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kafka_admin_proto.codec import codec
from kafka_admin_proto.render.text import compact_json, printable

if TYPE_CHECKING:
    from kafka_admin_proto.admin.network.tracing import TraceEvent


def print_event(event: TraceEvent) -> None:
    """One line: the direction, the broker, the api and its version, the body as masked JSON."""
    arrow = "→" if event.kind == "request" else "←"
    where = event.address if event.broker is None else f"broker {event.broker} ({event.address})"
    took = "" if event.latency_s is None else f" {event.latency_s * 1000:.1f} ms"
    head = f"{arrow} {where} {event.api} v{event.version} #{event.correlation_id}{took}"
    click.echo(printable(f"{head} {_body(event)}"), err=True)


def _body(event: TraceEvent) -> str:
    message = event.message
    if message is None:
        return "(a body that cannot be read)"
    return compact_json(codec(type(message), event.version).to_json(message, mask=True))
