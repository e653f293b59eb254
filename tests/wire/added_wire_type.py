"""The properties of a new wire type; a copy of the tree that has it runs this.

It prints what was shown: "wire", "json", "damage", "notation" and, where pyarrow is installed,
"columns".
"""

from __future__ import annotations

import random
import warnings
from importlib.util import find_spec
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import Codec, DecodeError, EncodeError, JsonError, codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kip.reader import read_kip
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.schema.layout import layout
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.testing import messages
from kafka_admin_proto.wire.fuse import fuse_json
from kafka_admin_proto.wire.options import PLAIN_JSON
from kafka_admin_proto.wire.types.scalar import scalar_type
from tools.oracles.damage import damage

NAME = "VarintSample"
ROW = SCALARS["varint"]
CODECS = [codec(NAME, version) for version in (0, 1)]
#: One of each version, and bytes of a seed for damage.
VALUES = st.tuples(*(messages(NAME, found.version) for found in CODECS))


@settings(max_examples=20, deadline=None, database=None)
@given(VALUES, st.integers(0, 1 << 32))
def check_values(values: tuple[Any, ...], seed: int) -> None:
    """Fused code, tree and JSON agree on values, and on bytes that are damaged."""
    dice = random.Random(seed)
    for found, value in zip(CODECS, values, strict=True):
        data = found.encode(value)
        assert data == found.grammar.build(value)
        assert found.decode(data) == value == found.grammar.parse(data)
        assert found.decode(data, strict=True) == value
        obj = found.to_json(value)
        assert obj == found.grammar.to_json(value, PLAIN_JSON)
        assert obj == fuse_json(found.grammar, PLAIN_JSON).function(value)
        assert found.from_json(obj) == value
        for _ in range(4):
            damaged = damage(found, data, dice)
            assert by_codec(found, damaged) == by_tree(found, damaged)


def by_codec(found: Codec[Any], data: bytes) -> Any:
    """The value as the fused code reads it; None where the bytes are refused."""
    try:
        return found.decode(data)
    except DecodeError:
        return None


def by_tree(found: Codec[Any], data: bytes) -> Any:
    """The same by the tree, which reads for observers."""
    try:
        value, end = found.decode_from(data, observer=Unobserving())
    except DecodeError:
        return None
    return value if end == len(data) else None


class Unobserving:
    """An observer that keeps nothing."""

    def span(self, *arguments: Any) -> None:
        pass

    def non_canonical(self, *arguments: Any) -> None:
        pass


def check_edges() -> None:
    """Bounds and the sample on the wire; what is out of bounds or of another type is refused."""
    assert ROW.bounds is not None
    kind = scalar_type("varint")
    assert kind.describe() == ROW.label
    assert [kind.build(each) for each in (0, -1, 1, ROW.sample)] == [
        b"\0", b"\1", b"\2", b"\xd7\x04",
    ]  # fmt: skip
    found = CODECS[0]
    for edge in ROW.bounds:
        value = found.value_class(plain=edge, many=[edge], rows=[])
        assert found.decode(found.encode(value)) == value
    for wrong in (ROW.bounds[1] + 1, ROW.bounds[0] - 1, "1", 1.5, None):
        value = found.value_class(plain=wrong)
        try:
            found.encode(value)
        except EncodeError as error:
            assert error.path == "plain"
        else:
            raise AssertionError(f"{wrong!r} was written")
        try:
            found.from_json(found.to_json(found.value_class()) | {"plain": wrong})
        except JsonError as error:
            assert error.path == "plain"
        else:
            raise AssertionError(f"{wrong!r} was read")


def check_notation() -> None:
    """Each version's grammar is read back to the same layout, types by their names."""
    spec = catalog().spec(NAME)
    for version in (0, 1):
        text = write_grammar(spec, version)
        assert "=> VARINT\n" in text
        again = read_kip(text, file=f"{NAME}.kip")
        assert layout(again, version) == layout(spec, version)


def check_columns() -> None:
    """Bodies become columns with the row's Arrow type, and columns the same bodies."""
    import pyarrow as pa

    from kafka_admin_proto.spark.columns.decode import Wanted, decode_array
    from kafka_admin_proto.spark.columns.encode import encode_array

    @settings(max_examples=6, deadline=None, database=None)
    @given(st.lists(VALUES, min_size=1, max_size=3))
    def check(rows: list[tuple[Any, ...]]) -> None:
        for place, found in enumerate(CODECS):
            wanted = Wanted(NAME, found.version, "kafka", "FAILFAST", True)
            bodies = [found.encode(row[place]) for row in rows]
            (array,) = decode_array(pa.array(bodies, pa.binary()), None, wanted)
            array.validate(full=True)
            assert array.type.field("plain").type == getattr(pa, ROW.arrow)()
            for row, shown in zip(rows, array.to_pylist(), strict=True):
                assert shown["plain"] == row[place].plain
                assert shown["many"] == row[place].many
            assert encode_array(array, None, wanted).to_pylist() == bodies

    check()
    wanted = Wanted(NAME, 0, "kafka", "PERMISSIVE", True)
    good = CODECS[0].encode(CODECS[0].value_class(plain=5))
    cut = [good[:size] for size in range(len(good))]
    (array,) = decode_array(pa.array([*cut, good, good + b"\0"], pa.binary()), None, wanted)
    results = array.to_pylist()
    assert [bool(row["error"]) for row in results] == [*(True for _ in cut), False, True]
    assert results[-2]["value"]["plain"] == 5


def main() -> None:
    warnings.simplefilter("error")  # fused code that refuses what the tree takes says so
    check_edges()
    check_values()
    print("wire json damage")
    check_notation()
    print("notation")
    if find_spec("pyarrow") is not None:
        check_columns()
        print("columns")


if __name__ == "__main__":
    main()
