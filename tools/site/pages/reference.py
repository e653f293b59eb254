"""Pages of reference that are made from the code: error codes, commands, public names."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import click
import msgspec

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.protocol.error_codes import ErrorCode, all_errors
from tools.site.markdown import cell, code, table

#: Where the pages are, below the site's root.
FOLDER = "reference"
#: Dialects that have error codes, and what they are called.
_ERROR_DIALECTS = {"kafka": "Kafka's codes", "kip-4": "Codes that KIP-4's drafts proposed"}


class ApiPage(msgspec.Struct, frozen=True):
    """A package or module whose public names are one page; ``more`` are modules that join it.

    ``handed_out`` are full names that no import is for: types of what public names take or return.
    ``options`` are mkdocstrings' own for one name.
    """

    module: str
    title: str
    more: tuple[str, ...] = ()
    handed_out: tuple[str, ...] = ()
    options: dict[str, str] = {}

    @property
    def path(self) -> str:
        """The page's path below the site's root."""
        return f"{FOLDER}/python/{self.title.lower().replace(' ', '-')}.md"


API_PAGES = (
    ApiPage("kafka_admin_proto", "Codecs and errors"),
    ApiPage("kafka_admin_proto.protocol", "Frames and payloads"),
    ApiPage(
        "kafka_admin_proto.protocol.connection",
        "Connections",
        handed_out=("kafka_admin_proto.protocol.connection.client.Trace",),
    ),
    ApiPage("kafka_admin_proto.topic_ids", "Topic ids"),
    ApiPage("kafka_admin_proto.records", "Records and logs"),
    ApiPage("kafka_admin_proto.placement", "Placement"),
    ApiPage("kafka_admin_proto.capture", "Captures and dumps"),
    ApiPage(
        "kafka_admin_proto.admin",
        "Admin client",
        handed_out=(
            "kafka_admin_proto.admin.network.tracing.Trace",
            "kafka_admin_proto.admin.operations.common.waiting.Missing",
        ),
        # Its methods are those of many bases; the synchronous client has the same ones.
        options={"AdminClient": "inherited_members: true", "SyncAdminClient": "members: false"},
    ),
    ApiPage(
        "kafka_admin_proto.server",
        "Reference cluster",
        handed_out=(
            "kafka_admin_proto.faults.fault.Fault",
            *(
                f"kafka_admin_proto.server.{name}"
                for name in (
                    "state.State",
                    "brokers.view.View",
                    "brokers.views.Views",
                    "faults.faults.ClusterFaults",
                    "inspection.asked_requests.AskedRequests",
                    "inspection.asked_requests.AskedRequest",
                    "clock.Clock",
                    "sync.SyncClock",
                    "network.service.Trace",
                )
            ),
        ),
        options={"ClusterFaults": "inherited_members: true"},
    ),
    ApiPage("kafka_admin_proto.proxy", "Proxy"),
    ApiPage("kafka_admin_proto.testing", "Testing"),
    ApiPage("kafka_admin_proto.tables.queries", "Tables"),
    ApiPage(
        "kafka_admin_proto.spark.session",
        "Spark",
        tuple(f"kafka_admin_proto.spark.{name}" for name in ("frames", "functions")),
    ),
    ApiPage(
        "kafka_admin_proto.simulation.scenarios",
        "Simulation",
        tuple(f"kafka_admin_proto.simulation.{name}" for name in ("node", "rules", "world.world")),
    ),
)


def errors_text() -> str:
    """All error codes with their meanings."""
    lines = [
        "# Error codes", "",
        "Fields named `error_code` hold these. `kap error 44` and `error_code(44)` say the same.",
        "",
    ]  # fmt: skip
    for dialect, title in _ERROR_DIALECTS.items():
        rows = [_error_row(error) for error in all_errors(dialect)]
        lines += [f"## {title}", ""]
        lines += [*table(["Code", "Retriable", "Name and meaning"], rows), ""]
    return "\n".join(lines)


def _error_row(error: ErrorCode) -> list[str]:
    retriable = {True: "yes", False: "no", None: ""}[error.retriable]
    # A heading, so that the search finds each name by itself.
    name = f'<h4 id="{error.name.lower()}">{code(error.name)}</h4>'
    return [str(error.code), retriable, f"{name} {cell(error.meaning)}"]


def commands_text() -> str:
    """Every command of ``kap`` with its own help."""
    lines = [
        "# `kap`, command by command", "",
        "This page is what `kap --help` and `kap COMMAND --help` print.", "",
    ]  # fmt: skip
    for path, command in _commands(kap, ("kap",)):
        context = click.Context(command, info_name=" ".join(path), max_content_width=88)
        level = "#" * min(len(path) + 1, 4)
        lines += [f"{level} {' '.join(path)}", "", "```text"]
        lines += [command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines)


def _commands(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _commands(found, (*path, name))


def api_text(page: ApiPage) -> str:
    """The public names of a module, for mkdocstrings to fill in."""
    lines = [f"# {page.title}", ""]
    for each in (page.module, *page.more):
        module = importlib.import_module(each)
        lines += [f"`{each}`", ""]
        for name in public_names(module):
            lines.append(f"::: {_defined(module, name)}")
            if name in page.options:
                lines += ["    options:", f"      {page.options[name]}"]
            lines.append("")
    for name in page.handed_out:
        lines += [f"::: {name}", ""]
    return "\n".join(lines)


def public_names(module: ModuleType) -> list[str]:
    """The names that the page of a module has."""
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
    ]
    return sorted(name for name in own if not name.startswith("_"))


def _defined(module: ModuleType, name: str) -> str:
    """The full name under which the value is defined."""
    value = getattr(module, name)
    where = getattr(value, "__module__", None)
    if (
        isinstance(where, str)
        and where.startswith("kafka_admin_proto")
        and hasattr(value, "__name__")
    ):
        return f"{where}.{value.__name__}"
    return f"{module.__name__}.{name}"
