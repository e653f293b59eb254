"""URLs in configs, of keys or of tokens: whether they are some, and reading them in time."""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    BaseHandler,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)


def url_parts(url: str, *, instead_of_user: str) -> SplitResult:
    """The parts of the URL of a file, of http or of https.

    Raises ValueError with what is wrong with another one, to be read behind the config's name: it
    shows nothing of a query, which may be a secret. ``instead_of_user`` is what to do about a user.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not a URL") from None
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("is not a URL: write blanks and what is not ASCII as %20 and the like")
    if "@" in parts.netloc:
        raise ValueError(f"has a user in it; {instead_of_user}")
    is_file = parts.scheme == "file" and not host and parts.path.startswith("/")
    if not is_file and (parts.scheme not in ("http", "https") or not host):
        raise ValueError(
            f"has the scheme {parts.scheme!r} and the host {host or ''!r}; expected https://…, "
            "http://… or file:///…"
        )
    return parts


def timed_opener(*handlers: BaseHandler | type[BaseHandler]) -> OpenerDirector:
    """An opener whose timeout is that of a whole answer, behind redirects too.

    The timeout of urllib's own is that of each byte, so that an endpoint which drips bytes would
    never let go of who asks it.
    """
    return build_opener(_TimedHttp, _TimedHttps, *handlers)


class _TimedReader(io.RawIOBase):
    """Reads a socket until a time; raises TimeoutError then."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        # It keeps the socket open when urllib closes it.
        self._raw = sock.makefile("rb", buffering=0)
        timeout_s = sock.gettimeout()
        self._end_s = None if timeout_s is None else time.monotonic() + timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._end_s is not None:
            left_s = self._end_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left_s)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_TimedReader(sock))


class _TimedConnection(HTTPConnection):
    response_class = _TimedResponse


class _TimedTlsConnection(HTTPSConnection):
    response_class = _TimedResponse


class _Redirects(dict[str, int]):
    """urllib's count of URLs that were redirected to, and the time at which all of it ends."""

    end_s: float


def _limit(request: Request) -> None:
    """Leave a request that was redirected to the time that those before it did not use."""
    redirects = getattr(request, "redirect_dict", None)
    if request.unverifiable and isinstance(redirects, _Redirects):
        request.timeout = redirects.end_s - time.monotonic()
        if request.timeout <= 0:
            raise TimeoutError("timed out")
    elif isinstance(request.timeout, int | float):
        redirects = _Redirects()
        redirects.end_s = time.monotonic() + request.timeout
        vars(request)["redirect_dict"] = redirects


class _TimedHttp(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        _limit(req)
        return self.do_open(_TimedConnection, req)


class _TimedHttps(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        _limit(req)
        return self.do_open(_TimedTlsConnection, req)
