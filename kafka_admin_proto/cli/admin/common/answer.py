"""What a command answers, and how it is written: as a table, JSON, JSON lines, YAML or TSV.

The document is the answer; a table and TSV are made of rows whose values are in the document. TSV
has a column for each key of a row, in the row's order, and no header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.output import compact_json, print_table, printable, utc_text, write_tsv

OUTPUTS = ("table", "json", "jsonl", "yaml", "tsv")

#: The ``error`` of an item whose change began, and was not seen on every broker in time.
NOT_COMPLETE = "NotComplete"

#: Columns of milliseconds since 1970, which tables show as times; other milliseconds are durations.
TIMES = frozenset({
    "timestamp_ms", "last_timestamp_ms", "start_time_ms", "last_fetch_ms", "last_caught_up_ms",
    "issued_ms", "expires_ms", "max_ms",
})  # fmt: skip

#: A row of a table or of TSV, or an item of a document.
Row = dict[str, Any]


class Table(msgspec.Struct, kw_only=True):
    """Rows with the same keys, which are the columns.

    ``hidden`` are columns of TSV that the table leaves out, ``title`` stands above the table. Rows
    whose ``error`` is hidden failed: the table is of what succeeded, and standard error has them.
    ``absent`` stands in empty cells of the table; without it, columns of these alone are left out.
    """

    rows: Sequence[Row]
    title: str = ""
    hidden: Sequence[str] = ()
    absent: str = ""


#: The note of a list without rows: a broker leaves out what its client may not describe.
NONE_SEEN = "no {}, or none that the client may see"


class Answer(msgspec.Struct, kw_only=True):
    """``document`` is the JSON object but for its ``errors``.

    ``errors`` are failures of items or of all: any makes the exit code 1. ``notes`` are sentences
    for people, on standard error beside a table.
    """

    document: Row
    tables: Sequence[Table]
    errors: Sequence[Row] = ()
    notes: Sequence[str] = ()

    @property
    def exit_code(self) -> int:
        return 1 if self.errors else 0


def picked(row: Mapping[str, Any], *names: str) -> Row:
    return {name: row[name] for name in names}


def listed(
    name: str, items: list[Row], errors: Sequence[Row] = (), notes: Sequence[str] = (), **more: Any
) -> Answer:
    """The answer of one list: the table is of the items that succeeded.

    ``name`` is the key of the list in the document, ``more`` are its other members.
    """
    return Answer(
        document={name: items, **more},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=errors,
        notes=notes,
    )


def write(answer: Answer, output: str, items: str | None) -> None:
    """Write the answer to standard output, and what is for people alone to standard error.

    ``items`` names the list in the document whose items are the JSON lines; without one the whole
    document is a line.
    """
    whole = {**answer.document, "errors": list(answer.errors)}
    if output == "json":
        click.echo(msgspec.json.format(compact_json(whole), indent=2))
    elif output == "yaml":
        click.echo(to_yaml(whole), nl=False)
    elif output == "jsonl":
        for line in _lines(answer, items):
            click.echo(compact_json(line))
    elif output == "tsv":
        rows = [row for table in answer.tables for row in table.rows]
        write_tsv(row for row in rows if row.keys() == rows[0].keys())  # the columns are stable
        _complain(answer.errors)
    else:
        _write_tables(answer.tables)
        for note in answer.notes:
            click.echo(printable(note), err=True)
        _complain(answer.errors)


def to_yaml(value: Any) -> str:
    """The value as YAML. Raises click.UsageError where no library for it is installed."""
    # What JSON cannot say, such as a topic id, is text here as well.
    plain = msgspec.to_builtins(value)
    text = str(yaml().safe_dump(plain, sort_keys=False, allow_unicode=True))
    if all(map(str.isprintable, text.split("\n"))):
        return text
    return str(yaml().safe_dump(plain, sort_keys=False))  # escapes whatever is not ASCII


def yaml() -> Any:
    """PyYAML's module. Raises click.UsageError where it is not installed."""
    try:
        import yaml as found
    except ModuleNotFoundError as error:
        raise click.UsageError(
            "YAML needs the package PyYAML: pip install 'kafka-admin-proto[live]'"
        ) from error
    return found


_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+\Z")
_OLD_NUMBER = re.compile(r"[-+]?(0[0-9_]|.*:)")


def _written(node: Any) -> str:
    """The text of what only YAML 1.1 has for a number, empty for any other."""
    return str(node.value) if _OLD_NUMBER.match(node.value) else ""


