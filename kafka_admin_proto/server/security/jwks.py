"""The keys that check tokens: a JWKS in a file or at an endpoint, read anew when it changes.

Source: Kafka's ``JwksFileVerificationKeyResolver`` and ``RefreshingHttpsJwks``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import ProxyHandler, build_opener

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.server.security.listeners import JWKS_URL

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
        self._keys: list[dict[str, Any]] = []
        self._changed_ns = 0
        self._asked_ms = 0.0
        self._asks = threading.Lock()
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise SettingsError(f"{JWKS_URL} is not a URL") from None
        if "@" in parts.netloc:
            raise SettingsError(f"{JWKS_URL} has a user in it, which is not sent; remove it")
        #: Without a query, which may be a secret.
        self._shown = f"{JWKS_URL}={parts.scheme}://{parts.netloc}{parts.path}"
        self._file = Path(unquote(parts.path)) if parts.scheme == "file" and not host else None
        if self._file is None and (parts.scheme not in ("http", "https") or not host):
            raise SettingsError(f"{self._shown}: expected https://…, http://… or file:///…")
        self._opener = build_opener(ProxyHandler({}))  # as Java, which reads no environment

    def start(self, now_ms: float) -> None:
        """Read the keys; SettingsError where that fails, as Kafka's brokers do not start then."""
        self._asked_ms = now_ms
        try:
            self._read()
        except (OSError, ValueError, HTTPException, RecursionError) as error:
            raise SettingsError(f"{self._shown}: {_reason(error)}") from None

    def keys(self, kid: str | None, now_ms: float) -> Collection[dict[str, Any]]:
        """The keys with that id, all where it is None. Never waits for an endpoint."""
        if self._file is not None:
            self._read_again()
        found = [each for each in self._keys if kid is None or each.get("kid") == kid]
        after_ms = self._refresh_ms if found else min(self._refresh_ms, _MISSING_KEY_MS)
        is_due = self._file is None and now_ms - self._asked_ms >= after_ms
        if is_due and self._asks.acquire(blocking=False):
            self._asked_ms = now_ms
            threading.Thread(target=self._ask, daemon=True, name="jwks").start()
        return found

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
            changed_ns = self._file.stat().st_mtime_ns
            if changed_ns == self._changed_ns:
                return
            data = self._file.read_bytes()
            self._changed_ns = changed_ns
        found = json.loads(data)
        keys = found.get("keys") if isinstance(found, dict) else None
        if not isinstance(keys, list):
            raise ValueError
        self._keys = [each for each in keys if isinstance(each, dict)]


def _reason(error: Exception) -> str:
    """Why there are no keys; what stands in a file or an answer is not shown."""
    if isinstance(error, HTTPError):
        return f"it answered {error.code}"
    if isinstance(error, OSError):
        cause = error.reason if isinstance(error, URLError) else error
        return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return 'expected a JWKS in JSON, {"keys": […]}'
