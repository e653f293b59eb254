"""Policies by name: found or refused, configured and closed, and what a failure leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import CreateTopicsRequest, DescribeConfigsRequest
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.helpers.kap import ended, run_kap
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tools.clusters import free_ports

_SECONDS = 30
CONFIGS = ["create.topic.policy.class.name", "alter.config.policy.class.name"]
OPTIONS = dict(zip(CONFIGS, ["--policy", "--alter-config-policy"], strict=True))
ARGUMENTS = dict(zip(CONFIGS, ["create_topic_policy", "alter_config_policy"], strict=True))

#: A module of policies that write down what is called.
MODULE = """
from kafka_admin_proto.server import PolicyViolation

calls = []

class Good:
    def configure(self, configs):
        calls.append(("configure", configs["node.id"]))

    def validate(self, metadata):
        raise PolicyViolation("not here")

    def close(self):
        calls.append(("close",))

class BadConstructor(Good):
    def __init__(self):
        raise KeyError("two\\nlines")

class WantsArguments(Good):
    def __init__(self, more):
        pass

class BadConfigure(Good):
    def configure(self, configs):
        raise OSError("no such\\nfile")

class NoText(Exception):
    def __str__(self):
        raise ValueError("no text")

class FailsWithoutText(Good):
    def configure(self, configs):
        raise NoText

class NoValidate(Good):
    validate = None

class NoClose:
    def configure(self, configs): pass
    def validate(self, metadata): pass

class Async(Good):
    async def validate(self, metadata): pass

class AsyncCall(Good):
    class Validate:
        async def __call__(self, metadata): pass
    validate = Validate()

class BadClose(Good):
    def close(self):
        super().close()
        raise ValueError("still open")

class ExitsAsMade(Good):
    def __init__(self):
        raise SystemExit(0)

class ExitsAsConfigured(Good):
    def configure(self, configs):
        raise SystemExit(3)

class Exits(Good):
    def configure(self, configs):
        raise KeyboardInterrupt

