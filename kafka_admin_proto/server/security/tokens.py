"""Tokens of OAUTHBEARER without a signature, which anybody can make: for tests.

Kafka takes them where its brokers have no validator of their own
(``OAuthBearerUnsecuredValidatorCallbackHandler``).
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, TypeGuard

from kafka_admin_proto.protocol.connection.sasl_server import TokenOwner

#: Java's longs have the milliseconds of dates.
MAX_MS = (1 << 63) - 1
#: Header and claims in base64url, and no signature behind the second period.
_TOKEN = re.compile(r"([A-Za-z0-9_-]+=*)\.([A-Za-z0-9_-]+=*)\.")


def unsecured_owner_of(token: str, now_ms: float) -> TokenOwner | None:
    """The claim ``sub`` of a token that is valid at that time, None for any other.

    As in Kafka it says when it ends (``exp``), and may say since when it is (``iat``).
    """
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    header, claims = _json_object(found[1]), _json_object(found[2])
    if header.get("alg") != "none":
        return None
    owner, ends_s, since_s = claims.get("sub"), claims.get("exp"), claims.get("iat")
    if not isinstance(owner, str) or not owner.strip() or not _is_number(ends_s):
        return None
    # Kafka rounds to milliseconds, so that a token counts within the one in which it was made.
    if since_s is not None and not (
        _is_number(since_s) and since_s * 1000 < now_ms + 0.5 and since_s < ends_s
    ):
        return None
    if not now_ms + 0.5 <= ends_s * 1000:
        return None
    return TokenOwner(owner, int(min(ends_s * 1000, MAX_MS) + 0.5) - int(now_ms))


def _json_object(text: str) -> dict[str, Any]:
    """The JSON object in a part of a token; an empty one for text that holds no object."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        found = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
