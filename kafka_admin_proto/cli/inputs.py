"""What every command that reads captured bytes takes: files, how they are written, what is in them.

@click.command()
@with_inputs
@click.option("--raw", is_flag=True)
def decode(inputs: Inputs, raw: bool) -> None:
    frames = inputs.frames(only=None)
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import click
import msgspec
from click.shell_completion import CompletionItem

from kafka_admin_proto.capture.frame_records import DecodedFrame, FrameDecoder
from kafka_admin_proto.capture.readers import READERS, read_blocks
from kafka_admin_proto.codec import load_schemas
from kafka_admin_proto.errors import DumpError, SchemaError, UnknownMessageError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.blobs import readable


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

    def frames(self, only: int | None = None) -> Counted:
        """Every frame of every file, or the one of that number; raises click.UsageError."""
        decoder = self._decoder()
        if not self.files and sys.stdin is None:
            raise click.UsageError("there is no standard input; name a file")
        if not self.files and sys.stdin.isatty():
            click.echo("Paste a dump and end it with Ctrl-D (--help shows other ways).", err=True)
        return Counted(_all_frames(self.files or ("-",), decoder, self.input_format), only)

    def _decoder(self) -> FrameDecoder:
        self._check()
        dialect = self.dialect
        try:
            if self.schemas is not None:
                dialect = load_schemas(self.schemas, dialect=f"definitions in {self.schemas}")
            catalog().names(dialect)  # here, and not frame by frame, is an unknown one refused
            return FrameDecoder(
                unit=self.unit,
                direction=self.direction or "auto",
                api=self.api,
                version=self.version,
                limit=self.max_frame_bytes,
                dialect=dialect,
            )
        except (UnknownMessageError, SchemaError) as error:
            raise click.UsageError(str(error)) from None

    def _check(self) -> None:
        needed = self.unit == "body" or self.direction == "response"
        if needed and (self.api is None or self.version is None):
            option = "--unit body" if self.unit == "body" else "--response"
            raise click.UsageError(f"{option} needs --api and --version")
        if not needed and (self.api is not None or self.version is not None):
            raise click.UsageError("--api and --version go with --response or --unit body")
        if self.schemas is not None and self.dialect != "kafka":
            raise click.UsageError("--schemas and --dialect exclude each other")


class Counted:
    """Numbers the frames from 1, gives those to show, and counts the problems among them."""

    def __init__(self, frames: Iterator[DecodedFrame], only: int | None) -> None:
        self._frames = frames
        self._only = only
        self.count = 0
        self.problems = 0

    def __iter__(self) -> Iterator[tuple[int, DecodedFrame]]:
        for frame in self._frames:
            self.count += 1
            if self._only in (None, self.count):
                self.problems += frame.error is not None
                yield self.count, frame

    def finish(self) -> None:
        """Leave with the exit code; raises click.UsageError where the one asked for was not there.

        To be called when all frames were taken.
        """
        if self._only is not None and self.count < self._only:
            raise click.UsageError(f"there is no frame {self._only}; the input has {self.count}")
        sys.exit(1 if self.problems else 0)


def _all_frames(
    files: tuple[str, ...], decoder: FrameDecoder, input_format: str
) -> Iterator[DecodedFrame]:
    """Every frame of every file; a file that cannot be read is a frame with that problem."""
    for file in files:
        name = readable(file)
        try:
            data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            blocks = read_blocks(data, input_format)
        except (DumpError, OSError) as caught:
            error = caught if isinstance(caught, DumpError) else DumpError(str(caught))
            yield DecodedFrame(
                capture=name,
                line=error.line,
                stream_offset=0,
                direction="data",
                data=b"",
                error=error,
            )
            continue
        for block in blocks:
            yield from decoder.decode(block, name)


def complete_api(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Api names for the shell: those with "Request" left off first, then all messages."""
    names = catalog().names()
    apis = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    return [CompletionItem(n) for n in [*apis, *names] if n.lower().startswith(incomplete.lower())]


_OPTIONS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.argument("files", nargs=-1, type=click.Path(allow_dash=True)),
    click.option(
        "--input-format",
        type=click.Choice(["auto", *READERS]),
        default="auto",
        show_default=True,
        help="What the input is written in.",
    ),
    click.option(
        "--unit",
        type=click.Choice(["frames", "payload", "body"]),
        default="frames",
        show_default=True,
        help="What a block of the input is: frames with their size in front, one header and body "
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
        "--api", shell_complete=complete_api, help="As in CreateTopics, or a message name."
    ),
    click.option("--version", type=int, help="Version of the api."),
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
        command(inputs=Inputs(**taken), **arguments)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
