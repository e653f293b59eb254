"""Where Kafka's properties say that tokens of OAUTHBEARER come from: an endpoint, a file, options.

The options of ``OAuthBearerLoginModule`` are those of Kafka's ``OAuthBearerLoginCallbackHandler``
and, for tokens without a signature, of its ``OAuthBearerUnsecuredLoginCallbackHandler``.
"""

from __future__ import annotations

import base64
import json
import math
import re
import time
import warnings
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import URLError
from urllib.parse import SplitResult, quote_plus, unquote, urlencode
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.admin.settings.jaas import read_jaas
from kafka_admin_proto.admin.settings.security import TOKEN_PROPERTIES, is_loopback
from kafka_admin_proto.errors import SaslError
from kafka_admin_proto.urls import timed_opener, url_parts

_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_HANDLER = "sasl.login.callback.handler.class"
#: Kafka's class that has an endpoint or a file, and the one that has neither.
_HANDLERS = ("OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler")
_URLENCODE = "sasl.oauthbearer.header.urlencode"
#: Property → option of the login that Kafka reads where the property is missing.
_CREDENTIALS = {
    "sasl.oauthbearer.client.credentials.client.id": "clientId",
    "sasl.oauthbearer.client.credentials.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
}
_UNSECURED = "unsecuredLogin"
_LIFETIME = "unsecuredLoginLifetimeSeconds"
#: Claims that are the client's own, as in Kafka.
_RESERVED_CLAIMS = ("exp", "iat")
#: What Java's Long.parseLong takes, but for numbers that no clock reaches.
_WHOLE_NUMBER = re.compile(r"\+?[0-9]{1,12}")
_TIMEOUT_S = 10.0
#: The longest answer of an endpoint, and the longest file with a token.
_MAX_BYTES = 1 << 20


class Tokens:
    """Tokens with the extensions of the login, as ``SaslOAuthBearer`` takes them."""

    def __init__(self, token: Callable[[], str], extensions: Mapping[str, str]) -> None:
        self.token = token
        self._extensions = extensions

    def extensions(self) -> Mapping[str, str]:
        return self._extensions


def read_tokens(properties: Mapping[str, str], timeout_s: float | None) -> Tokens:
    """The provider that properties with ``sasl.mechanism=OAUTHBEARER`` describe.

    Nothing is asked for yet. Raises ConfigurationError, never with a secret in it.
    """
    url = properties.get(_ENDPOINT, "")
    _check_handler(properties.get(_HANDLER, ""), url)
    login = properties.get("sasl.jaas.config")
    options = read_jaas(login, ("OAuthBearerLoginModule",)) if login else {}
    prefix = "extension_" if url else f"{_UNSECURED}Extension_"
    extensions = {
        name.removeprefix(prefix): options.pop(name)
        for name in list(options)
        if name.startswith(prefix)
    }
    parts = _parts(url) if url else None
    idle = TOKEN_PROPERTIES - {_ENDPOINT, _HANDLER}
    if parts is None:
        token = _unsecured(options)
    elif parts.scheme == "file":
        token = _of_file(unquote(parts.path))
    else:
        idle = frozenset()
        token = _of_endpoint(url, parts, properties, options, timeout_s)
    where = f"beside {_ENDPOINT}" if url else f"without {_ENDPOINT}"
    if options:
        raise ConfigurationError(
            f"sasl.jaas.config has {', '.join(sorted(options))}, which would have no effect "
            f"{where}; correct the name, or remove it"
        )
    if given := sorted(name for name in idle if properties.get(name)):
        where += " of a file" if url else ""
        raise ConfigurationError(f"{', '.join(given)} would have no effect {where}; remove it")
    return Tokens(token, extensions)


def _check_handler(handler: str, url: str) -> None:
    """Refuse a class that is not Kafka's, or that has its tokens from elsewhere."""
    name = handler.rpartition(".")[2]
    if handler and name not in _HANDLERS:
        raise ConfigurationError(
            f"{_HANDLER}={handler} is a class of Java, which this client does not have; there are "
            f"{' and '.join(_HANDLERS)}, and sasl_oauth_token_provider in Python"
        )
    if handler and bool(url) != (name == _HANDLERS[0]):
        raise ConfigurationError(
            f"{_HANDLER}={handler} {'has no use for' if url else 'needs'} {_ENDPOINT}; "
            f"{'remove one of them' if url else 'set it'}"
        )


def _parts(url: str) -> SplitResult:
    """The parts of the URL of an endpoint or a file."""
    login = "give clientId and clientSecret in sasl.jaas.config"
    try:
        return url_parts(url, instead_of_user=login)
    except ValueError as error:
        raise ConfigurationError(f"{_ENDPOINT} {error}") from None


