"""The keys that check tokens: a JWKS in a file or at an endpoint, read anew when it changes.

Source: Kafka's ``JwksFileVerificationKeyResolver`` and ``RefreshingHttpsJwks``.
"""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Collection
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.server.security.listeners import JWKS_URL
from kafka_admin_proto.urls import timed_opener, url_parts

Jwk = dict[str, Any]

_TIMEOUT_S = 10.0
_MAX_BYTES = 1 << 20
#: A key id that the endpoint does not have makes it be asked again no sooner, as in Kafka.
_MISSING_KEY_MS = 60_000


class Jwks:
    """The keys behind a URL. Raises SettingsError for one that is not of a file, http or https.

    A file is read again once it has another time of change. An endpoint is asked again, beside the
    logins, when a token comes later than ``refresh_ms`` or names a key that is not there; until it
    has answered the keys that it had count, and they stay if it does not answer.
    """

    def __init__(self, url: str, refresh_ms: int) -> None:
        self._url, self._refresh_ms = url, refresh_ms
        self._keys: list[Jwk] = []
        self._changed_ns = 0
        self._asked_ms = 0.0
        self._asks = threading.Lock()
        try:
            parts = url_parts(url, instead_of_user="remove it, as it is not sent")
        except ValueError as error:
            raise SettingsError(f"{JWKS_URL} {error}") from None
        #: Without a query, which may be a secret.
        self._shown = f"{JWKS_URL}={parts.scheme}://{parts.netloc}{parts.path}"
        self._file = Path(unquote(parts.path)) if parts.scheme == "file" else None
        # As Java, which reads no environment.
        self._opener = timed_opener(ProxyHandler({}), _SameScheme)

    def start(self, now_ms: float) -> None:
        """Read the keys; SettingsError where that fails, as Kafka's brokers do not start then."""
        self._asked_ms = now_ms
        try:
            self._read()
        except (OSError, ValueError, HTTPException, RecursionError) as error:
            raise SettingsError(f"{self._shown}: {_reason(error)}") from None

    def keys(self, kid: str | None, now_ms: float) -> Collection[Jwk]:
        """The keys with that id, all where it is None. Never waits for an endpoint."""
        if self._file is not None:
            self._read_again()
        keys = [each for each in self._keys if kid is None or each.get("kid") == kid]
        after_ms = self._refresh_ms if keys else min(self._refresh_ms, _MISSING_KEY_MS)
        is_due = self._file is None and now_ms - self._asked_ms >= after_ms
        if is_due and self._asks.acquire(blocking=False):
            self._asked_ms = now_ms
            threading.Thread(target=self._ask, daemon=True, name="jwks").start()
        return keys

    def _ask(self) -> None:
        try:
            self._read_again()
        finally:
            self._asks.release()

    def _read_again(self) -> None:
        """Read the keys, and log a failure: those that there are stay."""
        try:
            self._read()
        except (OSError, ValueError, HTTPException, RecursionError) as error:
            SERVER.warning("%s: %s", self._shown, _reason(error))

    def _read(self) -> None:
        if self._file is None:
            with self._opener.open(self._url, timeout=_TIMEOUT_S) as response:
                data = response.read(_MAX_BYTES)
        else:
            status = self._file.stat()
            if status.st_mtime_ns == self._changed_ns:
                return
            if not stat.S_ISREG(status.st_mode):  # a pipe or a terminal would block all clients
                raise OSError("it is no regular file")
            with self._file.open("rb") as file:
                data = file.read(_MAX_BYTES)
            self._changed_ns = status.st_mtime_ns
        keys = json_object(data).get("keys")
        if not isinstance(keys, list):
            raise ValueError
        self._keys = [each for each in keys if isinstance(each, dict)]


class _SameScheme(HTTPRedirectHandler):
    """As in Java a redirect leads to no other scheme: keys from https do not come in the clear."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme != req.type:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def json_object(data: bytes) -> Jwk:
    """An object as jose4j reads it: UTF-8 without a mark, no name twice. Raises ValueError."""
    text = data.decode(errors="replace")  # as Java
    found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    if not isinstance(found, dict):
        raise ValueError
    return found


def _unique(pairs: list[tuple[str, Any]]) -> Jwk:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _reason(error: Exception) -> str:
    """Why there are no keys; the content of a file or an answer is not shown."""
    if isinstance(error, HTTPError):
        return f"it answered {error.code}"
    if isinstance(error, HTTPException):  # its text is the endpoint's
        return "its answer is not HTTP"
    if isinstance(error, OSError):
        cause = error.reason if isinstance(error, URLError) else error
        return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return 'expected a JWKS in JSON, {"keys": […]}'
