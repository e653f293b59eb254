"""The functional tests of IBM's sarama (Go), out of its module, on brokers in five racks."""

from __future__ import annotations

import re
from pathlib import Path

from tools.kafka_releases import NEWEST
from tools.peers import go
from tools.peers.suite import Command, Suite

_MODULE, _VERSION = "github.com/IBM/sarama", "v1.61.1"
_PROGRAM, _BROKERS = "sarama.test", 5
#: These need brokers that stop, a proxy that breaks or delays connections, or commands of the
#: containers in which the brokers are elsewhere.
_NOT_HERE = re.compile(
    r"Failure|Failover|Java|NetworkErrorCloses|RemoteBrokerClosed|FuncProducing(?!To)"
    r"|IdempotentBufferedSequence|ListConsumerGroupOffsets$"
)
#: Where the tests have the addresses of brokers, and where they ask a proxy.
_ENVIRONMENT, _PROXY = "functional_test.go", "internal/toxiproxy"
_ADDRESS = 'fmt.Sprintf("127.0.0.1:%d", 29090+i)'
_OURS = 'strings.Split(os.Getenv("PEERS_BOOTSTRAP"), ",")[i-1]'
#: A proxy that is not there, and so never breaks anything.
_NO_PROXY = """\
package toxiproxy

type Attributes map[string]int
type Toxic struct{}
type Client struct{}
type Proxy struct{ Enabled bool }

func NewClient(string) *Client { return &Client{} }

func (*Client) Proxy(string) (*Proxy, error) { return &Proxy{Enabled: true}, nil }

func (*Client) CreateProxy(_, _, _ string) (*Proxy, error) { return &Proxy{}, nil }

func (*Client) ResetState() error { return nil }

func (p *Proxy) Save() (*Proxy, error) { return p, nil }

func (p *Proxy) Enable() error { return nil }

func (p *Proxy) Disable() error { return nil }

func (p *Proxy) AddToxic(_, _, _ string, _ float32, _ Attributes) (*Toxic, error) {
	return &Toxic{}, nil
}
"""
#: As in the file that starts the brokers for these tests.
_CONFIGS = {
    "default.replication.factor": "2",
    "auto.create.topics.enable": "false",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}


def _prepare(folder: Path) -> None:
    source = go.download(folder, _MODULE, _VERSION)
    file = source / _ENVIRONMENT
    file.write_text(file.read_text().replace(_ADDRESS, _OURS))
    for each in (source / _PROXY).glob("*.go"):
        each.unlink()
    (source / _PROXY / "none.go").write_text(_NO_PROXY)
    go.build(source, ".", folder / _PROGRAM, "-tags", "functional")


def _tests(folder: Path) -> list[str]:
    names = go.tests_in(sorted((folder / "source").glob("functional_*_test.go")))
    return [each for each in names if not _NOT_HERE.search(each)]


def _command(folder: Path, bootstrap: str, test: str) -> Command:
    environment = {
        "PEERS_BOOTSTRAP": bootstrap, "TOXIPROXY_ADDR": "http://127.0.0.1:1",
        "KAFKA_VERSION": NEWEST,
    }  # fmt: skip
    return Command(go.one(folder / _PROGRAM, test), folder / "source", environment)


SUITE = Suite(
    name="sarama", version=_VERSION.removeprefix("v"), nodes=_BROKERS, configs=_CONFIGS,
    prepare=_prepare, tests=_tests, command=_command, result=go.result, limit_s=180.0,
    one_by_one=True,
)  # fmt: skip
