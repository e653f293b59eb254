"""The releases of Kafka that real brokers run here and that its Java classes are taken from.

A new release is a change of `NEWEST` and `BEFORE_NEWEST`; `tools/definitions/releases.py` has all
whose versions of apis are known.
"""

NEWEST = "4.4.0"
#: Brokers of this release are compared by hand and in ``make explore`` alone.
BEFORE_NEWEST = "4.3.1"
LAST_WITH_ZOOKEEPER = "3.9.2"
