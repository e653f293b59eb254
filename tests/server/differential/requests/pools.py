"""Names and configs that steps are drawn from: usual ones first, edges and mistakes behind."""

from __future__ import annotations

from uuid import UUID

#: Names of groups and of subscriptions to clients' metrics.
RESOURCES = ("one", "two")
#: A topic id that no cluster has.
FOREIGN = UUID("12345678-1234-4234-8234-123456789012")
NAMES = [
    "a", "b", "c", "d", "a.b", "a_b", "a.b_c", "a_b.c", "UPPER-case", "x" * 249,
    "__share_group_state", "__consumer_offsets",
]  # fmt: skip
ODD_NAMES = [
    "", ".", "..", "x" * 250, "sp ace", "caf\u00e9", "a/b", "__cluster_metadata", "...",
    "\U0001f600", "x" * 260, "null\0",
]  # fmt: skip
_TOPIC_CONFIGS: dict[str, list[str]] = {
    "retention.ms": ["1000", "-1", "-2", "x", " 7 ", "", "9223372036854775808", "+5", "1e3"],
    "retention.bytes": ["-1", "0", "-5", "1_000"],
    "cleanup.policy": ["compact", "delete", "compact,delete", "compact, delete", "", "foo",
                       "delete,delete", "delete,", "DELETE", "none"],
    "segment.bytes": ["1048576", "1", "13", "2147483648", "0x10", "-1"],
    "segment.ms": ["1", "0", "604800000"],
    "min.insync.replicas": ["1", "2", "0", "7", "-1"],
    "min.cleanable.dirty.ratio": ["0", "1", "0.25", "1.5", "-0.1", "abc", "1e-5", "NaN", ".5"],
    "compression.type": ["zstd", "none", "uncompressed", "ZSTD", "producer", "gzip"],
    "compression.gzip.level": ["-1", "1", "9", "0", "10"],
    "compression.zstd.level": ["3", "-131072", "23"],
    "compression.lz4.level": ["0", "17"],
    "preallocate": ["true", "FALSE", "maybe", " true", "1"],
    "message.timestamp.type": ["CreateTime", "LogAppendTime", "createtime"],
    "message.timestamp.after.max.ms": ["1", "-1"],
    "leader.replication.throttled.replicas": ["*", "0:1", "0:1,1:2", "0:1,*", "a", "", "0:1,"],
    "follower.replication.throttled.replicas": ["0:1", "x:y"],
    "min.compaction.lag.ms": ["0", "100", "10"],
    "max.compaction.lag.ms": ["5", "100", "0"],
    "unclean.leader.election.enable": ["true", "false", "yes"],
    "max.message.bytes": ["0", "-1", "1000012"],
    "index.interval.bytes": ["0", "-1"],
    "flush.messages": ["1", "0"],
    "flush.ms": ["0", "1000"],
    "file.delete.delay.ms": ["0", "-1"],
    "remote.storage.enable": ["false", "true"],
    "local.retention.ms": ["-2", "-3", "5"],
    "local.retention.bytes": ["-2", "10"],
    "remote.log.copy.disable": ["true"],
    "remote.log.delete.on.disable": ["true", "x"],
    "delete.retention.ms": ["0", "-1"],
    "message.format.version": ["2.8", "0.1"],
    "message.downconversion.enable": ["true"],
    "max.decompressed.message.bytes": ["1", "0", "2147483639", "2147483640", "x"],
    "remote.copy.lag.ms": ["-1", "-2", "5"],
    "remote.copy.lag.bytes": ["0", "x"],
    "errors.deadletterqueue.group.enable": ["true", "x"],
    "no.such.config": ["1"],
    "Retention.ms": ["1"],
    "": ["", "1"],
    "zz": ["1"],
}  # fmt: skip
_BROKER_CONFIGS: dict[str, list[str]] = {
    "log.retention.ms": ["1000000", "-1", "x", "0"],
    "log.retention.bytes": ["-1", "1000000"],
    "message.max.bytes": ["1000000", "-1", "x"],
    "log.segment.bytes": ["1048576", "1", "2000000"],
    "log.cleaner.delete.retention.ms": ["86400000", "-1"],
    "log.cleaner.min.cleanable.ratio": ["0.5", "2"],
    "log.cleanup.policy": ["delete", "compact", "compact,delete", "foo", ""],
    "compression.type": ["producer", "zstd", "foo"],
    "min.insync.replicas": ["1", "2", "0", "x"],
    "unclean.leader.election.enable": ["false", "x"],
    "log.message.timestamp.type": ["CreateTime", "LogAppendTime", "x"],
    "num.io.threads": ["4", "100", "1", "0"],
    "background.threads": ["10", "2"],
    "log.cleaner.min.compaction.lag.ms": ["0", "5"],
    "log.cleaner.max.compaction.lag.ms": ["1", "1000"],
    "log.roll.ms": ["1000", "0"],
    "num.partitions": ["2"],
    "default.replication.factor": ["2"],
    "node.id": ["7"],
    "log.retention.hours": ["5"],
    "log.preallocate": ["false", "true"],
    "max.connections.per.ip": ["1000", "-1"],
    "no.such.config": ["1", ""],
    "leader.replication.throttled.rate": ["1000000", "-1", "x"],
    "ssl.keystore.password": ["secret"],
    "max.connections": ["10000"],
    "log.index.interval.bytes": ["4096"],
    "log.local.retention.ms": ["-2", "5", "-1", "-3", "99999999999"],
    "log.local.retention.bytes": ["10", "-1"],
    "log.remote.copy.lag.ms": ["0", "5", "-1", "-2", "99999999999"],
    "log.remote.copy.lag.bytes": ["0", "99999999999"],
    "max.decompressed.message.bytes": ["1048576", "0", "2147483640"],
    "errors.deadletterqueue.topic.name.prefix": ["x.", ""],
    "group.consumer.assignor.offload.enable": ["false", "x"],
    "log.flush.interval.ms": ["1000"],
}  # fmt: skip
_GROUP_CONFIGS: dict[str, list[str]] = {
    "consumer.session.timeout.ms": ["45000", "50000", "1", "x", "0", "99999999", "5000"],
    "consumer.heartbeat.interval.ms": ["5000", "1", "100000", "15000"],
    "share.session.timeout.ms": ["45000", "1"],
    "share.record.lock.duration.ms": ["15000", "1000", "9999999", "5"],
    "share.delivery.count.limit": ["5", "1", "99999"],
    "share.auto.offset.reset": ["latest", "earliest", "x", "by_duration:PT1H"],
    "share.isolation.level": ["read_committed", "x"],
    "streams.num.standby.replicas": ["0", "1", "99", "-1"],
    "streams.session.timeout.ms": ["45000", "1"],
    "consumer.assignment.interval.ms": ["1000", "-1", "99999"],
    "consumer.assignor.offload.enable": ["false", "x"],
    "streams.assignor.name": ["sticky", "x", ""],
    "streams.rack.aware.assignment.tags": ["a,b", "a,a", "a ,a", "", " ", "a,", ",,"],
    "streams.num.warmup.replicas": ["1", "99", "-1"],
    "streams.task.offset.interval.ms": ["60000", "1", "0"],
    "errors.deadletterqueue.topic.name": ["dlq.a", "__x", "", "b", "sp ace"],
    "errors.deadletterqueue.copy.record.enable": ["true", "x"],
    "no.such.config": ["1"],
}
_METRICS_CONFIGS: dict[str, list[str]] = {
    "interval.ms": ["100", "99", "3600000", "3600001", "x", "60000"],
    "metrics": ["*", "", "org.apache.kafka", "a,b"],
    "match": ["client_id=x", "client_id=[", "foo=bar", "client_id", "", "client_id=a=b",
              "client_id=a,client_source_port=9"],
    "no.such.config": ["1"],
}  # fmt: skip
#: Loggers that a real broker has not either: there are none here whose level could be set.
_LEVELS = {"no.such.logger": ["INFO", "x", ""], "": ["INFO"]}
#: Values of configs by type of resource and by name.
CONFIGS: dict[int, dict[str, list[str]]] = {
    2: _TOPIC_CONFIGS, 4: _BROKER_CONFIGS, 8: _LEVELS, 16: _METRICS_CONFIGS, 32: _GROUP_CONFIGS,
}  # fmt: skip
