"""What every command that reads captured bytes takes: files, how they are written, which frames.

@click.command()
@with_inputs
@click.option("--raw", is_flag=True)
def decode(inputs: Inputs, raw: bool) -> None:
    frames = inputs.frames(mask=True)
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable
from io import BufferedReader, FileIO
from typing import IO, Any, Literal

import click
import msgspec
from click.shell_completion import CompletionItem

from kafka_admin_proto.capture.connection.topic_names import NAMING_API_KEYS
from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.sources import FORMATS, read_frames
from kafka_admin_proto.cli.captures.filters import Filter, FilteredFrames, Instant, api_keys
from kafka_admin_proto.cli.captures.live import LiveInput, WaitHook
from kafka_admin_proto.cli.captures.progress import Progress
from kafka_admin_proto.cli.logs.segments import SEGMENT, is_segment
from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.loaded_schemas import load_schemas
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.render.text import printable
from kafka_admin_proto.schema.catalog import catalog


class Inputs(msgspec.Struct, kw_only=True):
    """The values of the shared options."""

    files: tuple[str, ...]
    input_format: str
    unit: Literal["frames", "payload", "body"]
    direction: Literal["request", "response"] | None
    api: str | None
    version: int | None
    dialect: str
    schemas: str | None
    max_frame_bytes: int
    client_id: str | None
    connection: str | None
    errors_only: bool
    since: int | None
    until: int | None
    only: int | None

    def segments(self) -> list[str]:
        """The inputs, if they are log segments; raises click.UsageError where only some are."""
        if self.input_format not in ("auto", SEGMENT):
            return []
        found = [name for name in self.files if name != "-" and is_segment(name)]
        if self.input_format == SEGMENT:
            return list(self.files or ("-",))
        if found and len(found) < len(self.files):
            raise click.UsageError(f"{found[0]} is a log segment and not all the others are")
        return found

    def filters(self) -> list[str]:
        """The options given that choose among frames."""
        return [
            f"--{name.replace('_', '-')}"
            for name in ("api", "client_id", "connection", "errors_only", "since", "until", "only")
            if getattr(self, name) not in (None, False)
        ]

    def frames(self, *, mask: bool, bodies: bool = True, silent: bool = False) -> FilteredFrames:
        """The frames to show; ``bodies`` False reads headers alone. Raises click.UsageError.

        ``mask`` hides secrets. ``silent``: nothing is written before the end, so that the progress
        may be shown.
        """
        twice = {name for name in self.files if self.files.count(name) > 1}
        if twice:
            raise click.UsageError(f"{', '.join(sorted(twice))} is named twice")
        decoder, wanted = self._decoder(), self._filter()
        if not self.files and sys.stdin is None:
            raise click.UsageError("there is no standard input; name a file")
        if not self.files and sys.stdin.isatty():
            click.echo("Paste a dump and end it with Ctrl-D (--help shows other ways).", err=True)
        files = self.files or ("-",)
        keys: Collection[int] | None = None if bodies or self.errors_only else ()
        if keys is None and wanted.api_keys is not None:
            keys = wanted.api_keys | NAMING_API_KEYS
        progress = Progress(files, silent=silent)
        opener = _Opener(progress)
        frames = read_frames(
            files, decoder, format=self.input_format, bodies=keys, opener=opener.open
        )
        shown = FilteredFrames(progress.around(frames), wanted, self.only, mask=mask)
        opener.wait_hook.on_wait = lambda: shown.on_wait()
        return shown

    @property
    def _is_described(self) -> bool:
        """Whether --api and --version describe the input, and do not filter its frames."""
        return self.unit == "body" or self.direction == "response"

    def _decoder(self) -> FrameDecoder:
        self._check()
        if self.schemas is not None:
            try:
                self.dialect = load_schemas(self.schemas, dialect=f"definitions in {self.schemas}")
            except SchemaError as error:
                raise click.UsageError(str(error)) from None
        try:
            catalog().names(self.dialect)  # here, and not frame by frame, is an unknown one refused
            return FrameDecoder(
                unit=self.unit,
                direction=self.direction or "auto",
                api=self.api if self._is_described else None,
                version=self.version,
                limit=self.max_frame_bytes,
                dialect=self.dialect,
            )
        except (UnknownMessageError, SchemaError) as error:
            raise click.UsageError(str(error)) from None

    def _check(self) -> None:
        if self._is_described and (self.api is None or self.version is None):
            option = "--unit body" if self.unit == "body" else "--response"
            raise click.UsageError(f"{option} needs --api and --version")
        if not self._is_described and self.version is not None:
            raise click.UsageError("--version goes with --response or --unit body")
        if self.schemas is not None and self.dialect != "kafka":
            raise click.UsageError("--schemas and --dialect exclude each other")

    def _filter(self) -> Filter:
        keys = None
        if self.api is not None and not self._is_described:
            keys = api_keys(self.api, self.dialect)
        return Filter(
            api_keys=keys,
            client_id=self.client_id,
            connection=self.connection,
            errors_only=self.errors_only,
            since=self.since,
            until=self.until,
        )


class UnreadableInput(click.ClickException):
    """A named input that cannot be read at all: a usage error, ``kap: FILE: reason``."""

    exit_code = 2

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"kap: {printable(name)}: {reason}")

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=True)


def check_readable(names: Iterable[str], *, folders: bool = False) -> None:
    """Refuse inputs that are missing, not to be read or (unless ``folders``) a folder.

    All are looked at before any is read. A pipe is not opened: it may be opened but once. Raises
    UnreadableInput.
    """
    for name in names:
        if name == "-":
            continue
        try:
            mode = os.stat(name).st_mode
            if stat.S_ISREG(mode):
                os.close(os.open(name, os.O_RDONLY))
        except OSError as error:
            raise UnreadableInput(name, error.strerror or str(error)) from None
        if stat.S_ISDIR(mode) and not folders:
            raise UnreadableInput(name, os.strerror(errno.EISDIR))


class _Opener:
    """Opens inputs; what can be read but once (standard input, pipes) is kept open."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._kept: dict[str, _KeptOpen] = {}
        self.wait_hook = WaitHook()

    def open(self, name: str) -> BufferedReader:
        if name in self._kept:
            return self._kept[name]
        raw: Any
        if name != "-":
            if not stat.S_ISFIFO(os.stat(name).st_mode):
                return BufferedReader(self._progress.open(name), SAMPLE_BYTES)
            raw = LiveInput(name, self.wait_hook)
        else:
            # A look ahead of its own size: that of sys.stdin is too small to tell formats by.
            raw = sys.stdin.buffer
            if isinstance(getattr(raw, "raw", None), FileIO):
                raw = LiveInput(os.dup(raw.fileno()), self.wait_hook)
        self._kept[name] = _KeptOpen(raw, SAMPLE_BYTES)
        return self._kept[name]


