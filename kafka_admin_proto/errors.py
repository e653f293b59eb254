"""Every exception that the package raises on purpose.

::

    KafkaAdminProtoError
    ├── SchemaError            a definition breaks a rule: file, field, remedy (also ValueError)
    ├── UnknownMessageError    no such message, api key or version        (also LookupError)
    │   └── UnsupportedVersionError    the message exists, that version of it does not
    ├── UnknownErrorCodeError  no such error code or name               (also LookupError)
    ├── UnknownReleaseError    no such release of Kafka                 (also LookupError)
    ├── TopicIdError           a text is not a topic id               (also ValueError)
    ├── PlacementError         replicas cannot be placed as asked       (also ValueError)
    ├── PartitionMetadataError     a partition.metadata breaks a rule   (also ValueError)
    ├── MetadataLogError       a folder is no metadata log, or lacks an offset (also ValueError)
    ├── MetadataReplayError    a metadata record does not fit the state before it
    ├── JsonError              an object does not have the message's JSON shape (also ValueError)
    ├── EncodeError            the caller's value cannot be written    (also ConstructError)
    ├── DecodeError            the peer's bytes cannot be read         (also ConstructError)
    │   ├── TrailingBytesError     a whole value, and bytes left over
    │   └── FrameError             a size prefix that no Kafka peer sends
    ├── SettingsError          a setting of TLS or a listener cannot work (also ValueError)
    ├── LocalProtocolError     the caller asked for what a connection cannot do now
    ├── RemoteProtocolError    the peer of a connection broke the protocol
    │   └── SaslError              authentication failed: mechanism, reason
    ├── DumpError              a text is not the dump it is said to be (also ValueError)
    ├── MissingExtraError      an optional dependency is not installed (also ImportError)
    ├── AdminError             a request to a cluster failed              (admin/errors.py)
    │   ├── ConfigurationError     a setting that cannot work            (admin/errors.py)
    │   ├── InstructionError   instructions that cannot be carried out   (admin/errors.py)
    │   ├── ConnectionFailedError  no connection to a broker              (admin/errors.py)
    │   │   ├── ConnectionLostError    an open connection ended           (admin/errors.py)
    │   │   ├── NoSuchBrokerError      no broker of that id or address    (admin/errors.py)
    │   │   ├── UnresolvedError        a host name that does not resolve  (admin/errors.py)
    │   │   ├── TlsError               the TLS handshake failed           (admin/errors.py)
    │   │   └── AuthenticationError    the broker refused the credentials (admin/errors.py)
    │   ├── RequestTimedOutError   the time was over                     (admin/errors.py)
    │   ├── ItemsFailedError   items of an operation failed              (admin/errors.py)
    │   └── BrokerError            the broker answered with an error code (admin/errors.py)
    ├── KeptFileError          a file of the package's own is a link, or damaged  (kept_files.py)
    ├── FaultError             a fault on request that cannot be  (faults/words.py)
    ├── PolicyViolation        a policy refuses a request          (policies/policies.py)
    ├── OutputError            a folder that tables cannot be written to (tables/sinks/workspace.py)
    ├── StateError             another version wrote a state (capture/connection/state.py)
    ├── StreamEndedError       the stream of a checkpoint was ended  (spark/stream/batches.py)
    ├── TablesReplacedError    tables replaced during a read (tables/report/current_tables.py)
    ├── UnopenedError          tasks could open no input of a run  (tables/ingest/unopened.py)
    ├── WorkerError            a task failed, or its process ended  (tables/processes.py)
    ├── ClusterError           a cluster of Spark lacks what a job needs     (spark/cluster.py)
    └── NoSparkError           Spark cannot start                            (spark/session.py)
        └── NoJavaError        for want of Java                              (spark/session.py)

Those with a file are defined there, all others here. Mistaken calls are TypeErrors and
ValueErrors of Python's own: a version that is no integer, an offset outside of the data.

``DecodeError`` and ``EncodeError`` are ``construct.ConstructError`` as well, so that a codec's
``grammar`` behaves inside a user's own ``construct.Select`` or ``construct.Optional``.
"""

from __future__ import annotations

from typing import Any, Self

from kafka_admin_proto.construct_types import ConstructError
from kafka_admin_proto.counts import counted

