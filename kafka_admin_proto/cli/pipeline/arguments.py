"""What `kap pipeline` takes: types of its options, and checks of its inputs and its output."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import click

from kafka_admin_proto.cli.logs.segments import SEGMENT, is_segment
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.segments.segments import topic_of
from kafka_admin_proto.tables.ingest.uris import OF_FILES, is_uri, local_name

#: What runs the tasks of a run.
RunnerName = Literal["spark", "processes"]

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
#: The names of files that lie beside segments in the folder of a log.
_BESIDE_SEGMENTS = re.compile(
    r"(\.(index|timeindex|txnindex|snapshot|part)|"
    r"/(partition\.metadata|leader-epoch-checkpoint|quorum-state))$"
)


class Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: Any, context: Any) -> int:
        found = re.fullmatch(r"(\d{1,9})([kmg]?)b?", str(value).lower())
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no size, as in 64m", param, context)
        return int(found[1]) * _UNITS[found[2]]


class Days(click.ParamType[timedelta]):
    name = "days"

    def convert(self, value: Any, param: Any, context: Any) -> timedelta:
        found = re.fullmatch(r"(\d{1,5})d", str(value))
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no number of days, as in 30d", param, context)
        return timedelta(days=int(found[1]))


class Setting(click.ParamType[tuple[str, str]]):
    name = "name=value"

    def convert(self, value: Any, param: Any, context: Any) -> tuple[str, str]:
        name, found, said = str(value).partition("=")
        if not found or not name.startswith("spark."):
            self.fail(f"{value!r} is none of Spark's, as in spark.driver.memory=4g", param, context)
        return name, said


def runner_of(
    runner: RunnerName | None, of_spark: Mapping[str, bool], table_format: str
) -> RunnerName:
    """The runner that is named, or else Spark where it is installed or asked for.

    ``of_spark`` are the options that go with Spark, and whether each was given. Raises
    click.UsageError where what the run needs is not installed, and for options without an effect.
    """
    given = [option for option, is_given in of_spark.items() if is_given]
    if runner is None:
        runner = "spark" if given or _is_installed("pyspark") else "processes"
    if runner == "processes" and given:
        raise click.UsageError(f"{given[0]} goes with --runner spark, not with processes")
    extra = "spark" if runner == "spark" else "report"
    needed = ("pyspark", "pyarrow") if runner == "spark" else ("pyarrow",)
    missing = [name for name in needed if not _is_installed(name)]
    if missing:
        raise click.UsageError(
            f"{given[0] if given else 'the pipeline'} needs {' and '.join(missing)}: "
            f"pip install 'kafka-admin-proto[{extra}]'"
        )
    if table_format == "delta" and not _is_installed("deltalake"):
        raise click.UsageError(
            "--format delta needs deltalake: pip install 'kafka-admin-proto[delta]'"
        )
    return runner


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def check_out(
    captures: Sequence[str], out: str, table_format: str, work: Path | None, streaming: bool
) -> None:
    if table_format == "parquet" and work is not None:
        raise click.UsageError("--work goes with --format delta: Parquet is made beside its tables")
    if is_uri(out):
        if table_format == "parquet":
            raise click.UsageError(
                f"--out {out} is a URI: tables go to a folder that all workers see, or to a store "
                "with --format delta"
            )
        if streaming and work is None:
            raise click.UsageError(
                f"--out {out} is a URI: name a folder with --work, where the stream keeps how far "
                "it is"
            )
        return
    if not out or Path(out).is_file():
        raise click.UsageError(f"--out {out!r} is no folder")
    inside = next((name for name in captures if _is_inside(out, name)), None)
    if inside is not None:
        raise click.UsageError(f"--out {out} is inside {inside}, and would be read as captures")


def refuse_logs(names: Sequence[str]) -> None:
    """A stream does not read the metadata log: a broker goes on writing to the last segment."""
    for name in names:
        if is_segment(name) or Path(name).name.startswith(f"{METADATA_TOPIC}-"):
            raise click.UsageError(
                f"{name} is of a metadata log, which a stream does not read: leave it out, and run "
                "the pipeline on it without --streaming, into a folder of its own"
            )


def inputs_of(captures: Sequence[str], streaming: bool) -> list[str]:
    from kafka_admin_proto.tables.ingest.files import listed_files

    try:
        found = listed_files(captures, more_to_come=streaming)
        return list(dict.fromkeys(each.name for each in found))
    except (OSError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _is_inside(out: str, name: str) -> bool:
    if name.startswith(OF_FILES):
        with suppress(ValueError):  # one of another machine is refused where it is listed
            name = local_name(name)
    return not is_uri(name) and Path(out).resolve().is_relative_to(Path(name).resolve())


def segments_of(names: Sequence[str], input_format: str) -> list[str]:
    """The inputs that are segments. Raises click.UsageError for one of another topic."""
    if input_format == SEGMENT:
        segments = [name for name in names if not _BESIDE_SEGMENTS.search(name)]
    elif input_format == "auto":
        segments = [name for name in names if is_segment(name)]
    else:
        return []
    for name in segments:
        topic = topic_of(name)
        if topic not in (None, METADATA_TOPIC):
            raise click.UsageError(
                f"{name} is of the topic {topic}; of logs the pipeline reads {METADATA_TOPIC}"
            )
    return segments


def without(names: Sequence[str], segments: Sequence[str]) -> list[str]:
    """The inputs that are neither segments nor files that a broker keeps beside them."""
    logs = {name.rpartition("/")[0] for name in segments}
    return [
        name
        for name in names
        if name not in set(segments)
        and not (name.rpartition("/")[0] in logs and _BESIDE_SEGMENTS.search(name))
    ]
