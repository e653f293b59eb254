"""The endpoints of a connection: their texts, who is the client, and the name that follows."""

from __future__ import annotations


class Endpoints:
    """``capture`` is the file of the current packet, ``name`` is ``client-server`` as text.

    ``client`` is the end that is the client, 0 or 1, and None as long as it is not known; the name
    then begins with end 0. ``client_text`` and ``server_text`` are None until then, too.
    """

    __slots__ = ("capture", "client", "client_text", "ends", "name", "server_text", "suffix")

    def __init__(self, ends: tuple[str, str], suffix: str, client: int | None) -> None:
        self.ends: tuple[str, str] = ends
        self.suffix: str = suffix
        self.capture: str = ""
        self.name: str = ""
        self.client: int | None = None
        self.client_text: str | None = None
        self.server_text: str | None = None
        self.set_client(client)

    def set_client(self, client: int | None) -> None:
        self.client = client
        if client is not None:
            self.client_text, self.server_text = self.ends[client], self.ends[1 - client]
        first = client or 0
        self.name = f"{self.ends[first]}-{self.ends[1 - first]}{self.suffix}"
