"""Which values are secrets, and the text that is shown in their place."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

#: Shown instead of a secret, in every output.
MASK = "********"

#: The topic of KRaft's own log: its records hold SCRAM credentials, token HMACs and configs.
METADATA_TOPIC = "__cluster_metadata"
#: Its id, in every cluster.
METADATA_TOPIC_ID = UUID(int=1)
#: Attributes that name the topic of what a struct holds.
TOPIC_NAMES = ("topic", "name", "topic_name")

_SECRET_NAME = re.compile(
    # Anywhere in a name, as in database.password.
    r"password|passwd|passphrase|passcode|pwd|secret|jaas|credential|private|token|authorization"
    r"|keystore\.certificate\.chain|truststore\.certificates"
    r"|(api|access|account)[._-]?key|connection[._-]?string|keyfile"
    # At its end: confluent.license, and not confluent.license.topic; accountKey, and not monkey.
    r"|(^|[._-])(key|pass)$|licen[cs]e$|user[._-]?info$|(?-i:[a-z0-9]Key)$",
    re.IGNORECASE,
)


class MaskedStruct(msgspec.Struct, frozen=True):
    """A struct that has secrets: ``repr`` and rich show its fields as `_shown` gives them."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({fields})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, self._shown(name)) for name in self.__struct_fields__]

    def _shown(self, field: str) -> Any:
        raise NotImplementedError


def is_secret_name(name: object) -> bool:
    """Whether a config of that name holds a password, a key or a JAAS login.

    Kafka and the makers of connectors mark such configs ``ConfigDef.Type.PASSWORD``; on the wire
    only the name is left, so that a few harmless ones (``delegation.token.max.lifetime.ms``) are
    taken for secrets too. A password inside of a value, as in a URL, is not seen.
    """
    if type(name) is str:
        return _is_secret_text(name)
    # The cache keeps texts, not objects of a subclass, whose methods might also answer for others.
    return isinstance(name, str) and _is_secret_text(str.__str__(name))


@lru_cache(maxsize=4096)
def _is_secret_text(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def is_metadata_topic(struct: object) -> bool:
    """Whether a struct of a message is about KRaft's own log: its records are secrets."""
    topic_id = getattr(struct, "topic_id", None)
    if isinstance(topic_id, UUID) and topic_id.int == METADATA_TOPIC_ID.int:
        return True
    return any(getattr(struct, name, None) == METADATA_TOPIC for name in TOPIC_NAMES)
