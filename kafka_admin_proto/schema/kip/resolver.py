"""The parts of a message's grammar in the place of their names, and slips where they do not fit.

A name refers to its nearest definition: one below the line that uses the name, else one below a
line around that, out to the message's own line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

import msgspec

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import StructSpec
from kafka_admin_proto.schema.kip.grammar import Item, Production, grammar_type, guides_type_name
from kafka_admin_proto.schema.layout import LayoutField, struct_layout
from kafka_admin_proto.schema.model import MAX_DEPTH, MAX_FIELDS
from kafka_admin_proto.schema.names import definition_name
from kafka_admin_proto.schema.slip import Slip


class Resolver:
    """Puts definitions in the place of their names, and notes what does not fit."""

    def __init__(
        self,
        headers: list[Production],
        structs: Mapping[str, StructSpec],
        slips: list[Slip],
        max_fields: int,
    ) -> None:
        self.headers = headers
        self.structs = structs
        self.slips = slips
        self.used: set[int] = set()
        self.stand_ins: dict[tuple[int, str], Production] = {}
        self._shapes: dict[int, LayoutField] = {}
        self._by_name: dict[int, dict[str, Production]] = {}
        self._places = {id(header): place for place, header in enumerate(headers)}
        #: Name → the places of the messages with a definition of it, in their order.
        self._defining: dict[str, list[int]] = {}
        for place, header in enumerate(headers):
            for name in header.named:
                self._defining.setdefault(name, []).append(place)
        self._open: list[Production] = []
        self._size = 0
        #: How many more fields all messages together may have.
        self.left: int = max_fields

    def slip(self, place: Production | Item, rule: str, fault: str, remedy: str) -> None:
        self.slips.append(Slip(place.line, place.column, rule, fault, remedy))

    def message_name(self, header: Production) -> str:
        """The header's name, its kind spelled right."""
        match = re.search(r"Re[a-z]+\Z", header.name)
        kind = match.group() if match else ""
        for wanted in ("Request", "Response"):
            if kind != wanted and sorted(kind) == sorted(wanted):
                name = header.name.removesuffix(kind) + wanted
                self.slip(header, "misspelt", f"{header.name} is misspelt", f"read as {name}")
                return name
        return header.name

    def message(self, header: Production) -> tuple[bool, tuple[LayoutField, ...]]:
        """Whether the message is flexible, and its fields."""
        productions = [header, *header.below()]
        self._open, self._size = [], 0  # the message before may have ended in an error
        self._pair_strays(productions)
        self._note_duplicates(productions)
        try:
            fields = self._fields(header)
        finally:
            self.left -= self._size  # in each message that takes a definition from another
        for production in productions[1:]:
            if id(production) not in self.used:
                self.slip(production, "unused", f"{production.name} is defined and never used",
                          "left out")  # fmt: skip
        flexible = any(p.flexible or any(i.compact for i in _names(p.items)) for p in productions)
        every = [inner for field in fields for inner in (field, *field.below())]
        return flexible or any(field.compact for field in every), fields

    # --- slips that two lines make together ------------------------------------------------

    def _pair_strays(self, productions: list[Production]) -> None:
        """Match names without a definition with definitions that no name refers to, one by one.

        ``=> error_code [topics]`` above ``cluster_id => INT16``: the line that uses a name gives
        the name, the one that defines it the type.
        """
        for production in productions:
            if not production.children:
                continue
            named = {
                name.name for p in [production, *production.below()] for name in _names(p.items)
            }
            strays = [child for child in production.children if child.name not in named]
            undefined = [
                item
                for item in _names(production.items)
                if grammar_type(item.name) is None and self._visible(item.name, production) is None
            ]
            if len(strays) != len(undefined):
                continue
            for item, stray in zip(undefined, strays, strict=True):
                self.stand_ins[id(production), item.name] = stray
                self.slip(stray, "disagree",
                          f"{production.name} names {item.name}, and {stray.name} is defined",
                          f"read as {item.name}")  # fmt: skip

    def _note_duplicates(self, productions: list[Production]) -> None:
        for production in productions:
            seen: set[str] = set()
            for child in production.children:
                if child.name in seen:
                    self.slip(child, "duplicate", f"{child.name} is defined again",
                              "the first definition counts")  # fmt: skip
                    self.used.add(id(child))
                seen.add(child.name)

    # --- names -----------------------------------------------------------------------------

    def _visible(self, name: str, production: Production) -> Production | None:
        """The definition that ``production`` means by the name, by nesting alone."""
        scope: Production | None = production
        while scope is not None:
            if name in scope.named:
                return scope.named[name]
            scope = scope.parent
        return None

    def _definition(self, item: Item, production: Production) -> Production | None:
        """The definition of an item's name; slips are noted where it is not where it should be."""
        definition = self.stand_ins.get((id(production), item.name))
        definition = definition or self._visible(item.name, production)
        if definition is not None and definition is not production:
            return definition
        if grammar_type(item.name) is not None:
            return None
        root = _root(production)
        candidate = self._anywhere(root).get(item.name)
        if candidate is not None:
            assert candidate.parent is not None
            self.slip(
                candidate,
                "misplaced",
                f"{item.name} is indented below {candidate.parent.name}, "
                f"and {production.name} uses it",
                "read as if it stood beside its user",
            )
            return candidate
        other = self._other(item.name, root)
        if other is None:
            return None
        candidate = other.named[item.name]
        self.slip(
            item,
            "undefined",
            f"{item.name} is not defined in this message",
            f"taken from {other.name}, line {candidate.line}",
        )
        return candidate

    def _anywhere(self, header: Production) -> dict[str, Production]:
        """Every definition of a message by name, whatever its place; the first of several."""
        if id(header) not in self._by_name:
            productions = self._by_name[id(header)] = {}
            for production in header.below():
                productions.setdefault(production.name, production)
        return self._by_name[id(header)]

    def _other(self, name: str, header: Production) -> Production | None:
        """The other message with a definition of it: the nearest before this one, else after."""
        places = self._defining.get(name)
        if places is None:
            return None
        before = bisect_left(places, self._places[id(header)])
        return self.headers[places[max(0, before - 1)]]

    # --- shapes ----------------------------------------------------------------------------

    def _fields(self, production: Production) -> tuple[LayoutField, ...]:
        return self._items(production.items, production)

    def _items(self, items: tuple[Item, ...], production: Production) -> tuple[LayoutField, ...]:
        names: dict[str, int] = {}
        fields = []
        for item in items:
            field = self._field(item, production)
            count = names[field.name] = names.get(field.name, 0) + 1
            if count > 1:
                field = msgspec.structs.replace(field, name=f"{field.name}{count}")
            fields.append(field)
        return tuple(fields)

    def _field(self, item: Item, production: Production) -> LayoutField:
        """One part of a right-hand side as a field."""
        if item.group:
            struct = definition_name(production.name)
            struct = re.sub(r"(Request|Response)\Z", r"\1Item", struct)
            shape = LayoutField(struct=struct, fields=self._items(item.group, production))
            name = "Items"
        else:
            definition = self._definition(item, production)
            if definition is None:
                shape = self._undefined(item, production)
            else:
                shape = self._shape(definition)
            name = definition_name(item.name)
            if definition is None and grammar_type(item.name) is not None:
                self.slip(item, "unnamed", f"a field of {production.name} has a type and no name",
                          "it is called Value")  # fmt: skip
                name = "Value"
        if item.is_array and shape.is_array:
            self.slip(item, "ambiguous-array",
                      f"{item.name} is an array both here and in its definition",
                      "read as one array")  # fmt: skip
        self._size += shape.size
        if self._size > MAX_FIELDS:
            raise SchemaError(f"over {MAX_FIELDS} fields", "split the message",
                              field=production.name)  # fmt: skip
        return msgspec.structs.replace(
            shape,
            name=name,
            is_array=item.is_array or shape.is_array,
            nullable=item.nullable or shape.nullable,
            tag=item.tag,
        )

    def _undefined(self, item: Item, production: Production) -> LayoutField:
        """The shape of a name that no line defines: a type, a struct from elsewhere, or INT32."""
        known = grammar_type(item.name)
        if known is not None:
            if usual := guides_type_name(item.name):
                self.slip(item, "type-name", f"the guide has no type {item.name}",
                          f"read as {usual}")  # fmt: skip
            return LayoutField(
                element=known.element, nullable=known.nullable, compact=known.compact
            )
        struct = self.structs.get(item.name)
        if struct is not None:
            self.slip(item, "undefined", f"{item.name} is defined nowhere in this text",
                      "read as the struct that Kafka ships")  # fmt: skip
            version = _root(production).version
            fields = struct_layout(struct.fields, version, self.structs, flexible=False)
            return LayoutField(struct=struct.name, fields=fields)
        self.slip(item, "undefined", f"{item.name} is defined nowhere", "read as INT32")
        return LayoutField(element="int32")

    def _shape(self, definition: Production) -> LayoutField:
        """What a definition says of every field of its name."""
        self.used.add(id(definition))
        shape = self._shapes.get(id(definition))
        if shape is None:
            if any(definition is outer for outer in self._open):
                self.slip(
                    definition, "circle", f"{definition.name} contains itself", "read as INT32"
                )
                return LayoutField(element="int32")
            if len(self._open) == MAX_DEPTH:
                raise SchemaError(f"line {definition.line}: nested too deeply", "flatten it")
            self._open.append(definition)
            shape = self._shapes[id(definition)] = self._new_shape(definition)
            self._open.pop()
        return shape

    def _new_shape(self, definition: Production) -> LayoutField:
        items = definition.items
        lone = items[0] if len(items) == 1 else None
        if lone is None or definition.is_struct or definition.flexible or self._owns(definition):
            return LayoutField(
                struct=_struct_name(definition.name),
                nullable=definition.nullable,
                fields=self._fields(definition),
            )
        if lone.group:
            return LayoutField(
                struct=_struct_name(definition.name),
                is_array=True,
                nullable=lone.nullable,
                fields=self._items(lone.group, definition),
            )
        target = self._definition(lone, definition)
        shape = self._undefined(lone, definition) if target is None else self._shape(target)
        nullable = shape.nullable or lone.nullable
        return msgspec.structs.replace(
            shape, is_array=lone.is_array or shape.is_array, nullable=nullable
        )

    def _owns(self, definition: Production) -> bool:
        """Whether the one name on the right is defined below: a struct of one field."""
        return any(child.name == definition.items[0].name for child in definition.children)


def _root(production: Production) -> Production:
    """The message that the production belongs to."""
    while production.parent is not None:
        production = production.parent
    return production


def _names(items: tuple[Item, ...]) -> Iterator[Item]:
    """Every name on a right-hand side, those inside groups included."""
    for item in items:
        if item.group:
            yield from _names(item.group)
        else:
            yield item


def _struct_name(name: str) -> str:
    """The struct's own name in the older notation; "" where it is a field's, in small letters."""
    return definition_name(name) if name[0].isupper() else ""
