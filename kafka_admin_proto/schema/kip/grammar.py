"""The grammar notation of Kafka's proposals and protocol guide: text → productions with places.

``CreateTopics Request (Version: 0) => [topics] timeout`` heads a message; lines such as
``topics => name [configs]`` define its parts, indented below whoever uses them, or flat in the
older form (``TopicName => string``). The marks of the guides are read too: ``_tagged_fields`` and
``TAG_BUFFER``, ``name<tag: 0>``, ``?`` in front of a nullable part, ``(name)`` for a compact array,
braces around structs. So is what a wiki adds: prose, bullets, no-break spaces, ``*`` behind a name
that a revision has changed.

This module reads the lines; `kip.reader` finds out what they mean together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.model import MAX_DEPTH
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.schema.slip import Slip


class GrammarType(NamedTuple):
    """The element type that a type's name in the notation means, and its form."""

    element: str
    nullable: bool = False
    compact: bool = False


def _types() -> dict[str, GrammarType]:
    types = {}
    for scalar in SCALARS.values():
        either = (False, True) if scalar.has_length else (False,)
        for compact in either:
            for nullable in either:
                label = "COMPACT_" * compact + "NULLABLE_" * nullable + scalar.label
                types[label] = GrammarType(scalar.name, nullable, compact)
    return types


#: The guide's names of the types; the older notation has them in small letters.
TYPES = _types()
#: Names that some texts give to types → the guide's names.
_OTHER_NAMES = {"BOOL": "BOOLEAN"}
#: Names at the end of a struct that say: this version is flexible (KIP-482).
TAGGED_FIELDS = ("_tagged_fields", "TAG_BUFFER")


class Item(msgspec.Struct, frozen=True):
    """One part of a right-hand side: a name, or a group of several in brackets (name "")."""

    name: str
    line: int
    column: int
    is_array: bool = False
    nullable: bool = False
    compact: bool = False
    tag: int | None = None
    group: tuple[Item, ...] = ()


class Production(msgspec.Struct, eq=False):
    """``name => items``. ``is_struct``: braces say so; ``children`` are indented below it.

    ``named`` finds a child by its name, the first of several.
    """

    name: str
    line: int
    column: int
    indent: int
    items: tuple[Item, ...]
    is_header: bool
    version: int = 0
    is_struct: bool = False
    nullable: bool = False
    flexible: bool = False
    parent: Production | None = None
    children: list[Production] = []
    named: dict[str, Production] = {}

    def below(self) -> Iterator[Production]:
        """Every production under this one, at any depth."""
        for child in self.children:
            yield child
            yield from child.below()


def grammar_type(name: str) -> GrammarType | None:
    """The type of that name in capitals or small letters; None for any other word."""
    upper = name.upper()
    if name not in (upper, name.lower()):
        return None
    return TYPES.get(_OTHER_NAMES.get(upper, upper))


def guides_type_name(name: str) -> str | None:
    """How the guide calls a type that texts call by another name."""
    return _OTHER_NAMES.get(name.upper()) if name == name.upper() else None


#: Characters of a definition's name at most, as each slip of a part says the name again.
LONGEST_NAME = 128
_LEFT = re.compile(
    rf"(?P<name>[A-Za-z_]\w{{0,{LONGEST_NAME - 1}}}?)\*?"
    r"(?: (?P<kind>Re[a-z]{5,6}|Header))?"
    r"(?:(?:_|(?<=Request)|(?<=Response))V(?P<suffix>\d{1,5})"
    r"| v(?P<word>\d{1,5})|\s*\(Version:?\s*(?P<version>\d{1,5})\))?"
    r"(?:<tag:\s*\d{1,9}>)?"
)
_TOKEN = re.compile(
    r"(?P<space>[\s,]+)"
    r"|(?P<array>(?P<null>\??)(?P<kind>(?i:(?:COMPACT_)?ARRAY))?"
    r"\((?P<inner>[A-Za-z_]\w*)\)(?:<tag:\s*(?P<ctag>\d{1,9})>)?)"
    r"|(?P<remark>\((?=[^()]*\s)[^()]*\))"
    r"|(?P<word>[A-Za-z_]\w*)\*?(?:<tag:\s*(?P<tag>\d{1,9})>)?"
    r"|(?P<close>\])(?:<tag:\s*(?P<atag>\d{1,9})>)?"
    r"|(?P<mark>[?\[{}])"
)
#: What heads a message, but for a version that is written otherwise, as ``(Versions: 0, 1)``.
_NEARLY_HEAD = re.compile(
    r"[A-Z]\w*? ?(Request|Response|Header)[ _]*(\( ?([vV]er|[vV]?\d).*\)|[vV]\d.*)"
)
#: How a message's name ends in the old notation, slips of a few letters included.
_MESSAGE = re.compile(r"[A-Z]\w*?[a-z](Req|Res)[a-z]{4,6}\Z|Re(quest|sponse)Header\Z")


