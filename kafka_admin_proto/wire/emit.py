"""How wire types write fast code for themselves: the two builders that they write into.

The code emitted is one function a direction, with locals only. Rules that every ``emit_read`` and
``emit_write`` keeps:

- ``b`` are the bytes (``bytes``, always), ``p`` the position; ``w`` appends a part of the output.
- Fixed-size fields are only noted (``fixed``). They are read or written together, in one call of a
  precompiled ``struct``, when something needs them (``flush``); the length byte or count behind
  them is part of that call.
- Nothing checks that bytes are left: a slice past the end leaves ``p`` beyond the data, so that the
  next read fails or the caller sees it in the end. Whatever goes wrong, any exception will do: the
  tree then reads the same bytes, or takes the same value, and says what and where.
- What the tree refuses is refused here (``raise Mismatch``), and what it accepts is accepted, but
  for text that is not UTF-8, which is left to the tree.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, SafeUUID

from kafka_admin_proto.schema.defaults import ZERO_UUID
from kafka_admin_proto.wire.base import JsonOptions
from kafka_admin_proto.wire.secrets import is_secret_name
from kafka_admin_proto.wire.varint import MAX_UVARINT, encode_uvarint


class Mismatch(Exception):
    """The fast code met what it does not read or write; the tree knows more."""


#: Arrays of up to so many numbers have a precompiled struct each, once it was needed.
_SHORT = 128
#: So many combinations of counts are kept for a place in a message.
_MOST_PACKERS = 1024
_SIZES = {"b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}

#: Fields noted for writing: ``struct`` code and expression.
Run = list[tuple[str, str]]


class _Emitter:
    """What both builders share: lines, fresh names, and the constants that the code refers to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {"Mismatch": Mismatch}
        self._indent = "    "
        self._names = 0
        self._keys: dict[object, str] = {}

    def fresh(self, prefix: str) -> str:
        """A name that is not in use."""
        self._names += 1
        return f"{prefix}{self._names}"

    def line(self, text: str) -> None:
        self.lines.append(self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A compound statement; the caller flushes before it and at its end."""
        self.line(head)
        before, self._indent = self._indent, self._indent + "    "
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._indent = before

    def constant(self, prefix: str, value: Any, key: object = None) -> str:
        """The name of a constant; things with an equal ``key`` are one."""
        found = (prefix, id(value) if key is None else key)
        if found not in self._keys:
            self._keys[found] = self.fresh(prefix)
            self.constants[self._keys[found]] = value
        return self._keys[found]

    def keys(self) -> Iterator[tuple[str, object]]:
        """What the constants are, in an order that the lines decide."""
        yield from ((name, key) for key, name in self._keys.items())

    def default(self, make: Callable[[], Any]) -> str:
        """An expression for a field's default, new each time where it can be changed."""
        value = make()
        if value is None or isinstance(value, (bool, int, str, bytes)):
            return repr(value)
        if isinstance(value, list):
            return "[]"
        if isinstance(value, (float, UUID)):
            return self.constant("D", value, (type(value), str(value)))
        return f"{self.constant('C', type(value))}()"


class ReadEmitter(_Emitter):
    """Builds the decoder's body: statements that leave each field's value in a local."""

    def __init__(self, *, views: bool = False) -> None:
        super().__init__()
        self.constants |= {
            "uvarint": read_uvarint,
            "many": read_many,
            "uuids": read_uuids,
            "long_length": long_length,
            "nullable_length": nullable_length,
        }
        #: Whether bytes and records stay views of the input, ``v``.
        self.views = views
        self._run: list[tuple[str, str, str]] = []
        self._ahead = 0
        self._knows_size = False

    def data_size(self) -> str:
        """The local that holds the size of the data."""
        if not self._knows_size:
            self._knows_size = True
            self.lines.insert(0, "    z = len(b)")
        return "z"

    def fixed(self, code: str, target: str, then: str = "") -> None:
        """Note a field of a ``struct`` code; ``then`` is a statement for when it is read."""
        self._run.append((code, target, then))

    def flush(self) -> None:
        """Read what was noted. ``at()`` then is the position behind it."""
        run, self._run = self._run, []
        if not run:
            return
        codes = "".join(code for code, _, _ in run)
        names = [target for _, target, _ in run]
        if codes == "B":
            self.line(f"{names[0]} = b[{self.at()}]")
        else:
            unpack = struct.Struct(f">{codes}").unpack_from
            name = self.constant("S", unpack, codes)
            self.line(f"{', '.join(names)}{',' * (len(names) == 1)} = {name}(b, {self.at()})")
        self._ahead += sum(_SIZES[code] for code, _, _ in run)
        for _, _, then in run:
            if then:
                self.line(then)

    @property
    def ahead(self) -> int:
        """How far the reading is beyond ``p``."""
        return self._ahead

    @property
    def nothing_noted(self) -> bool:
        return not self._run

    def at(self, more: int = 0) -> str:
        """The position, or so many bytes behind it, as an expression."""
        ahead = self._ahead + more
        return f"p + {ahead}" if ahead else "p"

    def skip(self, size: int) -> None:
        """The emitted code has read so many bytes without moving ``p``."""
        self._ahead += size

    def arrived(self) -> None:
        """The emitted code has brought ``p`` to where the reading is."""
        self._ahead = 0

    def settle(self) -> None:
        """Flush, and bring ``p`` to where the reading is: before branches, loops and calls."""
        self.flush()
        if self._ahead:
            self.line(f"p += {self._ahead}")
            self._ahead = 0


class WriteEmitter(_Emitter):
    """Builds the encoder's body: statements that append parts of the output."""

    def __init__(self) -> None:
        super().__init__()
        self.constants |= {
            "V": SHORT_VARINTS, "H": SHORT_LENGTHS, "varint": encode_uvarint,
            "as_bytes": as_bytes, "as_list": as_list, "check": check_class,
        }  # fmt: skip
        self._run: Run = []

    def fixed(self, code: str, value: str) -> None:
        """Note a field of a ``struct`` code; "x" is a zero byte without a value.

        "*i" are all numbers of the list in the local ``value``; their count is noted before them.
        """
        self._run.append((code, value))

    def take_run(self) -> Run:
        """What was noted and not written yet; the caller writes it."""
        run, self._run = self._run, []
        return run

    def flush(self) -> None:
        """Write what was noted."""
        self.write_run(self.take_run())

    def write_run(self, run: Run) -> None:
        """Write a run in one call; where a count takes more than a byte, in several."""
        if not run:
            return
        counts = [run[i - 1] for i, (code, _) in enumerate(run) if code[0] == "*"]
        if not counts:
            self.line(f"w({self.packed(run)})")
            return
        key = ", ".join(value for _, value in counts)
        values = [f"*{v}" if c[0] == "*" else v for c, v in run if c != "x"]
        codes = tuple(code for code, _ in run)
        packers = self.constant("T", Packers(codes), codes)
        packed = f"w({packers}[{key}]({', '.join(values)}))"
        compact = [value for code, value in counts if code == "B"]
        if not compact:
            self.line(packed)
            return
        with self.block(f"if {' and '.join(f'{count} < 128' for count in compact)}:"):
            self.line(packed)
        with self.block("else:"):
            fixed: Run = []
            for (code, value), (after, items) in zip(run, [*run[1:], ("", "")], strict=True):
                if after[:1] == "*" and code == "B":
                    if fixed:
                        self.line(f"w({self.packed(fixed)})")
                    fixed = []
                    alone = self.constant("T", Packers((after,)), (after,))
                    self.line(f"w(varint({value}) + {alone}[len({items})](*{items}))")
                elif code[0] != "*":
                    fixed.append((code, value))
            if fixed:
                self.line(f"w({self.packed(fixed)})")

    def compact_length(self, length: str, limit: int) -> None:
        """Write what was noted, then the local ``length`` as a varint, up to ``limit``."""
        run = self.take_run()
        if any(code[0] == "*" for code, _ in run):
            self.write_run(run)
            run = []
        with self.block(f"if {length} < 128:"):
            if run:
                self.line(f"w({self.packed([*run, ('B', length)])})")
            else:
                self.line(f"w(V[{length}])")
        with self.block("else:"):
            with self.block(f"if {length} > {limit}:"):
                self.line("raise Mismatch")
            if run:
                self.line(f"w({self.packed(run)})")
            self.line(f"w(varint({length}))")

    def short_length(self, length: str) -> None:
        """Write what was noted, then the local ``length``, which is not negative, as an int16."""
        if self._run:
            self.fixed("h", length)
            self.flush()
        else:
            pack = self.constant("P", struct.Struct(">h").pack, "h")
            self.line(f"w(H[{length}] if {length} < 256 else {pack}({length}))")

    def packed(self, run: Run) -> str:
        """An expression for the bytes of a run without lists."""
        codes = "".join(code for code, _ in run)
        values = [value for code, value in run if code != "x"]
        if not values:
            return repr(bytes(len(run)))
        pack = self.constant("P", struct.Struct(f">{codes}").pack, codes)
        return f"{pack}({', '.join(values)})"


class JsonEmitter(_Emitter):
    """Builds one expression: the JSON form of a value, with these options."""

    #: Structs inside each other beyond this are left to the tree: Python's parser has its limits.
    DEEPEST = 8

    def __init__(self, options: JsonOptions) -> None:
        super().__init__()
        self.options = options
        self.depth = 0
        self.constants |= {"options": options, "is_secret": is_secret_name, "nothing": {}}

    def keys(self) -> Iterator[tuple[str, object]]:
        yield from super().keys()
        yield "options", self.options


# --- what the emitted code calls --------------------------------------------------------------


def read_uvarint(b: bytes, p: int) -> tuple[int, int]:
    """The varint at ``p`` and the position behind it; padded ones too, as the tree reads them."""
    value = shift = 0
    while True:
        bits = b[p]
        p += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            break
        shift += 7
        if shift == 35:
            raise Mismatch
    if value > MAX_UVARINT:
        raise Mismatch
    return value, p


def nullable_length(b: bytes, p: int) -> int:
    """The int16 at ``p``: a length, or -1 for null."""
    length = int.from_bytes(b[p : p + 2], "big", signed=True)
    if length < -1:
        raise Mismatch
    return length


def long_length(b: bytes, p: int) -> int:
    """The int16 at ``p``: the length of what cannot be null."""
    length = int.from_bytes(b[p : p + 2], "big", signed=True)
    if length < 0:
        raise Mismatch
    return length


class Readers(dict[int, Callable[[bytes, int], Any]]):
    """Count → what reads so many numbers of a ``struct`` code; the first few are kept."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def __missing__(self, count: int) -> Callable[[bytes, int], Any]:
        reader = struct.Struct(f">{count}{self.code}").unpack_from
        if count < _SHORT:
            self[count] = reader
        return reader


class Packers(dict[Any, Callable[..., bytes]]):
    """Counts, as they are on the wire → what packs a run with lists of so many numbers.

    ``codes`` are those of the run, "*i" for a list; the key is one count, or a tuple of several.
    Of a list alone it is the number of its items.
    """

    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__()
        self.codes = codes

    def __missing__(self, key: Any) -> Callable[..., bytes]:
        counts = iter(key if isinstance(key, tuple) else (key,))
        parts = []
        for before, code in zip(("", *self.codes), self.codes, strict=False):
            if code[0] == "*":
                # A compact count is one more than the items; null is below that.
                parts.append(f"{max(next(counts) - (before == 'B'), 0)}{code[1]}")
            else:
                parts.append(code)
        packer = struct.Struct(f">{''.join(parts)}").pack
        if len(self) < _MOST_PACKERS:
            self[key] = packer
        return packer


def read_many(b: bytes, p: int, readers: Readers, size: int, nullable: bool) -> tuple[Any, int]:
    """An array of numbers in the compact form, of any count; ``p`` is where the count is."""
    count, p = read_uvarint(b, p)
    if not count:
        if nullable:
            return None, p
        raise Mismatch
    end = p + (count - 1) * size
    if end > len(b):
        raise Mismatch
    return [*readers[count - 1](b, p)], end


def read_uuids(b: bytes, p: int, count: int) -> list[UUID]:
    """So many uuids from ``p`` on."""
    end = p + 16 * count
    if end > len(b):
        raise Mismatch
    return [fast_uuid(b[start : start + 16]) for start in range(p, end, 16)]


#: The varints of one byte, and the first few int16, by value.
SHORT_VARINTS = tuple(bytes([value]) for value in range(128))
SHORT_LENGTHS = tuple(value.to_bytes(2, "big") for value in range(256))


def as_bytes(value: Any) -> bytes | memoryview:
    """The bytes of what the tree takes for them; a view of bytes may stay one."""
    if isinstance(value, memoryview) and value.c_contiguous and value.nbytes == len(value):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise Mismatch


def as_list(value: Any) -> list[Any]:
    """The list of what the tree takes for an array."""
    if isinstance(value, (list, tuple)):
        return list(value)
    raise Mismatch


def check_class(value: Any, wanted: type) -> None:
    """A struct may be of a subclass, as in the tree."""
    if not isinstance(value, wanted):
        raise Mismatch


def _fast_uuid() -> Callable[[bytes], UUID]:
    """A UUID of 16 bytes without its checks, which cost four times the rest; zero is shared."""
    new = object.__new__
    slots: dict[str, Any] = dict(vars(UUID))
    set_int, set_safe = slots["int"].__set__, slots["is_safe"].__set__
    from_bytes, unknown, zero = int.from_bytes, SafeUUID.unknown, bytes(16)

    def fast_uuid(raw: bytes) -> UUID:
        if raw == zero:
            return ZERO_UUID
        made = new(UUID)
        set_int(made, from_bytes(raw, "big"))
        set_safe(made, unknown)
        return made

    return fast_uuid


fast_uuid = _fast_uuid()
