"""AWS_MSK_IAM: which of the signer library's tokens a client asks for, and with what region."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from kafka_admin_proto.admin import ConfigurationError, client_config
from kafka_admin_proto.errors import MissingExtraError

BROKER = "b-1.mine.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
MODULE = "software.amazon.msk.auth.iam.IAMLoginModule required"
HANDLER = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"


@pytest.fixture
def signer(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The calls of a signer library that signs nothing."""
    calls: list[tuple[object, ...]] = []

    def returns(name: str) -> object:
        def sign(*arguments: object) -> tuple[str, int]:
            calls.append((name, *arguments))
            return "signed-hush", 1

        return sign

    names = ("", "_from_profile", "_from_role_arn")
    provider = SimpleNamespace(**{f"generate_auth_token{each}": returns(each) for each in names})
    module = ModuleType("aws_msk_iam_sasl_signer")
    module.MSKAuthTokenProvider = provider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", module)
    return calls


def first(broker: str, options: str = "") -> str:
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": f"{MODULE}{options};",
        "sasl.client.callback.handler.class": HANDLER,
    }
    config = client_config(broker, command_config=properties)
    assert "hush" not in repr(config)
    sasl = config.credentials()
    assert sasl is not None
    assert sasl.mechanism == "OAUTHBEARER"
    return sasl.exchange(0).first().decode()


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ("", ("", "eu-west-1")),
        (' awsProfileName="me"', ("_from_profile", "eu-west-1", "me")),
        (' awsRoleArn="arn:a"', ("_from_role_arn", "eu-west-1", "arn:a", None)),
        (
            ' awsRoleArn="arn:a" awsRoleSessionName="s"',
            ("_from_role_arn", "eu-west-1", "arn:a", "s"),
        ),
    ],
)
def test_a_token_is_signed_for_the_region_of_the_brokers(
    signer: list[tuple[object, ...]], options: str, call: tuple[object, ...]
) -> None:
    assert first(BROKER, options) == "n,,\x01auth=Bearer signed-hush\x01\x01"
    assert signer == [call]


def test_the_region_of_other_names_is_in_the_environment(
    signer: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=r"AWS_MSK_IAM needs a region, .* set AWS_REGION"):
        first("localhost:9098")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    first("localhost:9098")
    first("boot-x.c1.kafka-serverless.eu-north-1.amazonaws.com:9098")
    assert [each[1] for each in signer] == ["us-east-1", "eu-north-1"]


def test_what_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = "sasl.client.callback.handler.class"
    cases = [
        ({"sasl.jaas.config": f'{MODULE} password="hush";'}, "has password, which has no effect"),
        (
            {"sasl.jaas.config": f'{MODULE} awsRoleArn="a" awsProfileName="b";'},
            "has awsRoleArn and awsProfileName, and",
        ),
        (
            {"sasl.jaas.config": f'{MODULE} awsRoleSessionName="a";'},
            "has awsRoleSessionName, which has no effect without awsRoleArn",
        ),
        ({handler: "x.Y"}, "x.Y is a class of Java"),
        ({"sasl.mechanism": "PLAIN", handler: HANDLER}, "no effect with sasl.mechanism PLAIN"),
        ({"sasl.oauthbearer.scope": "a"}, "sasl.mechanism is AWS_MSK_IAM"),
    ]
    for properties, said in cases:
        with pytest.raises(ConfigurationError, match=said) as caught:
            client_config(BROKER, command_config={"sasl.mechanism": "AWS_MSK_IAM", **properties})
        assert "hush" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)
    with pytest.raises(MissingExtraError, match=r"kafka-admin-proto\[msk\]"):
        first(BROKER)
