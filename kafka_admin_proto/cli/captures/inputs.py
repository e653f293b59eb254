"""What every command that reads captured bytes takes: files, how they are written, which frames.

@click.command()
@with_inputs
@click.option("--raw", is_flag=True)
def decode(inputs: Inputs, raw: bool) -> None:
    frames = inputs.frames(mask=True)
"""

from __future__ import annotations

import functools
import os
import stat
import sys
from collections.abc import Callable, Collection, Sequence
from io import BufferedReader, FileIO
from typing import Any, Literal

import click
from msgspec import structs

from kafka_admin_proto.capture.connection.topic_names import NAMING_API_KEYS
from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.plain_rows import RowSink
from kafka_admin_proto.capture.sources import FORMATS, PCAP, REQUEST_LOG, format_of, read_frames
from kafka_admin_proto.cli.captures.choice import Choice, choice_options
from kafka_admin_proto.cli.captures.filters import Filter, FilteredFrames
from kafka_admin_proto.cli.captures.live import LiveInput, WaitHook
from kafka_admin_proto.cli.captures.progress import Progress
from kafka_admin_proto.cli.captures.readable import check_readable, with_files_of_folders
from kafka_admin_proto.cli.logs.segments import SEGMENT, is_of_log
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.schemas_option import load_folder, schemas_option
from kafka_admin_proto.cli.times import TableTime, Time
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.schema.catalog import catalog

#: Every api key: of all of them, responses keep their requests.
ALL_APIS = range(-(1 << 15), 1 << 15)
#: Options that log segments do not have; ``topic`` is of their records, too.
OF_FRAMES = (
    "unit", "direction", "api", "version", "client_id", "connection", "errors_only", "slower_than",
    "with_requests", "since", "until", "only", "dialect", "schemas", "max_frame_bytes",
)  # fmt: skip
#: Kinds of inputs whose frames say what they are → their name, and the options of dumps alone.
_DESCRIBED = {
    PCAP: ("captures", ("unit", "direction")),
    REQUEST_LOG: ("request logs", ("unit", "direction", "max_frame_bytes")),
}


