"""Build Arrow arrays from raw pieces of messages: numbers, uuids, texts, and masked secrets."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.wire.secrets import MASK, is_secret_name

#: The mask that replaces secret bytes.
MASK_BYTES = MASK.encode()
#: Characters of a uuid in Kafka's form.
_UUID_TEXT = 22


def uuid_texts(raw: Any) -> pa.Array:
    """Uuids, 16 bytes each in the rows of a numpy array, in Kafka's base64 form."""
    count = len(raw)
    padded = np.zeros((count, 18), "u1")  # so that each is 24 characters, the last two to drop
    padded[:, :16] = raw
    texts = np.frombuffer(base64.urlsafe_b64encode(padded.tobytes()), "u1").reshape(count, 24)
    offsets = np.arange(0, (count + 1) * _UUID_TEXT, _UUID_TEXT, dtype=np.int32)
    data = np.ascontiguousarray(texts[:, :_UUID_TEXT])
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(data))


def texts(pieces: list[bytes | None]) -> tuple[pa.Array, bool]:
    """Texts, and whether some were not UTF-8; those have U+FFFD as `replace_invalid_utf8` does."""
    try:
        return pa.array(pieces, pa.binary()).cast(pa.string()), False
    except pa.ArrowInvalid:
        replaced = [None if piece is None else piece.decode("utf-8", "replace") for piece in pieces]
        return pa.array(replaced, pa.string()), True


def masked(values: pa.Array, where: pa.Array | None = None) -> pa.Array:
    """Replace all values that are not null by the mask, or only those ``where`` it is true.

    In a list each element is replaced. Values of types that cannot hold a mask become null.
    """
    if pa.types.is_list(values.type):
        elements = masked(values.flatten())
        lengths = pc.fill_null(pc.list_value_length(values), 0)
        return list_array(lengths.to_numpy(), pc.is_null(values), elements, values.type)
    if not (pa.types.is_binary(values.type) or pa.types.is_string(values.type)):
        return pa.nulls(len(values), values.type)
    mask = MASK_BYTES if pa.types.is_binary(values.type) else MASK
    hidden = pc.is_valid(values)
    if where is not None:
        hidden = pc.and_(hidden, where)
    return pc.if_else(hidden, pa.scalar(mask, values.type), values)


def are_secret_names(names: pa.Array) -> pa.Array:
    """For each name, whether a config of that name is a secret; each distinct name is checked
    once.
    """
    encoded = names.dictionary_encode()
    secret = [is_secret_name(name) for name in encoded.dictionary.to_pylist()]
    is_secret = pa.array(secret, pa.bool_()).take(encoded.indices)
    return pc.fill_null(is_secret, False)


def struct_array(count: int, type_: pa.StructType, children: list[pa.Array]) -> pa.StructArray:
    """A struct of ``count`` instances, none of them null; it may have no fields."""
    if not children:
        return pa.Array.from_buffers(type_, count, [None])
    return pa.StructArray.from_arrays(children, fields=list(type_))


def list_array(lengths: Any, nulls: Any, values: pa.Array, type_: pa.ListType) -> pa.ListArray:
    """Lists of these lengths over ``values``; ``nulls`` is None if no list is null."""
    nulls = None if nulls is None else np.asarray(nulls, bool)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    mask = None if nulls is None or not nulls.any() else pa.array(nulls)
    arrow_offsets = pa.array(offsets.astype(np.int32))
    return pa.ListArray.from_arrays(arrow_offsets, values, type=type_, mask=mask)


def spread(dense: pa.Array, places: Any, count: int, absent: Any = None) -> pa.Array:
    """An array of ``count`` values with ``dense[i]`` at index ``places[i]``, ``absent`` elsewhere.

    If an index repeats, its last value counts. ``absent`` is a Python value, None for null.
    """
    indices = np.full(count, len(dense), np.int64)
    indices[places] = np.arange(len(dense))
    if absent is None:
        return dense.take(pa.array(indices, mask=indices == len(dense)))
    return pa.concat_arrays([dense, pa.array([absent], dense.type)]).take(pa.array(indices))
