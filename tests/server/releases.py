"""The releases of Kafka that a run starts real brokers of."""

from __future__ import annotations

import os

#: By hand both: brokers of 3.9 are slow to hear of changes.
RELEASES = os.environ.get("KAFKA_ADMIN_PROTO_RELEASES", "4.3.1").split(",")
