"""Two messages compared: what differs on the wire, field by field, and when their bytes differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import calcsize

from msgspec import Struct

from kafka_admin_proto.schema.layout import LayoutField, layout
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS

#: Values for ``Difference.bytes_differ`` beside a condition.
NEVER, ALWAYS = "never", "always"

#: The size of each fixed type: types of the same size differ only in what their bytes mean.
_SIZES = {row.name: calcsize(f">{row.code}") for row in SCALARS.values() if row.code}


class Difference(Struct, frozen=True):
    """One place where the two differ.

    ``path`` is Python's, of the left message where it has the field; ``left`` and ``right`` say
    what each has, "" for nothing. ``bytes_differ`` is "never" (a name alone), "always", or when.
    """

    path: str
    left: str
    right: str
    bytes_differ: str


def diff(
    left: MessageSpec, left_version: int, right: MessageSpec, right_version: int
) -> list[Difference]:
    """Every difference between the wire layouts of two messages, in the order of the wire."""
    differences = []
    flexible = [left.is_flexible(left_version), right.is_flexible(right_version)]
    if flexible[0] != flexible[1]:
        one, other = ("flexible" if flag else "not flexible" for flag in flexible)
        differences.append(Difference("(message)", one, other, ALWAYS))
    if left.header_versions or right.header_versions:  # else they follow from flexibility
        headers = [left.header_version(left_version), right.header_version(right_version)]
        if headers[0] != headers[1]:
            one, other = (f"header version {each}" for each in headers)
            differences.append(Difference("(header)", one, other, ALWAYS))
    fields = layout(left, left_version), layout(right, right_version)
    return differences + list(_fields(*fields, "", ""))


def verdict(differences: Sequence[Difference]) -> str:
    """In a sentence, whether the bytes of a value can differ between the two."""
    conditions = [d.bytes_differ for d in differences if d.bytes_differ != NEVER]
    if not conditions:
        return "the bytes are the same"
    if ALWAYS in conditions:
        return "the bytes always differ"
    return f"the bytes are the same except {'; '.join(dict.fromkeys(conditions))}"


def describe(field: LayoutField) -> str:
    """A field's type in the guide's words: ``COMPACT_ARRAY of UUID``, ``NULLABLE_STRING``."""
    element = SCALARS[field.element].label if field.element else "struct"
    marks = "COMPACT_" * field.compact + "NULLABLE_" * field.nullable
    label = f"{marks}ARRAY of {element}" if field.is_array else f"{marks}{element}"
    return label if field.tag is None else f"{label}, tag {field.tag}"


def _fields(
    left: tuple[LayoutField, ...], right: tuple[LayoutField, ...], prefix: str, within: str
) -> Iterator[Difference]:
    """``within``: the condition under which these fields are on the wire at all."""
    for one, other in _aligned(left, right):
        field = one or other
        assert field is not None
        path = prefix + python_name(field.name)
        if one is None or other is None:
            text = f"{python_name(field.name)}: {describe(field)}"
            when = within or ALWAYS
            if field.tag is not None:
                when = f"where {path} is not at its default"
            yield Difference(path, text if one else "", text if other else "", when)
            continue
        if difference := _field(one, other, path, within):
            yield difference
        inner = path + ("[]" if one.is_array else "")
        yield from _fields(one.fields, other.fields, f"{inner}.", _condition(one, path, within))


def _condition(field: LayoutField, path: str, within: str) -> str:
    """When the fields inside ``field`` are on the wire; "" for always."""
    if field.is_array:
        return f"where {path} has elements"
    if field.tag is not None:
        return f"where {path} is not at its default"
    return f"where {path} is not null" if field.nullable else within


def _field(one: LayoutField, other: LayoutField, path: str, within: str) -> Difference | None:
    names = python_name(one.name), python_name(other.name)
    texts = describe(one), describe(other)
    if names == names[::-1] and texts == texts[::-1]:
        return None
    if names[0] != names[1]:
        texts = f"{names[0]}: {texts[0]}", f"{names[1]}: {texts[1]}"
    return Difference(path, *texts, _when(one, other, path, within))


def _when(one: LayoutField, other: LayoutField, path: str, within: str) -> str:
    """When the bytes of two fields in the same place differ."""
    if one.tag != other.tag:
        both = one.tag is not None and other.tag is not None
        return f"where {path} is not at its default" if both else within or ALWAYS
    if _kind(one) != _kind(other):
        return within or ALWAYS
    if one.element != other.element and not {one.element, other.element} <= {"bytes", "records"}:
        return f"where {path} means another value"
    return NEVER if one.nullable == other.nullable else f"where {path} is null"


def _kind(field: LayoutField) -> tuple[bool, object]:
    """What two fields share whose bytes can be the same: size, or the form of the length."""
    length: object = "compact" if field.compact else field.is_array
    if field.element in _SIZES:
        element: object = _SIZES[field.element]
    elif field.element in ("bytes", "records") or (field.element and field.compact):
        element = "bytes"  # a compact string's length is a compact bytes' length
    else:
        element = field.element
    return field.is_array, (length, element)


def _aligned(
    left: tuple[LayoutField, ...], right: tuple[LayoutField, ...]
) -> Iterator[tuple[LayoutField | None, LayoutField | None]]:
    """Fields that correspond, in order: by name first, else by type in the same place."""
    scores = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            skip = max(scores[i + 1][j], scores[i][j + 1])
            same = _likeness(left[i], right[j])
            scores[i][j] = max(skip, same + scores[i + 1][j + 1]) if same else skip
    i = j = 0
    while i < len(left) and j < len(right):
        same = _likeness(left[i], right[j])
        if same and scores[i][j] == same + scores[i + 1][j + 1]:
            yield left[i], right[j]
            i, j = i + 1, j + 1
        elif scores[i][j] == scores[i + 1][j]:
            yield left[i], None
            i += 1
        else:
            yield None, right[j]
            j += 1
    yield from ((field, None) for field in left[i:])
    yield from ((None, field) for field in right[j:])


def _likeness(one: LayoutField, other: LayoutField) -> int:
    same_name = python_name(one.name) == python_name(other.name)
    same_type = one.type == other.type and (one.tag is None) == (other.tag is None)
    return 4 * same_name + 2 * same_type
