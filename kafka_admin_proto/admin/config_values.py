"""Values of configs: texts, compared as a broker spells them, masked where they may be secrets.

A config that was set to "0.50" is described as "0.5", "TRUE" as "true", "compact, delete" as
"compact,delete", "0.1234567890123456789" as the nearest double, "0.12345678901234568".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from kafka_admin_proto.arguments import check_fields
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct, is_secret_name

_WHOLE = re.compile(r"[+-]?[0-9]+")


class ConfigSetter(MaskedStruct, frozen=True):
    """The base of what sets configs: ``config_fields`` are its fields with values by their names.

    A value that is no text is a TypeError when the object is made: 1e3 has several spellings, and
    what was meant is not guessed. In ``repr`` a value whose name is that of a credential is masked.
    """

    config_fields: ClassVar[tuple[str, ...]] = ("configs",)

    def __post_init__(self) -> None:
        kind = type(self).__name__
        for field in self.config_fields:
            values = getattr(self, field)
            for name, value in values.items() if isinstance(values, Mapping) else ():
                if not isinstance(value, str | None):
                    raise TypeError(
                        f"{kind}: config {name!r} in {field} is given as {type(value).__name__}; "
                        'the value of a config is a text, such as "1000", "0.5" or "true"'
                    )
        check_fields(self, kind)

    def _shown(self, field: str) -> Any:
        value = getattr(self, field)
        if field not in self.config_fields:
            return value
        return {name: MASK if is_secret_name(name) else text for name, text in value.items()}


def same_value(one: str | None, other: str | None) -> bool:
    """Whether a broker would read the same number, truth value, list or text out of both.

    None stands for no value, which is none of these. A broker from 4.x on drops what a list names
    again, and those before read such a list alike.
    """
    if one is None or other is None or one == other:
        return one == other
    mine, theirs = _items(one), _items(other)
    return len(mine) == len(theirs) and all(map(_same_item, mine, theirs))


def _items(text: str) -> list[str]:
    return list(dict.fromkeys(each.strip() for each in text.split(",")))


def _same_item(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.lower() in ("true", "false"):
        return one.lower() == other.lower()
    try:
        if _WHOLE.fullmatch(one) and _WHOLE.fullmatch(other):
            return int(one) == int(other)
        return float(one.rstrip("dDfF")) == float(other.rstrip("dDfF"))  # as Java reads doubles
    except ValueError:
        return False
