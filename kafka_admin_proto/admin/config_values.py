"""Values of configs: compared as a broker spells them, and masked where they may be secrets.

A config that was set to "0.50" is described as "0.5", "TRUE" as "true", "compact, delete" as
"compact,delete".
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from kafka_admin_proto.wire.secrets import MASK, is_secret_name


def masked_configs(configs: Mapping[str, str | None]) -> dict[str, str | None]:
    """The configs with a mask for each value whose name is that of a credential."""
    return {name: MASK if is_secret_name(name) else value for name, value in configs.items()}


def same_value(one: str | None, other: str | None) -> bool:
    """Whether a broker would read the same number, truth value, list or text out of both.

    None stands for no value, which is none of these.
    """
    if one is None or other is None or one == other:
        return one == other
    mine, theirs = _items(one), _items(other)
    return len(mine) == len(theirs) and all(map(_same_item, mine, theirs))


def _items(text: str) -> list[str]:
    return [each.strip() for each in text.split(",")]


def _same_item(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.lower() in ("true", "false"):
        return one.lower() == other.lower()
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False
