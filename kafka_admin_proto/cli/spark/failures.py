"""What goes wrong with Spark, as a sentence for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import click

from kafka_admin_proto.cli.output import printable
from kafka_admin_proto.errors import KafkaAdminProtoError

#: The exit code of a run that Ctrl-C stopped: 128 and the number of the signal.
INTERRUPTED = 130
#: A line that names an error: of a traceback of Python's, or of Java's.
_ERROR = re.compile(r"\s*(?:Caused by: |: )?([A-Za-z_][\w.$]*(?:Error|Exception)): (\S.*)")
_SQLSTATE = re.compile(r"\.? SQLSTATE: \w+$")


@contextmanager
def for_people() -> Iterator[None]:
    """What goes wrong as a sentence: exit code 2 where the user can do something about it.

    So is Ctrl-C, where nothing else takes it.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except KeyboardInterrupt:
        click.echo("stopped by Ctrl-C", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (KafkaAdminProtoError, FileNotFoundError) as error:
        raise click.UsageError(str(error)) from None
    except (PySparkException, Py4JError) as error:
        raise click.ClickException(f"the job failed: {short_reason(str(error))}") from error


def short_reason(text: str) -> str:
    """What an error of Spark's comes from, out of the stacks of Python and Java that it brings.

    That is the last error of this package that it names, or else the last of any.
    """
    named = [found for found in map(_ERROR.fullmatch, text.splitlines()) if found]
    ours = [found for found in named if found[1].startswith("kafka_admin_proto.")]
    if ours:
        said = ours[-1][2]
    elif named:
        said = f"{named[-1][1].rpartition('.')[2]}: {named[-1][2]}"
    else:
        said = text.strip().partition("\n")[0]
    return printable(_SQLSTATE.sub("", said))
