"""Tokens of OAUTHBEARER with a signature, which the keys of a JWKS check (RFC 7515 and 7517).

Source: Kafka's ``OAuthBearerValidatorCallbackHandler`` and ``BrokerJwtValidator``, and what jose4j
does for them: which key it takes, and which claims it refuses. cryptography, an extra, checks the
signatures.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from kafka_admin_proto.protocol.connection.sasl_server import TokenOwner
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.security.jwks import Jwk, json_object
from kafka_admin_proto.server.security.tokens import MAX_MS

#: Algorithm → the type of its keys and the bits of its hash; of elliptic curves the curve too.
_ALGORITHMS = {
    **{f"{kind}{bits}": ("RSA", bits) for kind in ("RS", "PS") for bits in (256, 384, 512)},
    **{f"ES{bits}": ("EC", bits) for bits in (256, 384, 512)},
}
#: Type of a key → its parts that are numbers.
_NUMBERS = {"RSA": "ne", "EC": "xy"}
_CURVES = {256: "P-256", 384: "P-384", 512: "P-521"}
#: jose4j takes no shorter keys of RSA.
_LEAST_RSA_BITS = 2048
_DATES = ("exp", "iat", "nbf")
#: Hashes of a key's certificate, which a key that has none may be without.
_THUMBPRINTS = ("x5t", "x5t#S256")
#: Contents that are tokens themselves, which Kafka's class does not open.
_NESTED = ("jwt", "application/jwt")
#: Claims that are texts where they are there, in jose4j.
_TEXTS = ("iss", "sub", "jti")


@dataclass(frozen=True)
class SignedTokens:
    """The rules of a listener for tokens. ``keys`` gives those of the JWKS that has the key id."""

    keys: Callable[[str | None, float], Collection[Jwk]]
    audiences: Collection[str]
    issuer: str | None
    #: Where no audience is named: whether the token may be for whomever it is (4.4).
    any_audience: bool
    skew_s: int
    subject_claim: str
    scope_claim: str

    def owner_of(self, token: str, now_ms: float) -> TokenOwner | None:
        """The owner that is named in a token that is valid at that time, None for any other."""
        try:
            claims = self._claims(token, now_ms)
            return self._owner(claims, now_ms)
        except (ValueError, OverflowError, RecursionError):  # what is no JSON, no text, no date
            return None

    def _claims(self, token: str, now_ms: float) -> Jwk:
        """The claims of a token with a good signature; ValueError for any other."""
        front, claims, signature = trim(token).split(".")
        header = _json_object(front)
        if header.get("crit") not in (None, []) or not claims:  # extensions to be understood
            raise ValueError
        algorithm = _text(header, "alg")
        if algorithm not in _ALGORITHMS or header.get("b64") is False:
            raise ValueError
        if (_text(header, "cty") or "").lower() in _NESTED:
            raise ValueError
        kid = _text(header, "kid")
        thumbprints = {each: _text(header, each) for each in _THUMBPRINTS}
        type_, bits = _ALGORITHMS[algorithm]
        fitting = [
            key
            for key in self.keys(kid, now_ms)
            if key.get("kty") == type_
            and _is_whole(key)
            and _is_for_this(key)
            and all(value in (None, key.get(each, value)) for each, value in thumbprints.items())
        ]
        if len(fitting) > 1:
            fitting = [
                key
                for key in fitting
                if key.get("alg", algorithm) == algorithm
                and (type_ != "EC" or key.get("crv") == _CURVES[bits])
            ]
        signed = f"{front}.{claims}".encode("ascii")
        if not fitting or not _is_signed(fitting[0], algorithm, _bytes(signature), signed):
            raise ValueError
        return _json_object(claims)

    def _owner(self, claims: Jwk, now_ms: float) -> TokenOwner | None:
        now_s = int(now_ms // 1000)
        ends_s, since_s, from_s = [_date(claims.get(each)) for each in _DATES]
        if ends_s is None or since_s is None:
            return None
        if not (0 <= ends_s * 1000 <= MAX_MS and 0 <= since_s * 1000 <= MAX_MS):
            return None
        is_over = now_s - self.skew_s >= ends_s or ends_s < since_s
        is_early = from_s is not None and (now_s + self.skew_s < from_s or ends_s < from_s)
        texts = [claims.get(each) for each in (*_TEXTS, self.subject_claim)]
        if is_over or is_early or any(not isinstance(each, str | None) for each in texts):
            return None
        if self.issuer is not None and claims.get("iss") != self.issuer:
            return None
        audience = claims.get("aud")
        if audience is None and self.audiences:
            return None
        # jose4j refuses a token for somebody, whoever that is, where nobody is expected.
        checks = self.audiences or not self.any_audience
        if checks and audience is not None and not set(_list(audience)) & set(self.audiences):
            return None
        scopes = claims.get(self.scope_claim)
        if isinstance(scopes, str | list):
            names = [trim(each) for each in _list(scopes)]
            if "" in names or len(set(names)) < len(names):
                return None
        name = trim(claims.get(self.subject_claim) or "")
        return TokenOwner(name, int(ends_s * 1000 - now_ms)) if name else None


def _is_whole(key: Jwk) -> bool:
    """Whether a key has its numbers; jose4j leaves out those that do not."""
    return all(isinstance(key.get(each), str) for each in _NUMBERS[key["kty"]])


def _is_for_this(key: Jwk) -> bool:
    """Whether a key is one for signatures; those that do not say so are."""
    uses = key.get("key_ops")
    is_use = uses is None or (isinstance(uses, list) and "verify" in uses)
    return key.get("use") in (None, "sig") and is_use


def _is_signed(key: Jwk, algorithm: str, signature: bytes, signed: bytes) -> bool:
    bits = _ALGORITHMS[algorithm][1]
    hash_ = {256: hashes.SHA256(), 384: hashes.SHA384(), 512: hashes.SHA512()}[bits]
    try:
        if algorithm.startswith("ES"):
            curve = {256: ec.SECP256R1(), 384: ec.SECP384R1(), 512: ec.SECP521R1()}[bits]
            size = (curve.key_size + 7) // 8
            if key.get("crv") != _CURVES[bits] or len(signature) != 2 * size:
                return False
            pair = _number(signature[:size]), _number(signature[size:])
            _curve_key(key, curve).verify(
                utils.encode_dss_signature(*pair), signed, ec.ECDSA(hash_)
            )
        else:
            pss = padding.PSS(padding.MGF1(hash_), hash_.digest_size)
            padded = pss if algorithm.startswith("PS") else padding.PKCS1v15()
            _rsa_key(key).verify(signature, signed, padded, hash_)
    except (InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _rsa_key(key: Jwk) -> rsa.RSAPublicKey:
    found = rsa.RSAPublicNumbers(e=_key_number(key, "e"), n=_key_number(key, "n")).public_key()
    if found.key_size < _LEAST_RSA_BITS:
        raise ValueError
    return found


def _curve_key(key: Jwk, curve: ec.EllipticCurve) -> ec.EllipticCurvePublicKey:
    x, y = _key_number(key, "x"), _key_number(key, "y")
    return ec.EllipticCurvePublicNumbers(x, y, curve).public_key()


def _key_number(key: Jwk, name: str) -> int:
    return _number(_bytes(key[name]))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _json_object(text: str) -> Jwk:
    return json_object(_bytes(text))


def _text(header: Jwk, name: str) -> str | None:
    """A text of a header, None without; ValueError for anything else."""
    found = header.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError
    return found


def _date(value: object) -> int | None:
    """A claim in whole seconds; ValueError for what is no number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return int(value)


def _list(value: object) -> list[str]:
    found = value if isinstance(value, list) else [value]
    texts = [each for each in found if isinstance(each, str)]
    if len(texts) < len(found):
        raise ValueError
    return texts
