"""What asyncio leaves of a connection that has ended."""

from __future__ import annotations

import asyncio


def release(transport: asyncio.BaseTransport | None) -> None:
    """Let a transport whose connection is lost be freed at once.

    asyncio's own keeps a bound method of itself in this attribute, so that it and its socket would
    stay until the cyclic collector comes, which is rare in a server (``gc_tuning``). Nothing reads
    from a transport any more once its protocol's ``connection_lost`` is called.
    """
    getattr(transport, "__dict__", {}).pop("_read_ready_cb", None)
