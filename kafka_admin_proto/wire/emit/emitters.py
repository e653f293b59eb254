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
- What the tree refuses is refused here (``raise Fallback``), and what it accepts is accepted, but
  for text that is not UTF-8, which is left to the tree.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

from kafka_admin_proto.wire.emit import runtime
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.secrets import is_secret_name
from kafka_admin_proto.wire.varint import SHORT_VARINTS, encode_uvarint, uvarint_at

#: Fields noted for writing: ``struct`` code and expression.
Run = list[tuple[str, str]]


class Count(NamedTuple):
    """The count of an array in emitted code: the local that has it as it is on the wire."""

    local: str
    compact: bool
    nullable: bool

    @property
    def items(self) -> str:
        """An expression for the number of items, where the array is not null."""
        return f"{self.local} - 1" if self.compact else self.local

    @property
    def code(self) -> str:
        """The ``struct`` code; of a compact count that of its first byte."""
        return "B" if self.compact else "i"


class _Emitter:
    """What the builders share: lines, fresh names, and the constants that the code refers to.

    Functions are shared by their source and ``keys``. Constants are therefore named by
    ``constant`` and ``named`` alone, which keep a key for each.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = "    "
        self._names = 0
        self._constants: dict[str, Any] = {}
        #: (prefix or name, key) → name.
        self._keys: dict[tuple[str, object], str] = {}
        self.named("Fallback", runtime.Fallback)

    def fresh(self, prefix: str) -> str:
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
        """A fresh name for a constant; things with an equal ``key`` are one, None is identity."""
        found = (prefix, id(value) if key is None else key)
        if found not in self._keys:
            self._keys[found] = self.fresh(prefix)
            self._constants[self._keys[found]] = value
        return self._keys[found]

    def named(self, name: str, value: Any, key: object = None) -> str:
        """That name for a constant; ValueError where another thing has it already."""
        found = (name, id(value) if key is None else key)
        if name in self._constants and found not in self._keys:
            raise ValueError(f"{name} is the name of another constant in this function")
        self._keys[found] = name
        self._constants[name] = value
        return name

    def keys(self) -> Iterator[tuple[str, object]]:
        """What the constants are, each name with its key."""
        yield from ((name, key) for (_, key), name in self._keys.items())

    def namespace(self) -> dict[str, Any]:
        """The constants by name, as the globals of the function."""
        return dict(self._constants)

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
        self.named("uvarint", uvarint_at)
        self.named("many", runtime.read_many)
        self.named("uuids", runtime.read_uuids)
        self.named("long_length", runtime.long_length)
        self.named("nullable_length", runtime.nullable_length)
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
        self._ahead += struct.calcsize(f">{codes}")
        for _, _, then in run:
            if then:
                self.line(then)

    @property
    def nothing_noted(self) -> bool:
        return not self._run

    def at(self, more: int = 0, size: str = "") -> str:
        """The position as an expression, or ``more`` bytes and the local ``size`` behind it."""
        ahead = self._ahead + more
        base = f"p + {size}" if size else "p"
        return f"{base} {'-' if ahead < 0 else '+'} {abs(ahead)}" if ahead else base

    def rest_of_uvarint(self, value: str, limit: int | None = None) -> None:
        """Emit the reading of the other bytes of a varint, if it has any.

        Its first byte is the last one before the position, and is in the local ``value``; over
        ``limit`` it is refused.
        """
        with self.block(f"if {value} > 127:"):
            self.line(f"{value}, p = uvarint(b, {self.at(-1)})")
            if self._ahead:
                self.line(f"p -= {self._ahead}")  # at() counts from there on
            if limit is not None:
                with self.block(f"if {value} > {limit}:"):
                    self.line("raise Fallback")

    def skip(self, size: int) -> None:
        """Note that the emitted code has read that many bytes without moving ``p``."""
        self._ahead += size

    def catch_up(self) -> None:
        """Emit what brings ``p`` to the position in one branch; ``arrived`` says it of all."""
        self.line(f"p += {self._ahead}")

    def arrived(self) -> None:
        """The emitted code has brought ``p`` to where the reading is."""
        self._ahead = 0

    def sync_position(self) -> None:
        """Flush, and bring ``p`` to where the reading is: before branches, loops and calls."""
        self.flush()
        if self._ahead:
            self.line(f"p += {self._ahead}")
            self._ahead = 0


class WriteEmitter(_Emitter):
    """Builds the encoder's body: statements that append parts of the output."""

    def __init__(self) -> None:
        super().__init__()
        self.named("V", SHORT_VARINTS)
        self.named("H", runtime.SHORT_LENGTHS)
        self.named("varint", encode_uvarint)
        self.named("as_bytes", runtime.as_bytes)
        self.named("as_list", runtime.as_list)
        self.named("check", runtime.check_class)
        self._run: Run = []

    def fixed(self, code: str, value: str) -> None:
        """Note a field of a ``struct`` code; "x" is a zero byte without a value.

        "*i" are all numbers of the list in the local ``value``; their count is noted before them.
        """
        self._run.append((code, value))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Write what is emitted inside to a list of its own, which ``parts`` is until then."""
        outer = self.fresh("o")
        self.line(f"{outer}, parts = parts, []")
        self.line("w = parts.append")
        yield
        self.line(f"parts = {outer}")
        self.line("w = parts.append")

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
        packers = self.constant("T", runtime.Packers(codes), codes)
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
                    alone = self.constant("T", runtime.Packers((after,)), (after,))
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
                self.line("raise Fallback")
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


#: Put into a JSON object in the place of a field that is left out.
_NOTHING: dict[str, Any] = {}


class JsonEmitter(_Emitter):
    """Builds one expression: the JSON form of a value, with these options."""

    #: Structs inside each other beyond this are left to the tree: Python's parser has its limits.
    DEEPEST = 8

    def __init__(self, options: JsonOptions) -> None:
        super().__init__()
        self.options = options
        self.depth = 0
        self.named("options", options, options)
        self.named("is_secret", is_secret_name)
        self.named("nothing", _NOTHING)
