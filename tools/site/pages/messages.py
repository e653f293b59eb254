"""A page for each api, and for each message that is of none, in Markdown.

Which versions there are and what each added comes from the definitions, which release has them
from ``schemas/releases.json``, what fields mean from ``schemas/about.json``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

import msgspec

from kafka_admin_proto.protocol.releases import releases
from kafka_admin_proto.render.meanings import meaning_of
from kafka_admin_proto.render.schema_rows import field_notes
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.wire.field_names import is_error_field
from tools.definitions.texts import texts
from tools.site.markdown import cell, code, field_table, table
from tools.site.pages.example_values import example

#: Where the pages are, below the site's root.
FOLDER = "messages"
#: Dialect → what the list of messages calls it.
DIALECTS = {
    "kafka": "Apache Kafka",
    "kip-4": "KIP-4 and KIP-108: CreateTopics as proposed",
    "kip-4a": "KIP-4, the draft of the topic commands",
    "kip-4b": "KIP-4, the draft of the admin schema",
    "kip-516": "KIP-516: topic ids",
}
#: Type of a message → what messages of that type are.
_KINDS = {
    "header": "Headers",
    "coordinator-key": "Keys of records in Kafka's own topics",
    "coordinator-value": "Values of records in Kafka's own topics",
    "metadata": "Records of the metadata log",
    "data": "Other records and structures",
}
#: A meaning with more values than this is named by its first ones.
_MOST_VALUES = 8


class MessagePage(msgspec.Struct, frozen=True):
    """One page: its path below the site's root, its heading, and the messages on it."""

    path: str
    title: str
    specs: tuple[MessageSpec, ...]

    @property
    def kind(self) -> str:
        """The type of the messages; requests and responses are both "request"."""
        kind = self.specs[0].type
        return "request" if kind == "response" else kind

    @property
    def about(self) -> str:
        """The text of the first of the messages; "" where it has none."""
        return self.specs[0].about


def pages() -> list[MessagePage]:
    """All pages, the dialects in the order of ``DIALECTS``."""
    found = []
    for dialect in DIALECTS:
        groups: defaultdict[str, list[MessageSpec]] = defaultdict(list)
        for name in catalog().names(dialect):
            spec = texts().apply(catalog().spec(name, dialect))
            is_api = spec.type in ("request", "response")
            groups[re.sub(r"(Request|Response)\Z", "", name) if is_api else name].append(spec)
        folder = FOLDER if dialect == "kafka" else f"{FOLDER}/{dialect}"
        for title, specs in groups.items():
            file = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", title).lower()
            found.append(MessagePage(f"{folder}/{file}.md", title, tuple(specs)))
    return found


def page_text(page: MessagePage) -> str:
    """The page in Markdown."""
    key = page.specs[0].api_key
    is_api = page.kind == "request"
    lines = [f"# {page.title}", ""]
    if page.specs[0].dialect != "kafka":
        lines += [f"A message of dialect `{page.specs[0].dialect}`: "
                  f"{DIALECTS[page.specs[0].dialect]}.", ""]  # fmt: skip
    if key is not None:
        kind = "Api key" if is_api else "Key"
        lines += [f"{kind} **{key}**.", ""]
    if is_api and page.specs[0].dialect == "kafka" and key is not None:
        lines += _releases(key)
    for spec in page.specs:
        lines += _message(spec, alone=len(page.specs) == 1)
    return "\n".join(lines)


def groups(found: list[MessagePage]) -> Iterator[tuple[str, str, list[MessagePage]]]:
    """Words for a dialect, words for a kind of message, and its pages, in the order of the list."""
    kinds = {"request": "Apis", **_KINDS}
    for dialect, words in DIALECTS.items():
        for kind, title in kinds.items():
            pages_of = [p for p in found if p.kind == kind and p.specs[0].dialect == dialect]
            pages_of.sort(key=lambda p: (p.specs[0].api_key is None, p.specs[0].api_key or 0))
            if pages_of:
                yield words, title, pages_of


