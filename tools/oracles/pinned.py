"""Every artifact that tests take from Maven Central, by name and version: the one place for them.

``make jars`` brings all of them into the checkout's cache. CI does that before its tests, which run
with KAFKA_ADMIN_PROTO_NO_FETCH=1 then: a test that needs anything else fails with a sentence. What
``make explore`` alone needs is fetched by its tests: Kafka's applications (``libraries.py``), and
brokers of older releases.
"""

from __future__ import annotations

from kafka_admin_proto.protocol.releases import releases
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import definition_artifacts, fetch, fetch_of_each, fetch_runtime
from tools.oracles.libraries import COMPRESSION, JACKSON, SLF4J, SPARK_KAFKA

#: What programs of the tests need of a release, beside the definitions.
_OTHERS = {
    NEWEST: ("kafka-server-common",),
    LAST_WITH_ZOOKEEPER: ("kafka-server-common", "kafka_2.13"),
}


def bring() -> None:
    """Fetch what is not in the cache yet. Raises FetchError or ToolMissingError."""
    fetch_of_each([each.patch for each in releases()], "kafka-clients")
    for release, others in _OTHERS.items():
        fetch(release, [*definition_artifacts(release), *others, *SLF4J, *JACKSON, *COMPRESSION])
        fetch_runtime(release)
    fetch("spark-kafka", SPARK_KAFKA)


if __name__ == "__main__":
    bring()