class _KeptOpen(BufferedReader):
    """A reader that stays open: the bytes that were peeked at are still to be read."""

    def __exit__(self, *_: object) -> None:
        pass


def complete_api(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Api names for the shell: those with "Request" left off first, then all messages."""
    names = catalog().names()
    apis = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    given, _, last = incomplete.rpartition(",")
    before = f"{given}," if given else ""
    found = [n for n in [*apis, *names] if n.casefold().startswith(last.casefold())]
    return [CompletionItem(before + name) for name in found]


_OPTIONS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.argument("files", nargs=-1, type=click.Path(allow_dash=True)),
    click.option(
        "--input-format",
        type=click.Choice(["auto", *FORMATS, SEGMENT]),
        default="auto",
        show_default=True,
        help="What the input is written in.",
    ),
    click.option(
        "--unit",
        type=click.Choice(["frames", "payload", "body"]),
        default="frames",
        show_default=True,
        help="What a block of a dump is: frames with their size in front, one header and body "
        "without the size, or a body alone (needs --api and --version).",
    ),
    click.option("--request", "direction", flag_value="request", help="All frames are requests."),
    click.option(
        "--response",
        "direction",
        flag_value="response",
        help="All frames are responses (needs --api and --version).",
    ),
    click.option(
        "--api",
        shell_complete=complete_api,
        help="Show these apis alone, by name or key: CreateTopics,Metadata. With --response or "
        "--unit body: what the input is.",
    ),
    click.option("--version", type=int, help="Version of the api, with --response or --unit body."),
    click.option("--client-id", help="Show this client's requests and responses alone."),
    click.option(
        "--connection", help="Show this connection alone; also ip:port or ip of one of its ends."
    ),
    click.option("--errors-only", is_flag=True, help="Show error codes and problems alone."),
    click.option(
        "--since", type=Instant(), help="Show what was captured from then on (UTC unless it says)."
    ),
    click.option("--until", type=Instant(), help="Show what was captured before then."),
    click.option("--only", type=click.IntRange(1), help="Show the frame of this number alone."),
    click.option("--dialect", default="kafka", help="Definitions to read by, as in kip-516."),
    click.option(
        "--schemas",
        type=click.Path(exists=True, file_okay=False),
        help="A folder of definitions to read by, as of a newer release.",
    ),
    click.option(
        "--max-frame-bytes",
        type=click.IntRange(0),
        default=DEFAULT_FRAME_LIMIT,
        show_default=True,
        help="A larger frame is an error; a broker's socket.request.max.bytes.",
    ),
)


def with_inputs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options; it gets them as its argument ``inputs``."""

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        taken = {name: arguments.pop(name) for name in Inputs.__struct_fields__}
        check_readable(taken["files"])
        command(inputs=Inputs(**taken), **arguments)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
