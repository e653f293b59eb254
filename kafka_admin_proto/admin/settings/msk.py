"""AWS_MSK_IAM: logins of Amazon MSK by IAM, with tokens of Amazon's signer library.

MSK takes such a token with OAUTHBEARER at the listener at which Java's clients log in with the
mechanism AWS_MSK_IAM, so that nothing but the token is Amazon's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.admin.settings.jaas import read_jaas
from kafka_admin_proto.errors import MissingExtraError

#: The name of a broker of MSK, whose region is the part behind "kafka" or "kafka-serverless".
_BROKER = re.compile(r".+\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_HANDLER = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


def msk_tokens(properties: Mapping[str, str], hosts: Iterable[str]) -> Callable[[], str]:
    """The provider for ``sasl.mechanism=AWS_MSK_IAM``; the region is that of the brokers' names.

    The options ``awsProfileName``, ``awsRoleArn`` and ``awsRoleSessionName`` of
    ``IAMLoginModule`` say whose credentials are used, by default those of the environment. Raises
    ConfigurationError, and MissingExtraError without the library.
    """
    handler = properties.get("sasl.client.callback.handler.class", _HANDLER)
    if handler != _HANDLER:
        raise ConfigurationError(
            f"sasl.client.callback.handler.class={handler} is a class of Java, which this client "
            f"does not have; AWS_MSK_IAM takes {_HANDLER}"
        )
    login = properties.get("sasl.jaas.config")
    options = read_jaas(login, ("IAMLoginModule",)) if login else {}
    profile, role = options.pop("awsProfileName", None), options.pop("awsRoleArn", None)
    session = options.pop("awsRoleSessionName", None)
    if options:
        raise ConfigurationError(
            f"sasl.jaas.config has {', '.join(sorted(options))}, which has no effect here; there "
            "are awsProfileName, awsRoleArn and awsRoleSessionName"
        )
    if role is not None and profile is not None:
        raise ConfigurationError(
            "sasl.jaas.config has awsRoleArn and awsProfileName, and the signer library takes the "
            "credentials of one of them alone; remove one, or set AWS_PROFILE for the role's"
        )
    if session is not None and role is None:
        raise ConfigurationError(
            "sasl.jaas.config has awsRoleSessionName, which has no effect without awsRoleArn"
        )
    region = _region(hosts)
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider as signer
    except ImportError:
        raise MissingExtraError(
            "AWS_MSK_IAM needs Amazon's signer library: pip install 'kafka-admin-proto[msk]'"
        ) from None

    def token() -> str:
        if role is not None:
            signed = signer.generate_auth_token_from_role_arn(region, role, session)
        elif profile is not None:
            signed = signer.generate_auth_token_from_profile(region, profile)
        else:
            signed = signer.generate_auth_token(region)
        return str(signed[0])

    return token


def _region(hosts: Iterable[str]) -> str:
    for host in hosts:
        if found := _BROKER.fullmatch(host.lower()):
            return found[1]
    for name in _REGIONS:
        if found_region := os.environ.get(name):
            return found_region
    raise ConfigurationError(
        f"AWS_MSK_IAM needs a region, which no bootstrap address names; set {_REGIONS[0]}"
    )
