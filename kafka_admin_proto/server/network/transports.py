"""Freeing the transports of connections that have ended."""

from __future__ import annotations

import asyncio


def release(transport: asyncio.BaseTransport | None) -> None:
    """Break the reference cycle of a transport whose connection is lost, so that it is freed.

    asyncio's transports keep a bound method of themselves in this attribute. Without this, the
    transport and its socket stay until the cyclic collector runs, which is rare in a server
    (``gc_tuning``). The attribute is not used after the protocol's ``connection_lost``.
    """
    getattr(transport, "__dict__", {}).pop("_read_ready_cb", None)
