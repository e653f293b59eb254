"""Faults on request: answers that are late, wrong, cut off or missing, for tests of clients.

    with cluster.faults.add(api="Metadata", error="UNKNOWN_SERVER_ERROR", count=2) as fault:
        ...                     # what a client does
        fault.fired             # 2

The words, their conditions, and what has fired, for a cluster of the package and for a proxy; no
sockets. ``docs/server-faults.md`` has all words.
"""
