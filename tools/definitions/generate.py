"""Write the generated files.

From ``schemas/`` come the value classes (their docstrings from ``schemas/about.json``), the index,
the constants of api keys and error codes, and the counts in texts; from the asynchronous admin
client comes the synchronous one.

Definitions in Kafka's JSON are written anew in the form that all of them have; comments in them are
not kept.

Run as ``python -m tools.definitions.generate`` to write, with ``--check`` to compare with what
is there: file by file in memory, missing and stale files included; exit code 1 and a list where
they differ.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from uuid import UUID

import msgspec

from kafka_admin_proto.loaded_schemas import ClassPlan, annotation, class_plans
from kafka_admin_proto.render.schema_rows import field_notes
from kafka_admin_proto.schema.catalog import READERS, Entry, read_definition
from kafka_admin_proto.schema.credentials import credential_paths
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import messages_package, python_name
from kafka_admin_proto.schema.overlay import MessageOverlay as Overlay
from kafka_admin_proto.schema.overlay import (
    apply_overlay,
    overlay_key,
    read_overlay,
    undecided,
    unknown_paths,
)
from kafka_admin_proto.schema.scalars import ZERO_UUID
from tools.definitions.generate_sync import PATH as SYNC_CLIENT
from tools.definitions.generate_sync import sync_module
from tools.definitions.texts import field_paths, texts

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
MESSAGES = ROOT / "kafka_admin_proto" / "messages"
PROTOCOL = ROOT / "kafka_admin_proto" / "protocol"

#: Texts that say how many messages there are.
COUNTED = ("README.md", "CHANGELOG.md")
_COUNTS = re.compile(r"\d+ messages, \d+ versions")

#: Columns of a docstring's lines, inside the indentation of a class.
_TEXT_WIDTH = 96

#: The types of the class variables that mark a class.
_MARKS = {
    "message_name": "str",
    "dialect": "str",
    "api_key": "int | None",
    "secret_fields": "dict[str, str]",
}
#: Names that a generated module uses itself, so that no struct may have them.
_FROM_VALUES = {"Message", "StructValue", "equal_bits"}
_TAKEN = _FROM_VALUES | {"ClassVar", "UUID", "ZERO_UUID", "field"}


def outputs() -> dict[Path, str]:
    """Every generated file and its text."""
    overlays = read_overlay((SCHEMAS / "overlay.json").read_bytes())
    described = set(texts().messages)
    index: dict[str, dict[str, Entry]] = {}
    files: dict[Path, str] = {}
    for dialect in sorted(folder.name for folder in SCHEMAS.iterdir() if folder.is_dir()):
        entries = index[dialect] = {}
        package = messages_package(dialect)
        folder = ROOT / package.replace(".", "/")
        for path in sorted((SCHEMAS / dialect).iterdir()):
            if path.suffix not in READERS:
                raise SystemExit(f"{path.name} is no definition: there are {', '.join(READERS)}")
            spec = read_definition(path, dialect)
            if path.stem != spec.name:
                raise SystemExit(f"{path.name} defines {spec.name}: rename one of the two")
            overlay = overlays.pop(overlay_key(spec.name, dialect), Overlay())
            if unknown := unknown_paths(spec, overlay):
                raise SystemExit(f"overlay.json names fields that {spec.name} lacks: {unknown}")
            _check_credentials(spec, overlay)
            if path.suffix == ".json":
                files[path] = write_message(spec)
            spec = apply_overlay(spec, overlay)
            entries[spec.name] = Entry.of(spec, overlay)
            source = path.relative_to(ROOT).as_posix()
            files[folder / f"{python_name(spec.name)}.py"] = _module(texts().apply(spec), source)
            described.discard(overlay_key(spec.name, dialect))
            _check_texts(spec)
        for type_ in ("request", "response"):
            _check_keys(type_, entries)
        files[folder / "__init__.py"] = _package(package, dialect, sorted(entries))
    if overlays:
        raise SystemExit(f"overlay.json names messages without a definition: {sorted(overlays)}")
    if described:
        raise SystemExit(f"about.json names messages without a definition: {sorted(described)}")
    files[PROTOCOL / "api_keys.py"] = _constants(
        "schemas/kafka/",
        "Kafka's api keys by the names of the apis; plain integers, as they are on the wire.",
        {
            python_name(name.removesuffix("Request")).upper(): entry.api_key
            for name, entry in index["kafka"].items()
            if entry.type == "request" and entry.api_key is not None
        },
    )
    errors = msgspec.json.decode((SCHEMAS / "errors.json").read_bytes())["kafka"]
    files[PROTOCOL / "codes.py"] = _constants(
        "schemas/errors.json",
        "Kafka's error codes by their names; plain integers, as they are on the wire.",
        {each["name"]: each["code"] for each in errors},
    )
    index_json = msgspec.json.format(msgspec.json.encode(index), indent=2).decode()
    files[SCHEMAS / "index.json"] = index_json + "\n"
    files |= {ROOT / name: _counted(ROOT / name, index["kafka"]) for name in COUNTED}
    files[ROOT / SYNC_CLIENT] = sync_module()
    return _formatted(files)


def _constants(source: str, about: str, values: dict[str, int]) -> str:
    lines = (f"{name} = {value}\n" for name, value in sorted(values.items(), key=lambda x: x[1]))
    return (
        f"# Generated by tools/definitions/generate.py from {source}. Do not edit.\n"
        f'"""{about}"""\n\n{"".join(lines)}'
    )


def _counted(path: Path, entries: dict[str, Entry]) -> str:
    """A text with the number of Kafka's messages and versions as it is now.

    A changelog's later sections are about releases, and stay.
    """
    now, older, released = path.read_text("utf-8").partition("\n## ")
    if path.name == "CHANGELOG.md":
        first, older, released = released.partition("\n## ")
        now += f"\n## {first}"
    versions = sum(len(list(entry.versions)) for entry in entries.values())
    now = _COUNTS.sub(f"{len(entries)} messages, {versions} versions", now)
    return now + older + released


def _check_credentials(spec: MessageSpec, overlay: Overlay) -> None:
    """Check that the overlay says of each field that looks like a credential whether it is one."""
    key = overlay_key(spec.name, spec.dialect)
    if paths := undecided(spec, overlay):
        raise SystemExit(
            f"{spec.file}: by their names these fields may be credentials: {', '.join(paths)}; "
            f'list each in schemas/overlay.json under "{key}", as "sensitive" if it is one, else '
            'as "notSensitive"'
        )
    looks_secret = {*credential_paths(spec)} - {*overlay.sensitive, *overlay.sensitive_values}
    if paths := [path for path in overlay.not_sensitive if path not in looks_secret]:
        raise SystemExit(
            f'schemas/overlay.json: "{key}" lists as "notSensitive" what is listed otherwise, or '
            f"looks like no credential: {', '.join(paths)}; remove it there"
        )


def _check_texts(spec: MessageSpec) -> None:
    """Check that a message with texts has one for each of its fields, and none for other fields."""
    own = texts().messages.get(overlay_key(spec.name, spec.dialect))
    if own is None:
        return
    paths = field_paths(spec)
    if unknown := sorted(own.fields.keys() - set(paths)):
        raise SystemExit(f"about.json names fields that {spec.name} lacks: {', '.join(unknown)}")
    if missing := [path for path in paths if not texts().of(own, path)]:
        raise SystemExit(f"about.json describes {spec.name} without {', '.join(missing)}")


def _check_keys(type_: str, entries: dict[str, Entry]) -> None:
    """Check that no two requests, and no two responses, share an api key."""
    seen: dict[int | None, str] = {}
    for name, entry in entries.items():
        if entry.api_key is None:
            continue  # most drafts have none
        if entry.type == type_ and (other := seen.setdefault(entry.api_key, name)) != name:
            raise SystemExit(f"{name} and {other} both have api key {entry.api_key}")


def _module(spec: MessageSpec, source: str) -> str:
    plans = class_plans(spec)
    body = "\n\n".join(_class(spec, plan) for plan in plans)
    names = {plan.name for plan in plans}
    if names & _TAKEN:
        raise SystemExit(f"{spec.name}: struct names {names & _TAKEN} collide with imports")
    return (
        f"# Generated by tools/definitions/generate.py from {source}. Do not edit.\n"
        f'"""{_title(spec)}"""\n\n'
        f"from __future__ import annotations\n\n{_imports(body)}\n"
        f"__all__ = [{', '.join(repr(name) for name in sorted(names))}]\n\n\n{body}"
    )


def _imports(body: str) -> str:
    """What the classes need, in the groups that ruff sorts imports into."""
    used = [name for name in sorted(_TAKEN) if re.search(rf"\b{name}\b", body)]
    groups = [
        ["from typing import ClassVar"],
        ["from msgspec import field"] if "field" in used and "field(" in body else [],
        [f"from kafka_admin_proto.values import {', '.join(n for n in used if n in _FROM_VALUES)}"],
    ]
    if "UUID" in used:
        groups[0].append("from uuid import UUID")
    if "ZERO_UUID" in used:
        groups[2].insert(0, "from kafka_admin_proto.schema.scalars import ZERO_UUID")
    return "\n".join("\n".join(group) + "\n" for group in groups if group)


def _title(spec: MessageSpec) -> str:
    key = "" if spec.api_key is None else f", api key {spec.api_key}"
    key = key if spec.dialect == "kafka" else f" of {spec.dialect}{key}"
    flexible = spec.flexible_versions & spec.valid_versions
    suffix = "" if flexible.empty else f", flexible from {flexible.lowest}"
    return f"{spec.name}: {spec.type}{key}, versions {spec.valid_versions}{suffix}."


def _class(spec: MessageSpec, plan: ClassPlan) -> str:
    is_message = plan.name == spec.name
    lines = [f"class {plan.name}({plan.base.__name__}):"]
    lines += [f'    """{line}' if i == 0 else f"    {line}".rstrip()
              for i, line in enumerate(_docstring(spec, plan))]  # fmt: skip
    lines += ['    """', ""]
    for name, value in plan.marks.items():
        text = f'"{value}"' if isinstance(value, str) else value
        lines.append(f"    {name}: ClassVar[{_MARKS[name]}] = {text}")
    if plan.structs:
        lines += ["", _nested(spec, plan.structs)]
    if is_message or plan.marks:
        lines.append("")
    for name, field in plan.fields.items():
        lines.append(f"    {name}: {annotation(field)} = {_default(field)}")
    if plan.has_unknown_tags:
        lines.append("    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()")
    if plan.has_floats:
        lines += ["", "    def __eq__(self, other: object) -> bool:"]
        lines.append("        return equal_bits(self, other)")
    return "\n".join(lines) + "\n"


