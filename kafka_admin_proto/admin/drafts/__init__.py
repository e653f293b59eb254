"""KIP-4's drafts: ``AdminClient(dialect="kip-4b")`` sends the messages of a draft.

What a draft has no message for is asked with Kafka's own; docs/drafts.md has the table of both.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.wire.types.base import shown

Dialect = Literal["kafka", "kip-4a", "kip-4b"]


@cache
def client_class(kind: type[Any], dialect: str) -> type[Any]:
    """A client's class whose operations send that draft's messages where it has them.

    Raises ConfigurationError for what is no draft.
    """
    if dialect not in get_args(Dialect):
        known = ", ".join(map(repr, get_args(Dialect)))
        raise ConfigurationError(f"dialect is {shown(dialect)}; it is {known}")
    from kafka_admin_proto.admin.drafts.altering import ReassignByDraft
    from kafka_admin_proto.admin.drafts.elections import ElectByDraft
    from kafka_admin_proto.admin.drafts.topics import CreateDraftTopics, DraftTopics

    bases: list[type[Any]] = [DraftTopics, ReassignByDraft]
    if dialect == "kip-4b":
        bases += [CreateDraftTopics, ElectByDraft]
    return type(f"Draft{kind.__name__}", (*bases, kind), {"dialect": dialect})
