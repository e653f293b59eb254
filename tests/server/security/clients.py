"""The reports of clients of other projects after one attempt to log in.

A report is that the cluster named its brokers, or the causes that the client raised and
logged. Addresses, times and numbers of the client's own are replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import re
import ssl
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kafka_admin_proto.testing import Certificate

#: Seconds that a client may take for one attempt that is refused: it tries again and again.
_SECONDS = 0.4
#: Seconds that a client may take until it is let in.
PATIENT_SECONDS = 30.0
#: What differs between two attempts at one cluster, and what is put in its place.
_RULES = [
    (r"(127\.0\.0\.1|localhost)[:,' ]+(port=)?\d{4,5}", "ADDRESS"),
    (r" ?\(after -?\d+ms in state \w+(, \d+ identical error\(s\) suppressed)?\)", ""),
    # librdkafka finds out on either way, whatever the broker does.
    (r"^(_SSL|_TRANSPORT) .*certificate verify failed.*", "certificate verify failed"),
    (r"backoff [\d.]+ secs", "backoff"),
    # Which alert ends a handshake is the choice of the server's library: OpenSSL here, Java there.
    (r"(\[SSL: \w*ALERT\w*\]|error:\w+:SSL routines::)[\w/ ]*alert [\w ]+", "an alert"),
    (r"( ?\(_ssl\.c:\d+\)?|: SSL alert number \d+)", ""),
]
#: What kafka-python says when the end of the connection comes with the answer before it, which it
#: may then not have read, and when its time is over; librdkafka when all of its errors were said.
_LOST = (
    "socket disconnected", "timed out", "Timeout", "brokers are down", "bootstrap: Disconnected",
)  # fmt: skip


class Attempt(msgspec.Struct, frozen=True):
    """How a client tries: the listener, the protocol that it speaks there, who it says it is."""

    listener: str
    protocol: str
    mechanism: str = ""
    user: str = "bob"
    password: str = "bob-secret"
    trusts: Certificate | None = None
    shows: Certificate | None = None
    seconds: float = _SECONDS


#: Called with the bootstrap address and how to try; the ports that were named, in order.
Client = Callable[[str, Attempt], list[int]]


def report(client: Client, address: str, attempt: Attempt) -> list[str]:
    """The causes that the client names, each once; "in" for one that is let in."""
    with _logged() as said:
        try:
            ports = client(address, attempt)
        except Exception as error:  # what a client raises is its report
            said += str(error).splitlines()
            ports = None
        if client is kafka_python:  # the collector would find its sockets in another test
            gc.collect()
        if ports is not None:
            named = [int(each.rpartition(":")[2]) for each in address.split(",")]
            return ["in" if ports == named else f"other ports: {ports}, not {named}"]
    return sorted({_normalised(each) for each in said})


def equal(real: list[str], ours: list[str]) -> bool:
    """Whether two reports say the same, where a client may have missed the answer."""
    told = [[each for each in found if not _is_lost(each)] for found in (real, ours)]
    if real == ours or told[0] == told[1]:
        return True
    answers = told[0] or told[1]
    return not all(told) and all(re.search("Sasl|InvalidReceive", each) for each in answers)


def _is_lost(text: str) -> bool:
    return any(each in text for each in _LOST)


def _normalised(text: str) -> str:
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return text


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """The causes that clients log in the block."""
    said: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if record.name.startswith("aiokafka"):
                said.append(text)
            elif found := re.search(
                r"(Abort \(|connection to \S+ failed: )(.*?)\)?( \(back.*)?$", text
            ):
                said.append(found[2])

    handler = Kept(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("kafka", "aiokafka")]
    for each in loggers:
        each.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield said
    finally:
        for each in loggers:
            each.removeHandler(handler)


def _sasl(attempt: Attempt) -> dict[str, str]:
    """The settings that kafka-python and aiokafka share."""
    if not attempt.mechanism:
        return {}
    return {
        "sasl_mechanism": attempt.mechanism,
        "sasl_plain_username": attempt.user,
        "sasl_plain_password": attempt.password,
    }


def kafka_python(address: str, attempt: Attempt) -> list[int]:
    from kafka import KafkaAdminClient

    files: dict[str, Any] = {}
    if attempt.trusts is not None:
        files["ssl_cafile"] = str(attempt.trusts.file)
    if attempt.shows is not None:
        files |= {"ssl_certfile": str(attempt.shows.file), "ssl_keyfile": str(attempt.shows.key)}
    admin = KafkaAdminClient(
        bootstrap_servers=address,
        security_protocol=attempt.protocol,
        request_timeout_ms=int(attempt.seconds * 1000),
        bootstrap_timeout_ms=int(attempt.seconds * 1000),
        **files,
        **_sasl(attempt),
    )
    with contextlib.closing(admin):
        return [each["port"] for each in admin.describe_cluster()["brokers"]]


def aiokafka(address: str, attempt: Attempt) -> list[int]:
    return asyncio.run(_aiokafka(address, attempt))


async def _aiokafka(address: str, attempt: Attempt) -> list[int]:
    from aiokafka.admin import AIOKafkaAdminClient

    context = None
    if attempt.protocol.endswith("SSL"):
        context = ssl.create_default_context(
            cafile=None if attempt.trusts is None else str(attempt.trusts.file)
        )
        if attempt.shows is not None:
            context.load_cert_chain(attempt.shows.file, attempt.shows.key)
    admin = AIOKafkaAdminClient(
        bootstrap_servers=address,
        security_protocol=attempt.protocol,
        ssl_context=context,
        request_timeout_ms=int(attempt.seconds * 1000),
        **_sasl(attempt),
    )
    try:
        await admin.start()
        return [each["port"] for each in (await admin.describe_cluster())["brokers"]]
    finally:
        await admin.close()


def confluent_kafka(address: str, attempt: Attempt) -> list[int]:
    import confluent_kafka
    import confluent_kafka.admin

    errors: list[str] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": address,
        "security.protocol": attempt.protocol,
        "log_level": 0,
        "error_cb": lambda error: errors.append(f"{error.name()} {error.str()}"),
    }
    if attempt.mechanism:
        settings |= {
            "sasl.mechanism": attempt.mechanism,
            "sasl.username": attempt.user,
            "sasl.password": attempt.password,
        }
    if attempt.trusts is not None:
        settings["ssl.ca.location"] = str(attempt.trusts.file)
    if attempt.shows is not None:
        settings["ssl.certificate.location"] = str(attempt.shows.file)
        settings["ssl.key.location"] = str(attempt.shows.key)
    client: Any = confluent_kafka.admin.AdminClient(settings)
    # Its report is what it logs: without it there would be nothing to compare.
    end_s = time.monotonic() + PATIENT_SECONDS
    while time.monotonic() < end_s and not errors:
        try:
            found = client.list_topics(timeout=_SECONDS / 2)
        except confluent_kafka.KafkaException:
            client.poll(0.1)
        else:
            return [each.port for _, each in sorted(found.brokers.items())]
    raise ConnectionError("\n".join(errors))


CLIENTS: dict[str, Client] = {
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
    "confluent-kafka": confluent_kafka,
}