def index_text(found: list[MessagePage]) -> str:
    """The page that lists all others."""
    lines = [
        "# Messages", "",
        "Every message that this package knows, with its versions, fields and an example. "
        "The pages are made from the definitions that the package itself reads.", "",
    ]  # fmt: skip
    for words, of_dialect in groupby(groups(found), key=lambda group: group[0]):
        lines += [f"## {words}", ""]
        for _, title, pages_of in of_dialect:
            rows = map(_listed, pages_of)
            lines += [f"### {title}", ""]
            lines += [*table(["Key", "Name", "Versions", "What it is for"], rows), ""]
    return "\n".join(lines)


def _listed(page: MessagePage) -> list[str]:
    key = page.specs[0].api_key
    link = f"[{page.title}]({page.path.removeprefix(f'{FOLDER}/')})"
    return ["" if key is None else str(key), link, str(page.specs[0].valid_versions), page.about]


def _releases(key: int) -> list[str]:
    """Which releases take which versions of an api's request."""
    taken = [
        (each.name, str(each.versions_of(key)), str(each.deprecated_of(key))) for each in releases()
    ]
    rows = []
    for (versions, deprecated), group in groupby(taken, key=lambda row: row[1:]):
        names = [name for name, _, _ in group]
        span = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        none = versions == "none"
        rows.append(
            [span, "not there" if none else versions, "" if deprecated == "none" else deprecated]
        )
    return ["## Releases", "", *table(["Kafka", "Versions taken", "Deprecated"], rows), ""]


def _message(spec: MessageSpec, *, alone: bool) -> list[str]:
    newest = spec.valid_versions.highest
    flexible = spec.flexible_versions & spec.valid_versions
    facts = [f"Versions {spec.valid_versions}" if newest else "Version 0"]
    facts.append("never flexible" if flexible.empty else f"flexible from {flexible.lowest}")
    if spec.latest_version_unstable:
        facts.append(f"version {newest} may still change")
    heading = [] if alone else [f"## {spec.name}", ""]
    level = "##" if alone else "###"
    lines = [*heading, *([spec.about, ""] if spec.about else []), f"{', '.join(facts)}.", ""]
    rows = list(_fields(spec, spec.fields))
    if rows:
        lines += [f"{level} Fields{_of(spec, alone)}", ""]
        lines += [*field_table(["Field", "Type", "Versions", "What it is"], rows), ""]
    else:
        lines += ["It has no fields.", ""]
    if len(list(spec.valid_versions)) > 1:
        lines += [f"{level} What each version changed{_of(spec, alone)}", ""]
        lines += [*_history(spec), ""]
    lines += [f"{level} In the proposals' notation{_of(spec, alone)}", ""]
    lines += ["```text", write_grammar(spec, newest).rstrip(), "```", ""]
    lines += [f"{level} Bytes of an example{_of(spec, alone)} {{ data-search-exclude }}", ""]
    lines += [f"An example of version {newest}, as `kap explain` shows it.", ""]
    return [*lines, *_bytes(spec, newest), ""]


def _history(spec: MessageSpec) -> Iterator[str]:
    """An item for each version, versions in a row that changed nothing in one."""
    listed = [(version, changes(spec, version)) for version in spec.valid_versions]
    for changed, group in groupby(listed, key=lambda row: bool(row[1])):
        rows = list(group)
        if changed:
            yield from (f"- **{version}**: {'; '.join(found)}." for version, found in rows)
        else:
            first, last = rows[0][0], rows[-1][0]
            span = str(first) if first == last else f"{first} to {last}"
            yield f"- **{span}**: the layout of version {first - 1}."


def _of(spec: MessageSpec, alone: bool) -> str:
    """The words that tell a heading of a request from one of its response."""
    return "" if alone else f" of the {spec.type}"


