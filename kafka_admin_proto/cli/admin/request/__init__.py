"""``kap request``: any request of the protocol, from JSON, and its response as JSON."""
