"""librdkafka's names of settings, which Confluent's pages have: obeyed by Kafka's, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isdir

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.stores import read_file

#: librdkafka's name → Kafka's for the same value.
_SAME = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
}
#: librdkafka's name of a file → Kafka's for its text.
_FILES = {
    "ssl.certificate.location": "ssl.keystore.certificate.chain",
    "ssl.key.location": "ssl.keystore.key",
}
#: librdkafka's name → the value with which Kafka's clients do the same, and what else to set.
_FIXED = {
    "enable.ssl.certificate.verification": (
        "true",
        "certificates are always checked; put the broker's own into ssl.truststore.location",
    ),
    "sasl.oauthbearer.method": (
        "oidc",
        "set sasl.oauthbearer.token.endpoint.url, or for tokens without a signature "
        "unsecuredLoginStringClaim_sub in sasl.jaas.config",
    ),
}
#: librdkafka's name → what says the same in Kafka's files.
_REFUSED = {
    "enable.sasl.oauthbearer.unsecure.jwt": "unsecuredLoginStringClaim_sub in sasl.jaas.config",
    "sasl.oauthbearer.config": "unsecuredLoginStringClaim_sub in sasl.jaas.config",
    "sasl.oauthbearer.extensions": "extension_NAME in sasl.jaas.config",
    "ssl.ca.certificate.stores": "ssl.truststore.location",
    "ssl.keystore.pem": "ssl.keystore.key and ssl.keystore.certificate.chain",
}
_AUTHORITIES = "ssl.ca.location"
_ALGORITHM = "ssl.endpoint.identification.algorithm"


def in_kafkas_names(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with Kafka's names alone; ``sasl.username`` and ``sasl.password`` stay.

    Raises ConfigurationError for a setting by both names, one that Kafka's clients do not have, and
    a file that cannot be read.
    """
    renamed = dict(properties)
    for name in [each for each in properties if each in _REFUSED]:
        raise ConfigurationError(
            f"{name} is librdkafka's and has no effect here; set {_REFUSED[name]}"
        )
    for name, (value, instead) in _FIXED.items():
        if renamed.pop(name, value).strip().lower() != value:
            raise ConfigurationError(f"{name} is librdkafka's, and {value} alone works: {instead}")
    authorities = renamed.get(_AUTHORITIES, "").strip()
    if authorities == "probe":  # what the system trusts, as without it
        del renamed[_AUTHORITIES]
    elif authorities and isdir(authorities):  # False for PEM, which is too long for a path
        raise ConfigurationError(
            f"{_AUTHORITIES}={authorities} is a directory; name a file of PEM, or leave it out for "
            "what the system trusts"
        )
    for name, kafkas in {**_SAME, **_FILES}.items():
        if name not in renamed:
            continue
        if kafkas in renamed:
            raise ConfigurationError(
                f"{name} is librdkafka's name of {kafkas}, which is set as well; remove one"
            )
        text = renamed.pop(name)
        renamed[kafkas] = _text_of(name, text.strip()) if name in _FILES else text
    if renamed.get(_ALGORITHM, "").strip().lower() == "none":  # Kafka's word for it is no word
        renamed[_ALGORITHM] = ""
    return renamed


def _text_of(name: str, path: str) -> str:
    try:
        return read_file(name, path, _FILES[name]).decode("ascii", "ignore")
    except SettingsError as error:
        raise ConfigurationError(str(error)) from None