#: The fault of an error about a value that may be a credential.
VALUE_NOT_SHOWN = "the field does not take this value, which may be a secret and is not shown"


class KafkaAdminProtoError(Exception):
    """The root of the tree above. All of them survive pickling, so that workers can raise them."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))

    def without_frames(self) -> Self:
        """The same error, without the frames that it passed.

        For an error that is kept: what keeps it is often in one of the frames, and would stay until
        the cyclic collector comes.
        """
        error: BaseException = self  # on ``self`` these would be attributes of this class, untyped
        error.__traceback__ = error.__context__ = None
        return self


def _rebuild(kind: type[KafkaAdminProtoError], args: Any, state: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class SchemaError(KafkaAdminProtoError, ValueError):
    """A message definition breaks a rule of its notation.

    ``fault`` says what is wrong and ``remedy`` what to do; ``field`` is a dotted path within
    the message and ``file`` where the definition was read, both empty as long as unknown.
    """

    def __init__(self, fault: str, remedy: str, *, field: str = "", file: str = "") -> None:
        super().__init__(fault, remedy, field, file)
        self.fault = fault
        self.remedy = remedy
        self.field: str = field
        self.file = file

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.file, self.field) if part)
        return f"{where + ': ' if where else ''}{self.fault}; {self.remedy}"

    def inside(self, name: str) -> SchemaError:
        """Put ``name`` in front of the field's path, as the error passes the struct around it."""
        self.field = f"{name}.{self.field}" if self.field else name
        return self


class UnknownMessageError(KafkaAdminProtoError, LookupError):
    """No message of that name, or no api of that key, in that dialect."""

    def __str__(self) -> str:  # LookupError would not quote, KeyError would: keep the sentence
        return str(self.args[0]) if self.args else ""


class UnsupportedVersionError(UnknownMessageError):
    """The message is known and the version asked for is not one of its versions."""


class UnknownErrorCodeError(KafkaAdminProtoError, LookupError):
    """No error of that code or name, or no error codes at all, in that dialect."""


class UnknownReleaseError(KafkaAdminProtoError, LookupError):
    """No release of Kafka by that name, or none whose versions are known."""


class TopicIdError(KafkaAdminProtoError, ValueError):
    """A text is neither of the two forms of a topic id."""


class PlacementError(KafkaAdminProtoError, ValueError):
    """Replicas cannot be placed on these brokers; ``error`` is Kafka's name of the error."""

    def __init__(self, fault: str, *, error: str) -> None:
        super().__init__(fault, error)
        self.error = error

    def __str__(self) -> str:
        return str(self.args[0])


class PartitionMetadataError(KafkaAdminProtoError, ValueError):
    """A ``partition.metadata`` file, or a value to write to one, breaks a rule of the format.

    ``file`` is where it was read ("" for text from elsewhere), ``line`` counts from 1 (0 where no
    line is to blame), ``expected`` is what had to stand there.
    """

    def __init__(self, fault: str, expected: str, *, file: str = "", line: int = 0) -> None:
        super().__init__(fault, expected, file, line)
        self.fault = fault
        self.expected = expected
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = (self.file, f"line {self.line}" if self.line else "")
        where = ", ".join(part for part in place if part)
        return f"{where + ': ' if where else ''}{self.fault}; expected {self.expected}"


class MetadataLogError(KafkaAdminProtoError, ValueError):
    """A folder holds no metadata log, or not the offset that was asked for."""

    def __init__(self, fault: str, expected: str) -> None:
        super().__init__(fault, expected)
        self.fault = fault
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.fault}; expected {self.expected}"


class MetadataReplayError(KafkaAdminProtoError):
    """A record of the metadata log that the state before it cannot take: an unknown partition.

    ``record`` is the record's name. Kafka's controller would stop with a fault at it.
    """

    def __init__(self, fault: str, *, record: str) -> None:
        super().__init__(fault, record)
        self.fault = fault
        self.record = record

    def __str__(self) -> str:
        return f"{self.record}: {self.fault}"


class JsonError(KafkaAdminProtoError, ValueError):
    """An object handed to ``from_json`` does not have the shape of that message and version."""

    def __init__(self, fault: str, *, path: str = "", message: str = "") -> None:
        super().__init__(fault, path, message)
        self.fault: str = fault
        self.path = path
        self.message = message

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.message, self.path) if part)
        return f"{where}: {self.fault}" if where else self.fault

    def forget_value(self) -> None:
        """Drop all that the error knows of the value, which may be a credential."""
        _forget(self)