good = Good()
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The calls of the policies in the module ``rules``, which is in the current folder."""
    (tmp_path / "rules.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("1 +")
    (tmp_path / "exits.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    import rules  # type: ignore[import-not-found]

    yield rules.calls
    del sys.modules["rules"]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_class_in_a_config_is_obeyed(config: str, calls: list[Any]) -> None:
    """p21, p35, p47: either policy by its own config."""
    with SyncCluster(configs={config: "rules:Good"}) as cluster:
        assert calls == [("configure", "1")]
        with Nodes(cluster.bootstrap_servers) as nodes:
            request = CreateTopicsRequest([topic("a", retention_ms="5")], 1000)
            (created,) = nodes.ask(0, request, 7).topics
            assert (created.error_code, created.error_message) == (44, "not here")
            asked = DescribeConfigsRequest([DescribeConfigsResource(4, "1", [config])])
            ((shown,),) = (each.configs for each in nodes.ask(0, asked, 4).results)
            assert shown.value == "rules:Good"
    assert calls[1:] == [("close",)]


#: What is no policy → the end of the sentence that says so.
REFUSED = {
    "org.example.Policy": "'org.example.Policy' is not of the form module:Class; a policy is a "
    "Python class here, since Java's cannot be loaded, and has configure(configs), "
    "validate(metadata) and close()",
    "": "'' is not of the form module:Class; a policy is a Python class",
    "rules:": "no policy 'rules:': AttributeError: module 'rules' has no attribute ''",
    ":Good": "no policy ':Good': ValueError: Empty module name; name it as module:Class",
    "rules:Absent": "no policy 'rules:Absent': AttributeError: module 'rules' has no attribute",
    "absent:Good": "no policy 'absent:Good': ModuleNotFoundError: No module named 'absent'",
    "broken:Good": "no policy 'broken:Good': SyntaxError: invalid syntax",
    "exits:Good": "no policy 'exits:Good': SystemExit: 0; name it as module:Class",
    "rules:good": "'rules:good' is no class; name a class as module:Class",
}
#: What fails when the cluster starts → the end of the sentence.
FAILING = {
    "rules:FailsWithoutText": "configure(configs) of rules:FailsWithoutText failed: NoText",
    "rules:BadConstructor": "the constructor of rules:BadConstructor failed: KeyError: 'two",
    "rules:WantsArguments": "the constructor of rules:WantsArguments failed: TypeError: ",
    "rules:BadConfigure": "configure(configs) of rules:BadConfigure failed: OSError: no such file",
    "rules:ExitsAsMade": "the constructor of rules:ExitsAsMade failed: SystemExit: 0",
    "rules:ExitsAsConfigured": "configure(configs) of rules:ExitsAsConfigured failed: SystemExit",
    "rules:NoValidate": "rules:NoValidate has no method validate; a policy has configure(configs), "
    "validate(metadata) and close()",
    "rules:NoClose": "rules:NoClose has no method close; a policy has",
    "rules:AsyncCall": "validate of rules:AsyncCall is a coroutine function, which would never",
    "rules:Async": "validate of rules:Async is a coroutine function, which would never run",
}


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", REFUSED)
def test_a_name_of_no_policy_is_refused(config: str, name: str, calls: list[Any]) -> None:
    """p21: none is ignored."""
    with pytest.raises(SettingsError) as refused:
        Cluster(configs={config: name})
    assert str(refused.value).startswith(f"{config}: {REFUSED[name]}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["option", "config"])
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", [*REFUSED, *FAILING])
def test_kap_serve_ends_with_a_sentence(config: str, name: str, way: str, calls: list[Any]) -> None:
    given = [OPTIONS[config], name] if way == "option" else ["--config", f"{config}={name}"]
    ended = run_kap("serve", *given)
    assert (ended.exit_code, ended.stdout) == (2, "")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith(f"Error: {config}: {(REFUSED | FAILING)[name]}")


def is_free(port: int, folder: Path) -> bool:
    """Whether a cluster starts on the port and the folder."""
    with SyncCluster(port=port, data=folder):
        return True


@pytest.fixture
def port() -> int:
    """One that no connection of other tests is given in the meantime."""
    (found,) = free_ports(1)
    return found


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_start_leaves_nothing_open(
    name: str, port: int, tmp_path: Path, calls: list[Any]
) -> None:
    configs = {CONFIGS[0]: "rules:Good", CONFIGS[1]: name}
    folder = tmp_path / "data"
    with pytest.raises(SettingsError):
        SyncCluster(configs=configs, port=port, data=folder).start()
    assert calls == [("configure", "1"), ("close",)]
    assert is_free(port, folder)


def test_an_interrupt_closes_policies_too(port: int, tmp_path: Path, calls: list[Any]) -> None:
    configs = {CONFIGS[0]: "rules:Good", CONFIGS[1]: "rules:Exits"}
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(Cluster(configs=configs, port=port, data=tmp_path / "data").start())
    assert calls == [("configure", "1"), ("close",)]
    assert is_free(port, tmp_path / "data")


def test_a_failing_close_closes_all_else(port: int, tmp_path: Path, calls: list[Any]) -> None:
    """p45: the failure is said in the end."""
    configs = dict.fromkeys(CONFIGS, "rules:BadClose")
    cluster = SyncCluster(configs=configs, port=port, data=tmp_path / "data")
    cluster.start()
    with pytest.raises(SettingsError) as failure:
        cluster.stop()
    failed = "close() of rules:BadClose failed: ValueError: still open"
    assert str(failure.value) == "; ".join(f"{config}: {failed}" for config in CONFIGS)
    assert isinstance(failure.value.__cause__, ValueError)
    assert calls[2:] == [("close",), ("close",)]
    assert is_free(port, tmp_path / "data")


def test_a_failing_start_is_what_is_raised(calls: list[Any]) -> None:
    configs = {CONFIGS[0]: "rules:BadClose", CONFIGS[1]: "rules:BadConfigure"}
    with pytest.raises(SettingsError, match="BadConfigure failed: OSError") as failure:
        SyncCluster(configs=configs).start()
    assert "rules:BadClose failed: ValueError: still open" in failure.value.__notes__[0]


def test_kap_serve_with_a_policy_that_cannot_be_closed(calls: list[Any], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", "--policy", "rules:BadClose"]
    environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[3]}:{tmp_path}"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=_SECONDS)
    assert process.returncode == 2
    text = "close() of rules:BadClose failed: ValueError: still open"
    assert errors.splitlines()[-1] == f"Error: {CONFIGS[0]}: {text}"
    assert "Traceback" not in errors


class Given:
    """A policy as an object."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: Any) -> None: ...
    def close(self) -> None: ...


class WithoutClose:
    """Half a policy."""

    def configure(self, configs: Mapping[str, str]) -> None: ...
    def validate(self, metadata: Any) -> None: ...


@pytest.mark.parametrize("config", CONFIGS)
def test_a_policy_given_twice_is_refused(config: str, calls: list[Any]) -> None:
    both: dict[str, Any] = {"configs": {config: "rules:Good"}, ARGUMENTS[config]: Given()}
    with pytest.raises(SettingsError, match=f"{ARGUMENTS[config]} and the config {config} both"):
        Cluster(**both)
    assert (
        f"Error: {OPTIONS[config]} and --config {config} both name a policy"
        in ended(
            run_kap("serve", OPTIONS[config], "rules:Good", "--config", f"{config}=rules:Good"), 2
        ).stderr
    )


@pytest.mark.parametrize("argument", ARGUMENTS.values())
@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (Given, "is the class Given; give an object of it, or its name as module:Class"),
        (WithoutClose(), "WithoutClose has no method close; a policy has"),
        ("rules:Good", "str has no method configure"),
    ],
)
def test_an_object_that_is_no_policy_is_refused(argument: str, policy: Any, text: str) -> None:
    arguments: dict[str, Any] = {argument: policy}
    with pytest.raises(SettingsError, match=text):
        Cluster(**arguments)