def _fields(
    spec: MessageSpec, fields: tuple[FieldSpec, ...], depth: int = 0, prefix: str = ""
) -> Iterator[list[str]]:
    structs = spec.structs()
    for field in fields:
        name = python_name(field.name)
        indent = f'<span class="depth">{"·" * depth}</span>' if depth else ""
        versions = field.versions & spec.valid_versions
        yield [
            f"{indent}{code(name)}", code(str(field.type)),
            "all" if versions == spec.valid_versions else str(versions),
            _meaning(spec, field, f"{prefix}{name}"),
        ]  # fmt: skip
        if field.type.is_struct:
            nested = structs[field.type.element].fields
            yield from _fields(spec, nested, depth + 1, f"{prefix}{name}.")


def _meaning(spec: MessageSpec, field: FieldSpec, path: str) -> str:
    """The text of a field, the values that have names, and what its definition says besides."""
    parts = [cell(field.about)] if field.about else []
    meaning = meaning_of(spec.name, path) if spec.dialect == "kafka" else None
    if meaning is not None and meaning.values:
        values = [f"{code(key)} {cell(words)}" for key, words in meaning.values.items()]
        more = ", …" if len(values) > _MOST_VALUES else ""
        parts.append(f"Values: {', '.join(values[:_MOST_VALUES])}{more}.")
    if is_error_field(python_name(field.name)):
        up = "../" * (2 if spec.dialect != "kafka" else 1)
        parts.append(f"[All codes]({up}reference/error-codes.md).")
    facts = []
    nullable = field.nullable_versions & field.versions & spec.valid_versions
    if not nullable.empty:
        everywhere = nullable.covers(field.versions & spec.valid_versions)
        facts.append("may be null" if everywhere else f"may be null in {nullable}")
    if field.tag is not None:
        facts.append(f"tag {field.tag}")
    if field.default not in ("", "0", "false"):
        facts.append(f"default {code(field.default)}")
    facts += [cell(note) for note in field_notes(field) if note != field.entity_type]
    if facts:
        parts.append(f"<small>{', '.join(facts)}</small>")
    return " ".join(parts)


def changes(spec: MessageSpec, version: int) -> list[str]:
    """The changes of a version against the one before it, a few words each."""
    if version == spec.valid_versions.lowest:
        return ["the first version here"]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, field in _paths(spec, spec.fields, version):
        before, now = (each in field.versions for each in (version - 1, version))
        if now and not before:
            found["adds"].append(path)
        elif before and not now:
            found["drops"].append(path)
        elif now:
            was, is_now = (each in field.nullable_versions for each in (version - 1, version))
            if is_now and not was:
                found["allows null in"].append(path)
            elif was and not is_now:
                found["refuses null in"].append(path)
            if field.tag is not None and version == field.tagged_versions.lowest:
                found["makes tagged fields of"].append(path)
    flexible = version == spec.flexible_versions.lowest
    words = ["is flexible: compact lengths and tagged fields"] if flexible else []
    return words + [f"{verb} {', '.join(map(code, paths))}" for verb, paths in found.items()]


def _paths(
    spec: MessageSpec, fields: tuple[FieldSpec, ...], version: int, prefix: str = ""
) -> Iterator[tuple[str, FieldSpec]]:
    """The fields with their paths, those inside of a struct that is new or gone left out."""
    structs = spec.structs()
    for field in fields:
        path = f"{prefix}{python_name(field.name)}"
        yield path, field
        if field.type.is_struct and version in field.versions and version - 1 in field.versions:
            inner = f"{path}[]." if field.type.is_array else f"{path}."
            yield from _paths(spec, structs[field.type.element].fields, version, inner)


def _bytes(spec: MessageSpec, version: int) -> list[str]:
    explanation = example(spec, version)
    rows = []
    for node in explanation.nodes():
        indent = f'<span class="depth">{"·" * node.depth}</span>' if node.depth else ""
        row = node.row
        found = [] if row is None else explanation.row_hex(row)
        data = " ".join(found[:16]) + (" …" if len(found) > 16 else "")
        shown = "" if row is None else row.shown_value
        rows.append([
            str(node.start), code(data) if data else "", f"{indent}{code(node.label)}",
            "" if row is None else cell(row.type), code(shown) if shown else "",
            "" if row is None else cell(row.meaning),
        ])  # fmt: skip
    return table(["Offset", "Bytes", "Field", "Type", "Value", "Meaning"], rows)