class _CodecError(KafkaAdminProtoError, ConstructError):
    """What the two directions share: which message, and where in it."""

    def __init__(self, fault: str, *, path: str = "", message: str = "") -> None:
        # ConstructError's own initialiser would fold the path into the text a second time.
        Exception.__init__(self, fault)
        self.fault: str = fault
        self.path = path
        self.message = message

    def _where(self) -> str:
        return ", ".join(part for part in (self.message, self.path) if part)

    def __str__(self) -> str:
        where = self._where()
        return f"{where}: {self.fault}" if where else self.fault


def _forget(error: JsonError | _CodecError) -> None:
    """Put a sentence that names no value in the place of the fault, and cut what led to it."""
    error.fault = VALUE_NOT_SHOWN
    error.args = (error.fault, *error.args[1:])
    error.__cause__ = error.__context__ = None


class EncodeError(_CodecError):
    """A value that the message, at that version, cannot carry.

    ``path`` is the Python path of the field (``topics[0].name``), ``value`` its value;
    None where that may be a credential, which then is nowhere in the error.
    """

    def __init__(self, fault: str, *, path: str = "", message: str = "", value: Any = None) -> None:
        super().__init__(fault, path=path, message=message)
        self.value: Any = value

    def forget_value(self) -> None:
        """Drop all that the error knows of the value, which may be a credential."""
        self.value = None
        _forget(self)


class DecodeError(_CodecError):
    """Bytes that are not that message at that version.

    ``path`` is the field that was being read, ``offset`` the byte (from the start of the data
    given) at which the reading stopped, ``expected`` what had to stand there.
    """

    def __init__(
        self, fault: str, *, path: str = "", message: str = "", offset: int = 0, expected: str = ""
    ) -> None:
        super().__init__(fault, path=path, message=message)
        self.offset = offset
        self.expected = expected

    def _where(self) -> str:
        where = super()._where()
        return f"{where} at byte {self.offset}" if where else f"at byte {self.offset}"


class TrailingBytesError(DecodeError):
    """A whole value was read and bytes are left: nearly always the wrong version.

    ``value`` is what was read and ``rest`` the bytes after it; the text leaves them out, as they
    may be a secret that was read amiss. The pickled form has None and no bytes instead of them.
    """

    def __init__(self, value: Any, rest: bytes, *, message: str, offset: int) -> None:
        count = counted(len(rest), "bytes")
        super().__init__(
            f"{count} left after the end of the message; is it another version of it?",
            message=message,
            offset=offset,
            expected="the end of the data",
        )
        self.value = value
        self.rest = rest

    def __reduce__(self) -> tuple[Any, ...]:
        state = {**self.__dict__, "value": None, "rest": b""}
        return _rebuild, (type(self), self.args, state)


class FrameError(DecodeError):
    """A frame's size prefix is negative, over the limit, or not Kafka at all."""


class SettingsError(KafkaAdminProtoError, ValueError):
    """A setting that cannot work or would have no effect: of TLS, or of the reference cluster."""


class LocalProtocolError(KafkaAdminProtoError):
    """The caller asked a connection for what its state, or a limit, does not allow."""


class RemoteProtocolError(KafkaAdminProtoError):
    """The peer of a connection sent what the protocol does not allow there."""


class SaslError(RemoteProtocolError):
    """Authentication failed; ``mechanism`` is the one that was tried.

    ``code`` is the error code that went over the wire, 0 where there was none.
    """

    def __init__(self, message: str, *, mechanism: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.mechanism = mechanism
        self.code = code


class DumpError(KafkaAdminProtoError, ValueError):
    """A text is not hex, base64 or the dump format that it was said to be."""

    def __init__(self, fault: str, *, line: int = 0) -> None:
        super().__init__(fault, line)
        self.fault = fault
        self.line = line

    def __str__(self) -> str:
        return f"line {self.line}: {self.fault}" if self.line else self.fault


class MissingExtraError(KafkaAdminProtoError, ImportError):
    """A feature needs an optional dependency; the text says which extra brings it."""
