"""The rules of topic ids, each once: what KIP-516's text says, and what Kafka shipped.

    TEXT.unequal_id          # "replace": what a broker under the text's rules asks
    SHIPPED.unequal_id       # "refuse"
    replace(TEXT, full_reconciles="never")    # a mutant

``TABLE`` has a row for each: the question, both answers in words and values, and where they come
from. ``Rules`` is made of one column of it. Sources name lines of the text (``t53``) and
classes of Kafka 3.9 (``ReplicaManager.becomeLeaderOrFollower``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from kafka_admin_proto.protocol import codes

__all__ = ["RULES_BY_NAME", "SHIPPED", "TABLE", "TEXT", "Answer", "Rule", "Rules"]


@dataclass(frozen=True, slots=True)
class Rules:
    """One column of the table: the values that nodes ask for. ``TABLE`` says what each is."""

    dialect: Literal["kip-516", "kafka"]
    #: "ignore", "never", and False where both columns have True: mutants alone have these.
    unequal_id: Literal["replace", "refuse", "ignore"]
    full_reconciles: Literal["always", "migration", "never"]
    stray_folder: Literal["delete", "stray"]
    stray_without_id: Literal["reconcile", "fail"]
    zero_id_in_full: Literal["no id", "another"]
    full_update_forgets: Literal["first", "migration", "never"]
    unknown_deletion_keeps_id: bool
    ids_resolved_by: Literal["replicas", "metadata"]
    fetch_of_unequal_id: int
    fetch_of_unknown_id: int
    fetch_session_of_other_kind: int
    missing_file_written: bool
    ids_read_back: bool
    epochs_compared: bool
    stale_controller_epoch: int
    stale_broker_epoch: int
    stale_leader_epoch: int
    not_a_replica: int
    stop_fenced: int
    stop_unknown: int
    deleting_delay_ms: int
    deletion_answered: Literal["at_once", "when_gone"]
    deletion_gives_up: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A sentence, and the value of ``Rules``; None where the messages' layout is the rule."""

    value: Any
    words: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table; ``name`` is the field of ``Rules``, if it has values."""

    name: str
    question: str
    text: Answer
    shipped: Answer
    source: str


def _same(name: str, question: str, value: Any, words: str, source: str) -> Rule:
    """A rule whose two answers are one: the text says it, or is silent and what shipped holds."""
    answer = Answer(value, words)
    return Rule(name, question, answer, answer, source)


TABLE: tuple[Rule, ...] = (
    Rule(
        "dialect",
        "Whose definitions are messages read by?",
        Answer("kip-516", "the draft's, and Kafka's where the draft has none"),
        Answer("kafka", "Kafka's"),
        "docs/decisions.md",
    ),
    Rule(
        "unequal_id",
        "LeaderAndIsr names another id than the partition's log has",
        Answer("replace", "the log is closed and moved to the deleting folder, a new one is made"),
        Answer("refuse", "INCONSISTENT_TOPIC_ID for the partition, the disk stays as it is"),
        "t69–t75; ReplicaManager.becomeLeaderOrFollower",
    ),
    Rule(
        "full_reconciles",
        "LeaderAndIsr of type FULL lacks partitions that the broker has",
        Answer("always", "they are stale, and moved away before anything else"),
        Answer("migration", "nothing; moved away only while migrating, by a KRaft controller's"),
        "t53; ReplicaManager.updateStrayLogs",
    ),
    Rule(
        "stray_folder",
        "Where do reconciled partitions go?",
        Answer("delete", "to the deleting folder, which is emptied later"),
        Answer("stray", "to a folder ending in -stray, which is kept"),
        "t53, t75; LogManager.addStrayLog",
    ),
    Rule(
        "stray_without_id",
        "FULL reconciles, and a log has no id",
        Answer("reconcile", "stale if the request does not name the partition"),
        Answer("fail", "UNKNOWN_SERVER_ERROR for the whole request, nothing is done"),
        "t53; LogManager.findStrayReplicas",
    ),
    Rule(
        "zero_id_in_full",
        "FULL reconciles, and names a partition with the zero id whose log has one",
        Answer("no id", "the partition stays, as missing_id says"),
        Answer("another", "the partition is stale, as with any other id"),
        "the text is silent; LogManager.findStrayReplicas",
    ),
    Rule(
        "full_update_forgets",
        "UpdateMetadata lacks topics that the broker knows",
        Answer(
            "first",
            "a leader of -2 deletes them; the draft has no type, so that a controller's first "
            "one to a registered broker is taken for FULL, and they are forgotten",
        ),
        Answer(
            "migration",
            "a leader of -2 deletes them; they are forgotten only while migrating, when a KRaft "
            "controller's is FULL",
        ),
        "t19, t53; ZkMetadataCache.transformKRaftControllerFullMetadataRequest",
    ),
    Rule(
        "unknown_deletion_keeps_id",
        "UpdateMetadata has a leader of -2 for a topic that the broker does not know",
        Answer(False, "nothing is kept"),
        Answer(True, "the topic's id is kept, without a partition"),
        "the text is silent; ZkMetadataCache.updateMetadata",
    ),
    Rule(
        "stop_by_id",
        "What does StopReplica v4 name?",
        Answer(None, "the topic's id: a replica with another id is not touched"),
        Answer(None, "the topic's name, whatever id the log has"),
        "t47; StopReplicaRequest.json",
    ),
    Rule(
        "offsets_by_id",
        "Do ListOffsets and OffsetForLeaderEpoch know ids?",
        Answer(None, "in v6 and v4, and only the replica with that id answers"),
        Answer(None, "in no version: a stale replica answers by name"),
        "t65; ListOffsetsRequest.json, OffsetForLeaderEpochRequest.json",
    ),
    Rule(
        "ids_resolved_by",
        "A request names an id: whose partition is it?",
        Answer("replicas", "that of the replica whose log has the id"),
        Answer("metadata", "that of the name which UpdateMetadata gave the id"),
        "t65; KafkaApis.handleFetchRequest",
    ),
    Rule(
        "fetch_of_unequal_id",
        "Fetch names a known id, and the log has another",
        Answer(codes.UNKNOWN_TOPIC_ID, "UNKNOWN_TOPIC_ID: no replica here has the id"),
        Answer(codes.INCONSISTENT_TOPIC_ID, "INCONSISTENT_TOPIC_ID"),
        "t65; ReplicaManager.readFromLog",
    ),
    _same(
        "fetch_of_unknown_id",
        "Fetch names an id that the broker never heard of",
        codes.UNKNOWN_TOPIC_ID,
        "UNKNOWN_TOPIC_ID",
        "t65; KafkaApis.handleFetchRequest",
    ),
    _same(
        "fetch_session_of_other_kind",
        "Fetch by id in a session that was opened by name, or the reverse",
        codes.FETCH_SESSION_TOPIC_ID_ERROR,
        "FETCH_SESSION_TOPIC_ID_ERROR",
        "the text is silent; FetchManager.newContext",
    ),
    _same(
        "missing_id",
        "LeaderAndIsr has no id, or the zero id, and the log has one",
        None,
        "the log keeps its id, the epochs decide about the rest",
        "the text is silent; ReplicaManager.hasConsistentTopicId",
    ),
    _same(
        "missing_file_written",
        "LeaderAndIsr has an id, and the log has none",
        True,
        "the log takes it and the file is written, even at an equal leader epoch",
        "t75, t96; UnifiedLog.assignTopicId",
    ),
    _same(
        "epochs_compared",
        "Are the epochs of controller, broker and leader looked at?",
        True,
        "before ids of single partitions where they are the request's, after them where a leader's",
        "the text is silent; KafkaApis, ReplicaManager",
    ),
    _same(
        "stale_controller_epoch",
        "A controller's request has a lower controller epoch than an earlier one",
        codes.STALE_CONTROLLER_EPOCH,
        "STALE_CONTROLLER_EPOCH, nothing is done",
        "the text is silent; ReplicaManager",
    ),
    _same(
        "stale_broker_epoch",
        "A controller's request has a lower broker epoch than the broker's own, and not -1",
        codes.STALE_BROKER_EPOCH,
        "STALE_BROKER_EPOCH, nothing is done",
        "the text is silent; ZkBrokerEpochManager.isBrokerEpochStale",
    ),
    _same(
        "stale_leader_epoch",
        "LeaderAndIsr has the log's id and a leader epoch that is not higher",
        codes.STALE_CONTROLLER_EPOCH,
        "STALE_CONTROLLER_EPOCH for the partition",
        "the text is silent; ReplicaManager.becomeLeaderOrFollower",
    ),
    _same(
        "equal_leader_epoch",
        "LeaderAndIsr v6 and later of a KRaft controller has an equal leader epoch",
        None,
        "it is taken as a higher one",
        "the text is silent; ReplicaManager.becomeLeaderOrFollower",
    ),
    _same(
        "not_a_replica",
        "LeaderAndIsr names a partition of which the broker is no replica",
        codes.UNKNOWN_TOPIC_OR_PARTITION,
        "UNKNOWN_TOPIC_OR_PARTITION for the partition",
        "the text is silent; ReplicaManager.becomeLeaderOrFollower",
    ),
    _same(
        "stop_fenced",
        "StopReplica has a lower leader epoch than the replica, and not -1 or -2",
        codes.FENCED_LEADER_EPOCH,
        "FENCED_LEADER_EPOCH for the partition",
        "the text is silent; ReplicaManager.stopReplicas",
    ),
    _same(
        "stop_unknown",
        "StopReplica names what the broker does not have",
        codes.NONE,
        "NONE: there is nothing left to do",
        "t51; ReplicaManager.stopReplicas",
    ),
    _same(
        "stop_without_delete",
        "StopReplica does not ask to delete",
        None,
        "the folder stays, with its file",
        "the text is silent; ReplicaManager.stopPartitions",
    ),
    _same(
        "deleting_delay_ms",
        "How long does a folder stay in the deleting folder?",
        60_000,
        "a minute: it is named ….<32 hex digits>-delete, on a restart the time begins anew",
        "t75; LogManager.asyncDelete, file.delete.delay.ms",
    ),
    _same(
        "ids_read_back",
        "What does a broker know after a restart?",
        True,
        "the ids in its partition.metadata files; leader epochs are forgotten",
        "t94; UnifiedLog.initializeTopicId",
    ),
    _same(
        "unreadable_file",
        "partition.metadata has the zero id, or does not read",
        None,
        "the broker does not start",
        "the text is silent; LogManager.loadLogs",
    ),
    _same(
        "move_carries_file",
        "A partition moves to another log directory",
        None,
        "the file is there as well, with the same id",
        "t248; Partition.maybeCreateFutureReplica",
    ),
    Rule(
        "deletion_answered",
        "When does the controller answer DeleteTopics?",
        Answer("at_once", "at once: the topic is out of the store, its name free; after the bump"),
        Answer("when_gone", "when every replica has gone, or at the request's timeout"),
        "t38; TopicDeletionManager",
    ),
    Rule(
        "deletion_gives_up",
        "A replica's StopReplica never succeeds",
        Answer(True, "after a number of tries and a time it is left to the next FULL"),
        Answer(False, "it is sent again when the broker is back, without end"),
        "t53; TopicDeletionManager.failReplicaDeletion",
    ),
)


def _column(which: Literal["text", "shipped"]) -> Rules:
    answers = {rule.name: getattr(rule, which) for rule in TABLE}
    return Rules(**{field.name: answers[field.name].value for field in fields(Rules)})


#: What a broker and a controller do by the text.
TEXT = _column("text")
#: What they do in Kafka 3.9.
SHIPPED = _column("shipped")
#: Name of a column → its rules.
RULES_BY_NAME: Mapping[str, Rules] = {"text": TEXT, "shipped": SHIPPED}
