"""Failures as entries of ``errors``: which item, Kafka's name of the error, its message, a hint.

``error`` is Kafka's name of it (TOPIC_ALREADY_EXISTS), or for what no broker said the name of a
class (ConnectionFailedError): the two are never written alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_admin_proto.cli.admin.common.answer import NOT_COMPLETE as NOT_COMPLETE
from kafka_admin_proto.cli.admin.common.answer import Row, picked
from kafka_admin_proto.near_names import near_names

#: Errors of a command that did not run: wrong usage, a question not answered with yes, Ctrl-C.
USAGE, DECLINED, INTERRUPTED = "UsageError", "Declined", "Interrupted"

_BY_ID = "kap topics describe --topic-id finds the topic's name"
#: Name of an error → what to do about it.
_REMEDIES = {
    "TOPIC_ALREADY_EXISTS": "--if-not-exists leaves such topics as they are",
    "CLUSTER_AUTHORIZATION_FAILED": "the principal lacks an ACL on the cluster: kap acls list",
    "TOPIC_AUTHORIZATION_FAILED": "the principal lacks an ACL on the topic: kap acls list",
    "GROUP_AUTHORIZATION_FAILED": "the principal lacks an ACL on the group: kap acls list",
    "INVALID_REPLICATION_FACTOR": "kap cluster describe lists the live brokers",
    "NON_EMPTY_GROUP": "stop its members first: kap groups describe GROUP --members lists them",
    "NoTransaction": "kap producers describe lists those that are",
    "GROUP_ID_NOT_FOUND": "kap groups list has the groups",
    "REASSIGNMENT_IN_PROGRESS": "kap partitions list shows it",
    "TOPIC_DELETION_DISABLED": "the brokers run with delete.topic.enable=false",
    "SECURITY_DISABLED": "the brokers run without authorizer.class.name",
}


def entries(about: str, items: Iterable[Mapping[str, Any]], key: str = "name") -> list[Row]:
    """An entry for each item with an error; ``about`` names the kind of item: "topic"."""
    return [
        entry(item["error"], item.get("message"), {about: item[key]})
        for item in items
        if item.get("error")
    ]


def partition_entries(items: Iterable[Mapping[str, Any]], **about: Any) -> list[Row]:
    """An entry for each partition with an error; ``about`` is what the partitions belong to."""
    return [
        entry(item["error"], item["message"], {**about, **picked(item, "topic", "partition")})
        for item in items
        if item["error"]
    ]


def entry(error: str, message: str | None, about: Mapping[str, Any] | None = None) -> Row:
    row = {**(about or {}), "error": error, "message": message}
    if error in _REMEDIES:
        row["hint"] = _REMEDIES[error]
    return row


def incomplete(about: str, items: Iterable[Mapping[str, Any]]) -> list[Row]:
    """An entry for each item that was not seen on every broker when the time was over."""
    return [
        entry(NOT_COMPLETE, item["message"], {about: item["name"]})
        for item in items
        if item.get("complete") is False and not item.get("error")
    ]


def incomplete_partitions(items: Iterable[Mapping[str, Any]]) -> list[Row]:
    """An entry for each partition that was not seen as asked when the time was over."""
    return [
        entry(NOT_COMPLETE, item["message"], picked(item, "topic", "partition"))
        for item in items
        if item["complete"] is False and not item["error"]
    ]


def of_exception(error: BaseException) -> Row:
    """The entry for the exception that ended the command."""
    from kafka_admin_proto.admin.errors import BrokerError, ConnectionFailedError

    if isinstance(error, BrokerError):
        asked = {"operation": error.context} if error.context else {}
        return entry(error.error, error.message, error.about or asked)
    about = None
    if isinstance(error, ConnectionFailedError) and error.address not in ("", None):
        about = {"address": error.address}
    return entry(type(error).__name__, str(error), about)


def is_usage(error: BaseException) -> bool:
    """Whether the caller has to change what was asked for: a setting, a file, an argument."""
    return isinstance(error, ValueError)


def near_misses(rows: Iterable[Row], about: str, names: Iterable[str]) -> None:
    """Add "did you mean …?" to entries about a name that nothing has and others resemble."""
    known = list(names)
    for row in rows:
        if row["error"] not in ("UNKNOWN_TOPIC_OR_PARTITION", "GROUP_ID_NOT_FOUND"):
            continue
        if row.get(about) in known:  # others have it, as behind a proxy
            continue
        close = near_names(str(row.get(about)), known)
        if close:
            row["hint"] = f"did you mean {', '.join(close)}?"
        elif about == "topic" and _is_topic_id(row.get(about)):
            row["hint"] = f"{row[about]} looks like a topic id: {_BY_ID}"


def _is_topic_id(name: object) -> bool:
    from kafka_admin_proto.topic_ids import topic_id_from_text  # only for the complaint

    try:
        topic_id_from_text(str(name))
    except ValueError:
        return False
    return True
