"""Questions to tables that a pipeline replaces while they are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from kafka_admin_proto.errors import KafkaAdminProtoError

#: How often a question is asked. A stream replaces tables once a minute, unless told otherwise.
TRIES = 5
#: What Spark says of a file that was there when it listed the folder: of one that it reads, and of
#: a folder that is gone between listing what is above and in it.
_GONE = ("FILE_NOT_EXIST", "FileNotFoundException")

Tables = Mapping[str, DataFrame]
T = TypeVar("T")


class TablesReplacedError(KafkaAdminProtoError):
    """The tables were replaced whenever they were read."""


class CurrentTables:
    """The tables as ``read`` finds them, until their files are gone: then it is asked again."""

    def __init__(self, read: Callable[[], Tables]) -> None:
        self._read = read
        self._tables: Tables | None = None

    def ask(self, question: Callable[[Tables], T]) -> T:
        """The answer, which has to be whole: nothing is read later. Raises TablesReplacedError."""
        for _ in range(TRIES):
            try:
                if self._tables is None:
                    self._tables = self._read()
                return question(self._tables)
            except (PySparkException, Py4JJavaError) as error:
                if not any(each in str(error) for each in _GONE):
                    raise
                self._tables = None
        raise TablesReplacedError(
            f"the pipeline has replaced the tables each of the {TRIES} times that they were read: "
            "ask when it is done, with --streaming give it a longer --every, or ask a copy of "
            "the folder"
        )
