"""What a cluster must have for a job of this package: a master, and workers with the same release.

Spark itself says little of either: it looks for a master for minutes, and tasks of another release
fail of whatever has changed between the two.
"""

from __future__ import annotations

import re
import socket

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.version import __version__

#: Seconds that a master has to take a connection.
_CONNECT_TIMEOUT_S = 5
_STANDALONE = re.compile(r"spark://(.+)")


class ClusterError(KafkaAdminProtoError):
    """The cluster cannot run the job; the message says what it lacks."""


def require_master(master: str) -> None:
    """Raise ClusterError where a standalone master takes no connection, of several none."""
    match = _STANDALONE.fullmatch(master)
    if match is None:
        return
    reasons = []
    for address in match[1].split(","):
        host, _, port = address.rpartition(":")
        if not (host and port.isdecimal()):
            return  # Spark says what is wrong with it
        try:
            where = host.strip("[]"), int(port)
            socket.create_connection(where, _CONNECT_TIMEOUT_S).close()
            return
        except (OSError, OverflowError) as error:
            reasons.append(f"{address}: {getattr(error, 'strerror', None) or error}")
    raise ClusterError(
        f"no Spark master answers at {master} ({'; '.join(reasons)}): start it, or name another one"
    )


def require_version(driver: str) -> None:
    """Raise ClusterError in a task whose package is another release than the driver's."""
    if driver != __version__:
        raise ClusterError(
            f"a worker has kafka-admin-proto {__version__}, and the driver {driver}: install one "
            "release on all of them"
        )