def parse_grammars(text: str, *, strict: bool = False) -> tuple[list[Production], list[Slip]]:
    """The messages of a text, each with its definitions as children, and faults of syntax.

    Lines without ``=>`` are prose; ``strict`` allows none but blank ones and ``#`` comments,
    and raises SchemaError for what nests too deeply.
    """
    headers: list[Production] = []
    slips: list[Slip] = []
    open_: list[Production] = []
    for number, line in enumerate(text.split("\n"), 1):
        production = _production(line, number, slips, strict)
        if production is None:
            continue
        if production.is_header:
            headers.append(production)
            open_ = [production]
            continue
        if not open_:
            slips.append(_slip(production, "orphan", f"{production.name} belongs to no message",
                               "put it below the message that uses it"))  # fmt: skip
            continue
        while len(open_) > 1 and open_[-1].indent >= production.indent:
            open_.pop()
        if len(open_) > MAX_DEPTH:
            if strict:
                raise SchemaError(f"line {number}: nested too deeply", "flatten the grammar")
            slips.append(_slip(production, "unreadable", f"{production.name} is nested too deeply",
                               "left out; flatten the grammar"))  # fmt: skip
            continue
        production.parent = open_[-1]
        open_[-1].children.append(production)
        open_[-1].named.setdefault(production.name, production)
        open_.append(production)
    return headers, slips


def _production(line: str, number: int, slips: list[Slip], strict: bool) -> Production | None:
    stripped = line.strip()
    left, arrow, _ = line.partition("=>")
    if not arrow:
        if strict and stripped and not stripped.startswith("#"):
            slips.append(
                Slip(number, 1, "syntax", "this is no production", 'write "name => ..." or "# ..."')
            )
        return None
    if strict and stripped.startswith("#"):
        return None
    text = left.expandtabs().rstrip()
    indent = len(text) - len(text.lstrip())
    head = text.strip().replace("\N{NO-BREAK SPACE}", " ")
    match = _LEFT.fullmatch(head)
    if match is None:
        if _NEARLY_HEAD.fullmatch(head):
            fault = f"{head[:60]!r} is no head of a message"
            remedy = 'write "Name Request (Version: 1) =>", once for each version'
            slips.append(Slip(number, indent + 1, "syntax", fault, remedy))
        elif strict or len(text.split()) == 1:
            slips.append(
                Slip(
                    number,
                    indent + 1,
                    "syntax",
                    f"{text.strip()[:40]!r} is no name to define",
                    f"write up to {LONGEST_NAME} letters, digits and underscores",
                )
            )
        return None
    versions = [match[part] for part in ("suffix", "word", "version") if match[part]]
    name = match["name"] + (match["kind"] or "")
    # Texts of before KIP-482 have one request header, the first with a client id.
    unsaid = 1 if name == "RequestHeader" else 0
    production = Production(
        name=name,
        line=number,
        column=len(left) - len(left.lstrip()) + 1,
        indent=indent,
        items=(),
        is_header=bool(versions) or _MESSAGE.match(name) is not None,
        version=int(versions[0]) if versions else unsaid,
    )
    try:
        _read_items(production, line, len(left) + len(arrow))
    except SchemaError as error:
        slips.append(Slip(number, int(error.field), "syntax", error.fault, error.remedy))
    return production


def _read_items(production: Production, line: str, position: int) -> None:
    """Fill in the right-hand side; raises SchemaError, its field being the column."""
    stack: list[list[Item]] = [[]]
    opened: list[tuple[int, bool]] = []  # column and nullability of each open bracket
    nullable = False
    while position < len(line):
        match = _TOKEN.match(line, position)
        column = position + 1
        if match is None:
            raise SchemaError(
                f"{line[position]!r} has no place in a grammar", "remove it", field=str(column)
            )
        position = match.end()
        place: dict[str, Any] = {"line": production.line, "column": column}
        if match["space"] or match["remark"]:
            continue
        if match["word"] in TAGGED_FIELDS:
            production.flexible = True
        elif match["word"]:
            item = Item(match["word"], nullable=nullable, tag=_number(match["tag"]), **place)
            stack[-1].append(item)
            nullable = False
        elif match["array"]:
            compact = (match["kind"] or "COMPACT_ARRAY").upper() != "ARRAY"
            stack[-1].append(
                Item(match["inner"], is_array=True, nullable=nullable or bool(match["null"]),
                     compact=compact, tag=_number(match["ctag"]), **place)
            )  # fmt: skip
            nullable = False
        elif match["close"]:
            if not opened:
                raise SchemaError('"]" closes nothing', "remove it", field=str(column))
            _close(stack, production.line, *opened.pop(), _number(match["atag"]))
        elif match["mark"] == "?":
            nullable = True
        elif match["mark"] == "[":
            opened.append((column, nullable))
            if len(opened) > MAX_DEPTH:
                raise SchemaError("nested too deeply", "flatten it", field=str(column))
            stack.append([])
            nullable = False
        else:
            production.is_struct = True
            production.nullable |= nullable
            nullable = False
    if opened:
        raise SchemaError('"[" is never closed', 'add "]"', field=str(opened[-1][0]))
    production.items = tuple(stack[0])


def _close(
    stack: list[list[Item]], line: int, column: int, nullable: bool, tag: int | None
) -> None:
    """Replace the items between two brackets by one item."""
    inside = stack.pop()
    if not inside:
        raise SchemaError("an array of nothing", "name its elements", field=str(column))
    one = inside[0]
    if len(inside) == 1 and not (one.is_array or one.group):
        item = msgspec.structs.replace(one, is_array=True, nullable=nullable, tag=tag)
    else:
        item = Item("", line, column, True, nullable, tag=tag, group=tuple(inside))
    stack[-1].append(item)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _slip(production: Production, rule: str, fault: str, remedy: str) -> Slip:
    return Slip(production.line, production.column, rule, fault, remedy)