class Inputs(Choice, kw_only=True):
    """The values of the shared options."""

    files: tuple[str, ...]
    input_format: str
    unit: Literal["frames", "payload", "body"]
    direction: Literal["request", "response"] | None
    version: int | None
    dialect: str
    schemas: str | None
    max_frame_bytes: int
    with_requests: bool
    since: Time | None
    until: Time | None
    only: int | None

    def segments(self) -> list[str]:
        """The inputs, if they are files of a log; raises click.UsageError where only some are."""
        if self.input_format not in ("auto", SEGMENT):
            return []
        of_logs = [name for name in self.files if name != "-" and is_of_log(name)]
        if self.input_format == SEGMENT:
            return list(self.files or ("-",))
        if of_logs and len(of_logs) < len(self.files):
            raise click.UsageError(f"{of_logs[0]} is a file of a log and not all the others are")
        return of_logs

    def frames(
        self, *, mask: bool, bodies: bool = True, silent: bool = False, sink: RowSink | None = None
    ) -> FilteredFrames:
        """The frames to show; ``bodies`` False reads headers alone. Raises click.UsageError.

        ``mask`` hides secrets. ``silent``: nothing is written before the end, so that the progress
        may be shown. ``sink`` takes rows of captures as `read_frames` has it.
        """
        twice = {name for name in self.files if self.files.count(name) > 1}
        if twice:
            verb = "is" if len(twice) == 1 else "are"
            raise click.UsageError(f"{' and '.join(sorted(twice))} {verb} named twice")
        decoder, wanted = self._decoder(), self._filter()
        if not self.files and sys.stdin is None:
            raise click.UsageError("there is no standard input; name a file")
        if not self.files and sys.stdin.isatty():
            click.echo("Paste a dump and end it with Ctrl-D (--help shows other ways).", err=True)
        files = self.files or ("-",)
        reads_all = bodies or self.errors_only or self.topic is not None
        keys: Collection[int] | None = None if reads_all else ()
        if keys is None and wanted.api_keys is not None:
            keys = wanted.api_keys | NAMING_API_KEYS
        if self.only is not None:
            sink = None
        progress = Progress(files, silent=silent)
        opener = _Opener(progress)
        self._refuse_of_dumps(files, opener)
        frames = read_frames(
            files, decoder, format=self.input_format, bodies=keys, opener=opener.open,
            keep_requests=ALL_APIS if self.with_requests else (), sink=sink,
        )  # fmt: skip
        shown = FilteredFrames(
            progress.around(frames), wanted, self.only,
            mask=mask, with_requests=self.with_requests, dialect=self.dialect,
        )  # fmt: skip
        if sink is not None:
            sink.frames = shown
        opener.wait_hook.on_wait = lambda: shown.on_wait()
        return shown

    def _refuse_of_dumps(self, files: Sequence[str], opener: _Opener) -> None:
        """Raise click.UsageError for options about dumps where no input is a dump."""
        if (
            self.unit == "frames"
            and not self.direction
            and self.max_frame_bytes == DEFAULT_FRAME_LIMIT
        ):
            return
        kinds = {self._kind(name, opener) for name in files}
        if kinds <= set(_DESCRIBED):
            for form, options in map(_DESCRIBED.__getitem__, kinds):
                refuse(form, *options)

    def _kind(self, name: str, opener: _Opener) -> str:
        if self.input_format != "auto":
            return self.input_format
        try:
            with opener.open(name) as stream:
                return format_of(stream.peek(SAMPLE_BYTES))
        except OSError:  # it is a row with this problem
            return "auto"

    @property
    def _is_described(self) -> bool:
        """Whether --api and --version describe the input, and do not filter its frames."""
        return self.unit == "body" or self.direction == "response"

    def _decoder(self) -> FrameDecoder:
        self._check()
        if self.schemas is not None:
            self.dialect = load_folder(self.schemas)
        try:
            catalog().names(self.dialect)  # here, and not frame by frame, is an unknown one refused
            return FrameDecoder(
                unit=self.unit,
                direction=self.direction or "auto",
                api=self.api if self._is_described else None,
                version=self.version,
                limit=self.max_frame_bytes,
                dialect=self.dialect,
                keep_requests=self.with_requests,
            )
        except (UnknownMessageError, SchemaError) as error:
            raise click.UsageError(str(error)) from None

    def _check(self) -> None:
        if self._is_described and (self.api is None or self.version is None):
            option = "--unit body" if self.unit == "body" else "--response"
            raise click.UsageError(f"{option} needs --api and --version")
        if not self._is_described and self.version is not None:
            raise click.UsageError("--version goes with --response or --unit body")
        if self.unit != "frames":
            refuse(f"--unit {self.unit}", "max_frame_bytes")
        if self.unit == "body" and self.direction == "request":
            refuse("--unit body, which is that of a request without --response", "direction")
        if self.unit == "body":
            refuse("--unit body", "with_requests")
        if self.direction is not None:
            refuse(f"--{self.direction}", "with_requests")
        if self.with_requests and self.only is None and self._filter() == Filter():
            raise click.UsageError("--with-requests needs a choice of frames, as --errors-only is")
        if self.schemas is not None and self.dialect != "kafka":
            raise click.UsageError("--schemas and --dialect exclude each other")

    def _filter(self) -> Filter:
        chosen = structs.replace(self, api=None) if self._is_described else self
        wanted = chosen.filter(self.dialect)
        return structs.replace(wanted, since=self.since, until=self.until)


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
            is_live = isinstance(getattr(raw, "raw", None), FileIO)
            if is_live and not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
                raw = LiveInput(os.dup(raw.fileno()), self.wait_hook)
        self._kept[name] = _KeptOpen(raw, SAMPLE_BYTES)
        return self._kept[name]


class _KeptOpen(BufferedReader):
    """A reader that stays open: the bytes that were peeked at are still to be read."""

    def __exit__(self, *_: object) -> None:
        pass


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
    # Both may be given, so that the first one is not lost without a word.
    click.option(
        "--request",
        "direction",
        flag_value="request",
        multiple=True,
        help="All frames are requests.",
    ),
    click.option(
        "--response",
        "direction",
        flag_value="response",
        multiple=True,
        help="All frames are responses (needs --api and --version).",
    ),
    click.option("--version", type=int, help="Version of the api, with --response or --unit body."),
    *choice_options(
        more_of_api=" With --response or --unit body: what the input is.",
        more_of_topic=" With log segments: the topic of those whose folder does not say it.",
    ),
    click.option(
        "--with-requests",
        is_flag=True,
        help="Show in front of each response the request that it answers.",
    ),
    click.option(
        "--since",
        type=TableTime(),
        help="Show what was captured from then on (UTC unless it says): a date and time, or a time "
        "as the table has it.",
    ),
    click.option("--until", type=TableTime(), help="Show what was captured before then."),
    click.option("--only", type=WholeNumber(1), help="Show the frame of this number alone."),
    click.option("--dialect", default="kafka", help="Definitions to read by, as in kip-516."),
    schemas_option,
    click.option(
        "--max-frame-bytes",
        type=WholeNumber(0),
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
        taken["direction"] = _only_one(taken["direction"])
        check_readable(taken["files"])
        taken["files"] = with_files_of_folders(taken["files"])
        command(inputs=Inputs(**taken), **arguments)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _only_one(directions: Sequence[str]) -> str | None:
    """The direction that all frames have; raises click.UsageError for both."""
    if len(set(directions)) > 1:
        raise click.UsageError("--request and --response exclude each other")
    return directions[0] if directions else None
