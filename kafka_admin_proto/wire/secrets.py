"""Which values are secrets, and what stands in their place."""

from __future__ import annotations

import re
from functools import lru_cache

#: Shown instead of a secret, in every output.
MASK = "********"

_SECRET_NAME = re.compile(
    r"password|passwd|passphrase|secret|jaas|credential|private|token"
    r"|keystore\.certificate\.chain|truststore\.certificates|(^|[._-])key$",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_secret_name(name: object) -> bool:
    """Whether a config of that name holds a password, a key or a JAAS login.

    Kafka marks such configs ``ConfigDef.Type.PASSWORD``; on the wire only the name is left, so
    that a few harmless ones (``message.key``) are taken for secrets too.
    """
    return isinstance(name, str) and _SECRET_NAME.search(name) is not None
