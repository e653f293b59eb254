"""Where Kafka's properties say that tokens of OAUTHBEARER come from: an endpoint, a file, options.

The options of ``OAuthBearerLoginModule`` are those of Kafka's ``OAuthBearerLoginCallbackHandler``
and, for tokens without a signature, of its ``OAuthBearerUnsecuredLoginCallbackHandler``.
"""

from __future__ import annotations

import base64
import json
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote_plus, unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.admin.settings.jaas import read_jaas
from kafka_admin_proto.admin.settings.security import is_loopback
from kafka_admin_proto.errors import SaslError

_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_HANDLER = "sasl.login.callback.handler.class"
_HANDLERS = ("OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler")
#: Property → option of the login that Kafka reads where the property is missing.
_CREDENTIALS = {
    "sasl.oauthbearer.client.credentials.client.id": "clientId",
    "sasl.oauthbearer.client.credentials.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
}
_UNSECURED = "unsecuredLogin"
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
    handler = properties.get(_HANDLER, "")
    if handler and handler.rpartition(".")[2] not in _HANDLERS:
        raise ConfigurationError(
            f"{_HANDLER}={handler} is a class of Java, which this client does not have; there are "
            f"{' and '.join(_HANDLERS)}, and sasl_oauth_token_provider in Python"
        )
    login = properties.get("sasl.jaas.config")
    options = read_jaas(login, ("OAuthBearerLoginModule",)) if login else {}
    url = properties.get(_ENDPOINT)
    prefix = "extension_" if url else f"{_UNSECURED}Extension_"
    extensions = {
        name.removeprefix(prefix): options.pop(name)
        for name in list(options)
        if name.startswith(prefix)
    }
    token = _of_endpoint(url, properties, options, timeout_s) if url else _unsecured(options)
    if options:
        raise ConfigurationError(
            f"sasl.jaas.config has {', '.join(sorted(options))}, which would have no effect "
            f"{'beside' if url else 'without'} {_ENDPOINT}; correct the name, or remove it"
        )
    return Tokens(token, extensions)


def _of_endpoint(
    url: str, properties: Mapping[str, str], options: dict[str, str], timeout_s: float | None
) -> Callable[[], str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigurationError(f"{_ENDPOINT} is not a URL") from None
    if parts.scheme == "file":
        return _of_file(unquote(parts.path))
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError(
            f"{_ENDPOINT} has the scheme {parts.scheme!r}; expected https://… or file:///…"
        )
    found = {}
    for name, option in _CREDENTIALS.items():
        in_login = options.pop(option, None)
        found[option] = properties.get(name) or in_login or ""
        if not found[option] and option != "scope":
            raise ConfigurationError(
                f"{_ENDPOINT} needs {option} in sasl.jaas.config, or the property {name}"
            )
    if parts.scheme == "http" and not is_loopback(host):
        warnings.warn(
            f"the client's secret goes to {host} in the clear: {_ENDPOINT} is http; use https",
            UserWarning,
            stacklevel=2,
        )
    shown = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"
    login = [found["clientId"], found["clientSecret"]]
    if properties.get("sasl.oauthbearer.header.urlencode", "").lower() == "true":
        login = [quote_plus(each) for each in login]
    form = {"grant_type": "client_credentials"}
    form |= {"scope": found["scope"]} if found["scope"] else {}
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
    return lambda: _asked(request, shown, timeout_s or _TIMEOUT_S)


class _NoRedirect(HTTPRedirectHandler):
    """A redirected request would take the client's secret to another place."""

    def redirect_request(self, *_: object) -> None:
        return None


def _asked(request: Request, shown: str, timeout_s: float) -> str:
    """The token that an endpoint returns (RFC 6749, 4.4)."""
    try:
        with build_opener(_NoRedirect).open(request, timeout=timeout_s) as response:
            answer = response.read(_MAX_BYTES)
    except HTTPError as error:
        with error:
            reason = f"it answered {error.code}{_code(error.read(_MAX_BYTES))}"
    except (OSError, ValueError) as error:
        cause = error.reason if isinstance(error, URLError) else error
        reason = str(cause) or type(cause).__name__
    else:
        token = _field(answer, "access_token")
        if token:
            return token
        reason = "its answer has no access_token"
    raise _error(f"no token of {shown}: {reason}")


def _code(answer: bytes) -> str:
    """The error code of RFC 6749, 5.2, in an answer; its other words may be anything."""
    code = _field(answer, "error")
    return f" ({code})" if code.isidentifier() and len(code) < 100 else ""


def _field(answer: bytes, name: str) -> str:
    try:
        found = json.loads(answer)
    except ValueError:
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
            claims[claim] = _claim(kind, options.pop(name), name)
    principal = options.pop(f"{_UNSECURED}PrincipalClaimName", "sub")
    options.pop(f"{_UNSECURED}ScopeClaimName", None)
    if not claims.get(principal):
        raise ConfigurationError(
            f"OAUTHBEARER needs tokens: set {_ENDPOINT}, or, for tokens without a signature, "
            f"{_UNSECURED}StringClaim_{principal} in sasl.jaas.config"
        )
    lifetime = f"{_UNSECURED}LifetimeSeconds"
    lifetime_s = _number(options.pop(lifetime, "3600"), lifetime)

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
        return float(text)
    except ValueError:
        raise ConfigurationError(f"{name} in sasl.jaas.config is not a number") from None


def _base64url(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _error(fault: str) -> SaslError:
    return SaslError(f"OAUTHBEARER: {fault}", mechanism="OAUTHBEARER")
