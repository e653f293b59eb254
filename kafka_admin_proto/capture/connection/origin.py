"""Where the frames of a connection come from: the file, the endpoints, and who is the client."""

from __future__ import annotations

from typing import Any


class Origin:
    """``capture`` is the file of the current packet, ``name`` is ``client-server`` as text.

    ``client`` is the end that is the client, 0 or 1, and None as long as it is not known; the name
    then begins with end 0.
    """

    def __init__(self, ends: tuple[str, str], suffix: str, client: int | None) -> None:
        self.ends: tuple[str, str] = ends
        self.suffix: str = suffix
        self.capture: str = ""
        self.name: str = ""
        self.client: int | None = None
        self.set_client(client)

    def set_client(self, client: int | None) -> None:
        """The client is known now."""
        self.client = client
        first = client or 0
        self.name = f"{self.ends[first]}-{self.ends[1 - first]}{self.suffix}"

    def fields(self, offset: int, ts: int) -> dict[str, Any]:
        """The fields of a frame that say where it came from."""
        client = self.client
        return {
            "capture": self.capture,
            "connection": self.name,
            "stream_offset": offset,
            "ts": ts,
            "client": None if client is None else self.ends[client],
            "server": None if client is None else self.ends[1 - client],
        }