def _of_endpoint(
    url: str,
    parts: SplitResult,
    properties: Mapping[str, str],
    options: dict[str, str],
    timeout_s: float | None,
) -> Callable[[], str]:
    credentials = {}
    for name, option in _CREDENTIALS.items():
        in_login = options.pop(option, None)
        credentials[option] = properties.get(name) or in_login or ""
        if not credentials[option] and option != "scope":
            raise ConfigurationError(
                f"{_ENDPOINT} needs {option} in sasl.jaas.config, or the property {name}"
            )
    is_near = is_loopback(parts.hostname or "")
    if parts.scheme == "http" and not is_near:
        warnings.warn(
            f"the client's secret goes to {parts.hostname} in the clear: {_ENDPOINT} is http; use "
            "https",
            UserWarning,
            stacklevel=2,
        )
    login = [credentials["clientId"], credentials["clientSecret"]]
    encode = properties.get(_URLENCODE, "").lower()
    if encode not in ("", "true", "false"):
        raise ConfigurationError(f"{_URLENCODE}={encode} is neither true nor false")
    if encode == "true":
        login = [quote_plus(each) for each in login]
    form = {"grant_type": "client_credentials"}
    form |= {"scope": credentials["scope"]} if credentials["scope"] else {}
    request = Request(
        url,
        urlencode(form).encode(),
        {
            "Authorization": f"Basic {base64.b64encode(':'.join(login).encode()).decode()}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cache-Control": "no-cache",
        },
    )
    # A proxy of the environment would take the secret off this machine in the clear.
    proxies = ProxyHandler({} if is_near else None)
    opener = timed_opener(_AnyStatus, proxies)
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return lambda: _asked(opener, request, shown, timeout_s or _TIMEOUT_S)


class _AnyStatus(HTTPErrorProcessor):
    """Each answer as it is: a redirect would take the client's secret to another place."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        return response

    https_response = http_response


def _asked(opener: OpenerDirector, request: Request, shown: str, timeout_s: float) -> str:
    """The token that an endpoint returns (RFC 6749, 4.4)."""
    try:
        with opener.open(request, timeout=timeout_s) as response:
            status, answer = response.status, response.read(_MAX_BYTES)
    except (OSError, ValueError) as error:
        cause = error.reason if isinstance(error, URLError) else error
        reason = str(cause) or type(cause).__name__
    except HTTPException:  # its text has the endpoint's, which may be anything
        reason = "its answer is not HTTP"
    else:
        token = _field(answer, "access_token") or _field(answer, "id_token")  # as Kafka
        if status in (200, 201) and token:
            return token
        reason = "its answer has no access_token"
        if status not in (200, 201):
            reason = f"it answered {status}{_code(answer)}"
    raise _error(f"no token of {shown}: {reason}")


def _code(answer: bytes) -> str:
    """The error code of RFC 6749, 5.2, in an answer; its other words may be anything."""
    code = _field(answer, "error")
    return f" ({code})" if code.isidentifier() and len(code) < 100 else ""


def _field(answer: bytes, name: str) -> str:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return ""
    text = found.get(name) if isinstance(found, dict) else None
    return text.strip() if isinstance(text, str) else ""


def _of_file(path: str) -> Callable[[], str]:
    """Kafka's ``FileJwtRetriever``: the text of a file, read for each authentication."""

    def token() -> str:
        try:
            with Path(path).open("rb") as file:
                return file.read(_MAX_BYTES).decode("ascii", "replace").strip()
        except OSError as error:
            raise _error(f"no token of the file {path}: {error.strerror or error}") from None

    return token


def _unsecured(options: dict[str, str]) -> Callable[[], str]:
    """A JSON Web Token without a signature, of claims that the options have."""
    claims: dict[str, object] = {}
    for name in list(options):
        kind, _, claim = name.removeprefix(_UNSECURED).partition("Claim_")
        if name.startswith(_UNSECURED) and claim and kind in ("String", "Number", "List"):
            if claim in _RESERVED_CLAIMS:
                raise ConfigurationError(
                    f"sasl.jaas.config has {name}, a claim that the client sets; remove it, or set "
                    f"{_LIFETIME}"
                )
            claims[claim] = _claim(kind, options.pop(name), name)
    principal = options.pop(f"{_UNSECURED}PrincipalClaimName", "").strip() or "sub"
    scope = options.pop(f"{_UNSECURED}ScopeClaimName", "").strip() or "scope"
    if isinstance(claims.get(scope), float):
        raise ConfigurationError(
            f"{_UNSECURED}NumberClaim_{scope} in sasl.jaas.config is the scope of the token, which "
            f"is text; set {_UNSECURED}StringClaim_{scope} or {_UNSECURED}ListClaim_{scope}"
        )
    subject = claims.get(principal)
    if not isinstance(subject, str) or not subject.strip():
        raise ConfigurationError(
            f"OAUTHBEARER needs tokens: set {_ENDPOINT}, or, for tokens without a signature, "
            f"{_UNSECURED}StringClaim_{principal} in sasl.jaas.config"
        )
    lifetime = options.pop(_LIFETIME, "3600")
    lifetime_s = int(lifetime) if _WHOLE_NUMBER.fullmatch(lifetime) else 0
    if lifetime_s <= 0:
        raise ConfigurationError(
            f"{_LIFETIME} in sasl.jaas.config has to be a whole number of seconds, 1 or more"
        )

    def token() -> str:
        now = int(time.time() * 1000) / 1000  # no later than the broker's milliseconds
        body = {**claims, "iat": now, "exp": now + lifetime_s}
        return f"{_base64url({'alg': 'none'})}.{_base64url(body)}."

    return token


def _claim(kind: str, text: str, name: str) -> object:
    if kind == "String":
        return text
    if kind == "List":  # its first character separates the others, as in Kafka
        return text[1:].split(text[0]) if text else []
    return _number(text, name)


def _number(text: str, name: str) -> float:
    try:
        number = math.nan if "_" in text else float(text)  # Java has no 1_000
    except ValueError:
        number = math.nan
    if not math.isfinite(number):  # JSON has neither infinity nor NaN
        raise ConfigurationError(f"{name} in sasl.jaas.config is not a number")
    return number


def _base64url(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _error(fault: str) -> SaslError:
    return SaslError(f"OAUTHBEARER: {fault}", mechanism="OAUTHBEARER")
