"""Libraries of other projects that Kafka's classes need, by their coordinates on Maven Central."""

from __future__ import annotations

from tools.kafka_releases import BEFORE_NEWEST, NEWEST

#: Kafka's JSON.
JACKSON = (
    "com.fasterxml.jackson.core:jackson-databind:2.16.2",
    "com.fasterxml.jackson.core:jackson-core:2.16.2",
    "com.fasterxml.jackson.core:jackson-annotations:2.16.2",
)
#: The codecs of record batches.
COMPRESSION = (
    "org.xerial.snappy:snappy-java:1.1.10.5",
    "com.github.luben:zstd-jni:1.5.6-10",
    "org.lz4:lz4-java:1.8.0",
)
#: Kafka's logging, and the binding that drops all of it.
SLF4J = ("org.slf4j:slf4j-api:1.7.36", "org.slf4j:slf4j-nop:1.7.36")
#: What binds 4.x's slf4j to its log4j: no artifact depends on it, Kafka's packaging adds it.
LOG4J2_BINDING = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"
#: Spark's Kafka source and sink: the newest published ones, which run on the next release, too.
SPARK_KAFKA = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
#: Applications of Kafka's, by the name of the folder of their jars; Maven finds what they need. The
#: file connectors were not published with 4.4.0, and those of 4.3.1 do not load in Connect 4.4.0.
APPLICATIONS = {
    "streams": (f"org.apache.kafka:kafka-streams:{NEWEST}", LOG4J2_BINDING),
    "connect": (
        f"org.apache.kafka:connect-runtime:{BEFORE_NEWEST}",
        f"org.apache.kafka:connect-file:{BEFORE_NEWEST}",
        LOG4J2_BINDING,
    ),
}
