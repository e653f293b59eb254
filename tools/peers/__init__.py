"""Test suites that other projects wrote for real brokers, run on ``kap serve`` or on real brokers.

    python -m tools.peers                          # every suite on `kap serve`
    python -m tools.peers franz-go --cluster real  # one suite on Kafka's own brokers
    python -m tools.peers --write                  # docs/peers.md, of the last run of each

Each suite comes from its released source, which the ordinary client of its registry brings into the
cache, or git where only a tag has the tests. Each test runs in a process group of its own that is
ended at its limit, so that a test that hangs costs itself alone. ``build/peers/`` gets the result
and the output of each test.
"""
