"""The loggers of the package: few, each named after the room whose lines it has.

``kafka_admin_proto`` stands above them all. Programs give it handlers and levels; the package gives
it the NullHandler that the `logging` manual asks of libraries, without which Python would print
warnings of a program that has configured nothing. ``docs/testing.md`` lists what each logger says.
No line has a password, a token or bytes of SASL.
"""

from __future__ import annotations

import logging

PACKAGE = logging.getLogger("kafka_admin_proto")
PACKAGE.addHandler(logging.NullHandler())

#: The client: each request with its time and error codes, as DEBUG.
ADMIN = logging.getLogger("kafka_admin_proto.admin")
#: The reference cluster: connections that it closes, repairs of its files, its own errors; as INFO
#: brokers that end, start and are fenced, as DEBUG faults that fire.
SERVER = logging.getLogger("kafka_admin_proto.server")
#: Policies of an operator that fail (KIP-108).
POLICIES = logging.getLogger("kafka_admin_proto.policies")
#: The proxy: connections that it ends, and why, as ERROR; brokers that are not there, as WARNING.
PROXY = logging.getLogger("kafka_admin_proto.proxy")
#: The fixtures of pytest: where a test's cluster listens, as INFO.
TESTING = logging.getLogger("kafka_admin_proto.testing")