def _nested(spec: MessageSpec, names: list[str]) -> str:
    """Statements that make the structs attributes of their message's class.

    The module imports them from itself, as mypy takes ``Name = Name`` in the body of a class for a
    variable, which is no type for an annotation. A struct's name begins with a capital and a
    field's with a small letter, so that neither hides the other.
    """
    module = f"{messages_package(spec.dialect)}.{python_name(spec.name)}"
    return f"    from {module} import " + ", ".join(f"{name} as {name}" for name in names)


def _default(field: FieldSpec) -> str:
    value = field.default_value
    if isinstance(value, list):
        return "field(default_factory=list)"
    if isinstance(value, dict):
        return f"field(default_factory={field.type.element})"
    if isinstance(value, UUID):
        return "ZERO_UUID" if value == ZERO_UUID else f'UUID("{value}")'
    return repr(value)


def _docstring(spec: MessageSpec, plan: ClassPlan) -> list[str]:
    is_message = plan.name == spec.name
    lines = [_title(spec) if is_message else f"A struct of {spec.name}."]
    if is_message and spec.about:
        lines += ["", *textwrap.wrap(spec.about, _TEXT_WIDTH)]
    if plan.fields:
        lines += ["", "Fields:", ""]
    for name, field in plan.fields.items():
        text = f"- ``{name}``: {_facts(spec, field)}"
        if field.about:
            text = f"{text}. {field.about}"
        lines += textwrap.wrap(text, _TEXT_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _facts(spec: MessageSpec, field: FieldSpec) -> str:
    facts = [str(field.type)]
    if not field.versions.covers(spec.valid_versions):
        facts.append(f"versions {field.versions}")
    nullable = field.nullable_versions & field.versions
    if nullable.covers(field.versions & spec.valid_versions):
        facts.append("nullable")
    elif not nullable.empty:
        facts.append(f"nullable in {nullable}")
    if field.tag is not None:
        where = "" if field.tagged_versions == field.versions else f" in {field.tagged_versions}"
        facts.append(f"tag {field.tag}{where}")
    facts += field_notes(field)
    return ", ".join(facts)


def _package(package: str, dialect: str, names: list[str]) -> str:
    imports = "\n".join(
        f"    from {package}.{python_name(name)} import {name} as {name}" for name in names
    )
    listed = "\n".join(f'    "{name}",' for name in names)
    return (
        f"# Generated by tools/definitions/generate.py from schemas/{dialect}/. Do not edit.\n"
        f'"""The value classes of dialect {dialect}, each loaded when it is first named."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING\n\n"
        f"__all__ = [\n{listed}\n]\n\n"
        f"if TYPE_CHECKING:\n{imports}\n"
        "else:\n"
        "    from importlib import import_module\n\n"
        "    from kafka_admin_proto.schema.names import python_name\n\n"
        "    def __getattr__(name):\n"
        "        if name not in __all__:\n"
        '            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")\n'
        '        module = import_module(f"{__name__}.{python_name(name)}")\n'
        "        return globals().setdefault(name, getattr(module, name))\n\n"
        "    def __dir__():\n"
        "        return sorted({*globals(), *__all__})\n"
    )


def _formatted(files: dict[Path, str]) -> dict[Path, str]:
    """The Python files as ruff formats them, all in one run over their joined text."""
    mark = "# ---- next generated file ----\n"
    python = [path for path in files if path.suffix == ".py"]
    joined = mark.join(files[path] for path in python)
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "100", "-"]
    done = subprocess.run(command, input=joined, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"ruff cannot format what was generated:\n{done.stderr}")
    texts = [text.strip() + "\n" for text in done.stdout.split(mark)]
    return files | dict(zip(python, texts, strict=True))


def differences(files: dict[Path, str]) -> list[str]:
    """What is missing, stale or different on disk, a line each."""
    found = []
    for path, text in files.items():
        if not path.exists():
            found.append(f"missing: {path.relative_to(ROOT)}")
        elif path.read_text("utf-8") != text:
            found.append(f"differs: {path.relative_to(ROOT)}")
    for path in sorted(MESSAGES.rglob("*.py")):
        if path not in files:
            found.append(f"stale: {path.relative_to(ROOT)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    files = outputs()
    if check:
        found = differences(files)
        if found:
            print("\n".join(found), "run `make generate`", sep="\n")
        return bool(found)
    for path, text in files.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    for path in MESSAGES.rglob("*.py"):
        if path not in files:
            path.unlink()
    print(f"{len(files)} files up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