def strict_loader(library: Any) -> Any:
    """PyYAML's safe loader, but for keys that stand twice in a mapping: the last would count.

    6.0 is 6, and 1e+06 a number: a templating program makes such of 86400000 and 1000000. What YAML
    1.1 alone has for a number, of minutes or in octal (1:30, 017), is the text that stands there.
    """

    class Loader(library.SafeLoader):  # type: ignore[misc]
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen: set[str] = set()
            for key in (key for key, _ in node.value if isinstance(key.value, str)):
                if key.value in seen:
                    raise library.composer.ComposerError(
                        None, None, f"{key.value!r} is there twice", key.start_mark
                    )
                seen.add(key.value)
            return node

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (ValueError, LookupError, AttributeError):  # 2026-02-30, !!bool no such
                kind = node.tag.rpartition(":")[2]
                raise library.constructor.ConstructorError(
                    None, None, f"a value is no {kind} of YAML; quote a text", node.start_mark
                ) from None

        def construct_yaml_float(self, node: Any) -> int | float | str:
            number: float = super().construct_yaml_float(node)
            return _written(node) or (int(number) if number.is_integer() else number)

        def construct_yaml_int(self, node: Any) -> int | str:
            found: int = super().construct_yaml_int(node)
            return _written(node) or found

    for kind in ("float", "int"):
        tag = f"tag:yaml.org,2002:{kind}"
        Loader.add_constructor(tag, getattr(Loader, f"construct_yaml_{kind}"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, [*"+-0123456789"])
    return Loader


def cell(value: Any) -> str:
    """A value of a document as the text of a table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return ",".join(
            ":".join(map(cell, each)) if isinstance(each, list | tuple) else cell(each)
            for each in value
        )
    if isinstance(value, dict):
        return " ".join(f"{printable(str(key))}={cell(each)}" for key, each in value.items())
    return compact_json(value)


def _cell(column: str, value: Any) -> str:
    """A value as the text of a cell in a column of that name: numbers of ``TIMES`` as times."""
    if column in TIMES and value is not None:
        return (utc_text(value * 1000, "milliseconds") or "") if value >= 0 else ""
    return cell(value)


def _name(value: Any) -> str:
    """What an error is about: an empty name is shown, what an entity lacks is left out."""
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if each is not None}
    return '""' if value == "" else cell(value)


def error_line(row: Mapping[str, Any]) -> str:
    """An error of a document as a sentence: where, what it is called, what it means."""
    message = row.get("message") or ""
    about = [
        f"{name.replace('_', ' ')} {_name(value)}"
        for name, value in row.items()
        if name not in ("error", "message", "hint")
        and value is not None
        and not (name == "address" and all(each in message for each in value.split(",")))
    ]
    parts = [" ".join(about), row.get("error") or "", message]
    if parts[2] and (parts[1].endswith("Error") or parts[1] == NOT_COMPLETE):
        del parts[1]  # an error of the client, whose message says it all
    line = ": ".join(part for part in parts if part)
    hint = row.get("hint")
    return printable(f"{line} ({hint})" if hint else line)


def _write_tables(tables: Sequence[Table]) -> None:
    printed = False
    for table in tables:
        rows = [row for row in table.rows if "error" not in table.hidden or not row["error"]]
        if not rows and not table.title:
            continue
        if printed:
            click.echo()
        printed = True
        names = [name for name in (rows[0] if rows else ()) if name not in table.hidden]
        texts = {name: [_cell(name, row[name]) or table.absent for row in rows] for name in names}
        columns = [name for name in names if any(texts[name])]
        cells = [[texts[name][place] for name in columns] for place in range(len(rows))]
        heads = [
            (name.removesuffix("_ms") if name in TIMES else name).replace("_", " ")
            for name in columns
        ]
        print_table(heads, cells, title=printable(table.title))


def _lines(answer: Answer, name: str | None) -> Iterable[Any]:
    if name is None:
        yield {**answer.document, "errors": list(answer.errors)}
        return
    items = answer.document[name]
    yield from items
    said = {(item.get("error"), item.get("message")) for item in items if item.get("error")}
    yield from (each for each in answer.errors if (each["error"], each["message"]) not in said)


def _complain(errors: Sequence[Row]) -> None:
    for row in errors:
        click.echo(f"kap: {error_line(row)}", err=True)
