"""What goes wrong while tables are made, as a sentence for the user."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from kafka_admin_proto.cli.output import printable
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.spark.cluster import ClusterError
from kafka_admin_proto.tables.processes import WorkerError

#: A line that names an error: of a traceback of Python's, or of Java's.
_ERROR = re.compile(r"\s*(?:Caused by: |: )?([A-Za-z_][\w.$]*(?:Error|Exception)): (\S.*)")
#: What Spark says of a Python that cannot run a task, and what that means.
_OF_WORKERS = {
    re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'"): (
        "the workers' Python has no module {}"
    ),
    re.compile(r"\[PYTHON_VERSION_MISMATCH\].*version: (\S+) than that in driver: (\S+),"): (
        "the workers run Python {}, and this is Python {}"
    ),
    re.compile(r'Cannot run program "([^"]+)"'): "the workers have no Python at {}",
}
_WORKERS_NEED = (
    "have PYSPARK_PYTHON name one that every worker has at the same path, of this version, with "
    "kafka-admin-proto[capture,compression,spark] installed"
)
#: In what Spark says of itself once it has ended, whatever the reason was.
_ENDED = "stopped SparkContext"
_ENDED_MEANS = (
    "Spark ended before the job did, as where a master answers nothing for a minute or is gone: "
    "the master's log says more"
)
_SQLSTATE = re.compile(r"\.? SQLSTATE: \w+$")


@contextmanager
def for_people() -> Iterator[None]:
    """What goes wrong as a sentence: exit code 2 where the user can do something about it."""
    try:
        yield
    except (ClusterError, KeptFileError, WorkerError) as error:
        raise click.ClickException(printable(str(error))) from None
    except (KafkaAdminProtoError, FileNotFoundError) as error:
        raise click.UsageError(printable(str(error))) from None
    except OSError as error:
        raise click.ClickException(printable(str(error))) from None
    except Exception as error:
        if not _is_of_spark(error):
            raise
        text = str(error)
        said = of_workers(text) or f"the job failed: {short_reason(text)}"
        raise click.ClickException(said) from error


def is_of_runner(error: BaseException) -> bool:
    """Whether an error is one of what runs the tasks: of workers, or of Spark."""
    return isinstance(error, WorkerError) or _is_of_spark(error)


def _is_of_spark(error: BaseException) -> bool:
    if "pyspark" not in sys.modules:  # it need not be installed
        return False
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, (Py4JError, PySparkException))


def of_workers(text: str) -> str | None:
    """What the Python of workers lacks, if that is what an error of Spark's comes from."""
    for pattern, said in _OF_WORKERS.items():
        if found := pattern.search(text):
            return printable(f"{said.format(*found.groups())}: {_WORKERS_NEED}")
    return None


def short_reason(text: str) -> str:
    """What an error of Spark's comes from, out of the stacks of Python and Java that it brings.

    That is the last error of this package that it names, or else the last of any.
    """
    if _ENDED in text:
        return _ENDED_MEANS
    named = [found for found in map(_ERROR.fullmatch, text.splitlines()) if found]
    ours = [found for found in named if found[1].startswith("kafka_admin_proto.")]
    if ours:
        said = ours[-1][2]
    elif named:
        said = f"{named[-1][1].rpartition('.')[2]}: {named[-1][2]}"
    else:
        said = text.strip().partition("\n")[0]
    return printable(_SQLSTATE.sub("", said))
