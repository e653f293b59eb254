"""What messages and fields mean, in our own words: ``schemas/about.json``.

``fields`` has texts for fields that mean the same wherever they are, by the end of their path;
``messages`` those of a message and its fields. Paths are as in the overlay: definition names with
dots, fields of a common struct with the struct's name in front.

The texts are no part of a definition: Kafka has its own, which are not here. They become the
docstrings of the generated classes and the pages of the site.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import overlay_key

PATH = Path(__file__).parents[2] / "schemas" / "about.json"


class MessageTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message in a sentence or two, and its fields by path."""

    about: str
    fields: dict[str, str] = {}


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All texts; ``messages`` by the key that the message has in the overlay."""

    fields: dict[str, str]
    messages: dict[str, MessageTexts]

    def of(self, own: MessageTexts, path: str) -> str:
        """The text of a field: the message's own, else the one with the longest end of its path."""
        if path in own.fields:
            return own.fields[path]
        parts = path.split(".")
        ends = (".".join(parts[start:]) for start in range(len(parts)))
        return next((self.fields[end] for end in ends if end in self.fields), "")

    def apply(self, spec: MessageSpec) -> MessageSpec:
        """The definition with the texts of its message and fields."""
        own = self.messages.get(overlay_key(spec.name, spec.dialect), MessageTexts(""))

        def described(fields: tuple[FieldSpec, ...], prefix: str) -> tuple[FieldSpec, ...]:
            found = []
            for field in fields:
                path = f"{prefix}{field.name}"
                inner = None if field.fields is None else described(field.fields, f"{path}.")
                text = self.of(own, path)
                found.append(msgspec.structs.replace(field, about=text, fields=inner))
            return tuple(found)

        return msgspec.structs.replace(
            spec,
            about=own.about,
            fields=described(spec.fields, ""),
            common_structs=tuple(
                StructSpec(each.name, each.versions, described(each.fields, f"{each.name}."))
                for each in spec.common_structs
            ),
        )


def field_paths(spec: MessageSpec) -> list[str]:
    """The path of every field, those of common structs once."""

    def walk(fields: tuple[FieldSpec, ...], prefix: str) -> list[str]:
        found = []
        for field in fields:
            path = f"{prefix}{field.name}"
            found += [path, *walk(field.fields or (), f"{path}.")]
        return found

    found = walk(spec.fields, "")
    for struct in spec.common_structs:
        found += walk(struct.fields, f"{struct.name}.")
    return found


@cache
def texts() -> Texts:
    """The texts of ``schemas/about.json``."""
    return msgspec.json.decode(PATH.read_bytes(), type=Texts)
