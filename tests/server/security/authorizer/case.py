"""A request that an authorizer refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kafka_admin_proto.values import Message


class Case(msgspec.Struct):
    """A request, the ACLs that it needs as (operation, resource), and what is refused.

    ``codes`` gives the error codes of a response.
    """

    request: Message
    needs: list[tuple[str, str]]
    error: int
    codes: Callable[[Any], list[int]]
    #: What the answer has where everything is allowed; 0 if nothing is wrong with the request.
    allowed: int = 0
