"""Every dump format written in plain Python, so that round trips need no tool.

Layouts are those of the tools named; the tests that run the real ones hold these to them.
"""

from __future__ import annotations

from collections.abc import Iterator

Turn = tuple[int, bytes]


def characters(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def rows(data: bytes, columns: int) -> Iterator[tuple[int, bytes]]:
    for offset in range(0, len(data), columns):
        yield offset, data[offset : offset + columns]


def xxd(data: bytes, columns: int = 16, group: int = 2, upper: bool = False) -> str:
    width = 2 * columns + (columns - 1) // group + 1
    text = ""
    for offset, row in rows(data, columns):
        digits = " ".join(part.hex() for _, part in rows(row, group))
        digits = digits.upper() if upper else digits
        text += f"{offset:08x}: {digits:<{width}} {characters(row)}\n"
    return text


def _squeezed(data: bytes, columns: int) -> Iterator[tuple[int, bytes | None]]:
    """The rows, each run of repeated full rows as one None."""
    before, starred = None, False
    for offset, row in rows(data, columns):
        if row == before:
            if not starred:
                yield offset, None
            starred = True
        else:
            yield offset, row
            starred = False
        before = row


def _halves(row: bytes) -> str:
    return f"{row[:8].hex(' ')}  {row[8:].hex(' ')}"


def hexdump(data: bytes) -> str:
    """``hexdump -C``."""
    text = ""
    for offset, row in _squeezed(data, 16):
        text += "*\n" if row is None else f"{offset:08x}  {_halves(row):<50}|{characters(row)}|\n"
    return text + f"{len(data):08x}\n"


def od(data: bytes, columns: int = 16) -> str:
    """``od -A x -t x1z``."""
    text = ""
    for offset, row in _squeezed(data, columns):
        width = 3 * columns
        text += (
            "*\n" if row is None else f"{offset:06x} {row.hex(' '):<{width}} >{characters(row)}<\n"
        )
    return text + f"{len(data):06x}\n"


def wireshark(data: bytes, ascii_column: bool = True) -> str:
    """Copy … as Hex + ASCII Dump, as Hex Dump."""
    text = ""
    for offset, row in rows(data, 16):
        text += f"{offset:04x}   " + (
            f"{row.hex(' '):<47}   {characters(row)}\n" if ascii_column else row.hex(" ") + "\n"
        )
    return text


def tshark(data: bytes) -> str:
    """``tshark -x``."""
    return "".join(
        f"{offset:04x}  {row.hex(' '):<47}   {characters(row)}\n" for offset, row in rows(data, 16)
    )


def _spaced(row: bytes) -> str:
    shown = characters(row)
    return f"{shown[:8]} {shown[8:]}" if len(shown) >= 8 else shown


def follow_wireshark(turns: list[Turn]) -> str:
    """Follow TCP Stream, Show as Hex Dump: (side, bytes) a packet."""
    reached, text = [0, 0], ""
    for side, data in turns:
        for offset, row in rows(data, 16):
            indent = "    " if side else ""
            text += f"{indent}{reached[side] + offset:08X}  {_halves(row):<49}  {_spaced(row)}\n"
        reached[side] += len(data)
    return text


def follow_tshark(turns: list[Turn]) -> str:
    """``tshark -q -z follow,tcp,hex,0``."""
    line = "=" * 67
    reached, text = [0, 0], f"\n{line}\nFollow: tcp,hex\nFilter: tcp.stream eq 0\n"
    text += "Node 0: 127.0.0.1:43210\nNode 1: 127.0.0.1:9092\n"
    for side, data in turns:
        for offset, row in rows(data, 16):
            start = f"{reached[side] + offset:08X}  {_halves(row):<49} "
            text += "\t" * side + (start + _spaced(row)).rstrip(" ") + "\n"
        reached[side] += len(data)
    return text + line + "\n"


def c_arrays(turns: list[Turn]) -> str:
    """Follow TCP Stream, Show as C Arrays."""
    counts, text = [0, 0], ""
    for packet, (side, data) in enumerate(turns, 4):
        text += f"char peer{side}_{counts[side]}[] = {{ /* Packet {packet} */\n"
        counts[side] += 1
        lines = [", ".join(f"0x{byte:02x}" for byte in row) for _, row in rows(data, 8)]
        text += ", \n".join(lines) + " };\n"
    return text


def escaped_string(data: bytes) -> str:
    """Copy … as Escaped String."""
    lines = ["".join(f"\\x{byte:02x}" for byte in row) for _, row in rows(data, 16)]
    return " \\\n".join(f'"{line}"' for line in lines)


def c_string(data: bytes) -> str:
    """Copy … as C String."""
    names = {34: '\\"', 92: "\\\\", 7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r"}
    names |= {9: "\\t", 11: "\\v"}
    escape = (
        names.get(byte) or (chr(byte) if 32 <= byte <= 126 else f"\\{byte:03o}") for byte in data
    )
    return f'"{"".join(escape)}"'


def go_literal(data: bytes) -> str:
    """Copy … as Go literal: one digit where one is enough."""
    return "[]byte{" + ", ".join(f"0x{byte:x}" for byte in data) + "}"
