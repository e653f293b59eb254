# The one runner: contributors, the README and CI call the same targets.
#   make demo      decode a sample dump           make check     lint, types, contracts, freshness
#   make test      all tests                      make explore   all tests, on other values each time
#   make jars      the jars that tests need       make generate  value classes and index from schemas/
#   make installed all that the targets below need, for make -j2 of several of them
#   make spark-archive     what Spark loads, in a file with which it starts in half the time
#   make speed     builds the compiled engine (speed/) into .venv; it needs a C compiler
#   make coverage  the lines that no test reaches, by file, at most 3 % of all; COVERED=tests/wire for a room
#   make test-speed    the tests of the codecs and of the engine, with the engine
#   make docs      the site, into build/site; nothing in it may link to nothing
#   make fuzz      coverage-guided fuzzing, FUZZ_SECONDS for each target
#   make fuzz-speed    the same for the compiled engine, under sanitizers
#   make peers     tests of other projects on `kap serve`; it takes Go, Rust, C, git and about an hour
#   make bench     beside other codecs, into docs/benchmarks.md
#   make conformance   everything against Kafka's own classes, into docs/conformance.md
#   make bench-captures    captures beside tshark, into docs/benchmarks-captures.md
#   make bench-spark       the pipeline beside tshark with Spark, into docs/benchmarks-spark.md
#   make bench-speed       the compiled engine beside the fused code, into docs/benchmarks-speed.md
#   make test-python PYTHON_SUITE=trixie   the tests but Spark's, with another Debian release's Python
#   make release   all that is published into dist/: wheels and sdists, installed and tried
#   make wheels    of these the compiled engine's, for Linux, tried on other systems
#   make test-machine SUITE=sid MACHINE=s390x    tests on another processor, by qemu
#   make test-threads FREE_THREADED=python3.14t  tests with a Python that has no global lock
#   make drift RELEASE=4.4.0   what that release has that schemas/ has not, or has otherwise;
#                  DEFINITIONS=FOLDER compares a checkout of Kafka's sources
PYTHON ?= python3
VENV   ?= .venv
RUN    := $(VENV)/bin/python
# Without bytecode each of the commands that tests start compiles all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE
READY  := $(VENV)/.ready
FUZZER := $(VENV)/.fuzzer
PEERS  := $(VENV)/.peers
SPARK  := $(VENV)/.spark
ENGINE := $(VENV)/.engine
PYRIGHT := $(VENV)/.pyright
COVERAGE := $(VENV)/.coverage
DOCS   := $(VENV)/.docs
ZIG    := $(VENV)/.zig
# Shared by all checkouts; a folder of wheels for each Python, and for each version of what is in it.
CACHE  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kafka-admin-proto
SHARED := $(shell sed -nE 's/^((construct|msgspec|uv)==.*)/\1/p' constraints.txt)
CACHE_TAG := $(shell $(PYTHON) -c 'import sys; print(sys.implementation.cache_tag)')
WHEELS := $(CACHE)/wheels-$(CACHE_TAG)-$(subst $() ,-,$(SHARED))
export KAFKA_ADMIN_PROTO_WHEELS := $(WHEELS)
INSTALL := sh tools/install.sh $(RUN)
# Of fuzzing, for each of its targets; two run at a time. With FUZZ_RUNS it is the same runs each time.
FUZZ_SECONDS ?= 600
FUZZ_FOR := $(if $(FUZZ_RUNS),--runs $(FUZZ_RUNS),--seconds $(FUZZ_SECONDS))
# Three for two processors, which starts of programs leave idle; small machines are bound by memory.
WORKERS ?= 3
# The tests of a group share a worker; groups start in the order that tests/scheduling/group_order.py gives them.
TESTS  ?= -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

# Values of each message and version that the check compares with Kafka's own classes.
CONFORMANCE_VALUES ?= 2
# What runs on the compiled engine: all that reads and writes bytes.
SPEED_TESTS ?= tests/wire tests/vectors tests/test_codec.py tests/protocol/test_payloads.py \
	tests/protocol/test_frames.py tests/records/batches/test_batches.py \
	tests/capture/test_times_after_gaps.py tests/test_threads.py tests/speed
# The Debian release whose Python runs the tests: trixie has 3.13, sid the newest.
PYTHON_SUITE ?= trixie
# A Debian release and a machine of tools/debian_packages.txt.
SUITE   ?= sid
MACHINE ?= s390x
# Debian has no such Python: one has to be on the PATH (uv python install 3.14t, pyenv install 3.14t).
FREE_THREADED ?= python3.14t
UNLOCKED := build/free-threaded
UNLOCKED_TESTS ?= tests/test_threads.py tests/test_codec.py tests/vectors tests/wire \
	tests/records/batches/test_batches.py

.PHONY: installed demo demo-spark docs speed spark-archive test coverage test-speed test-python check lint types typed-api compared bench bench-captures bench-spark bench-speed peers explore fuzz fuzz-speed generate import-schemas conformance drift jars release wheels test-machine test-threads

# Made over one of another Python, an environment would be a mixture of both.
define ENVIRONMENT
@[ ! -e $(RUN) ] || $(RUN) -c 'import sys; sys.exit(sys.implementation.cache_tag != "$(CACHE_TAG)")' || \
  { echo "$(VENV) has another Python than $(PYTHON): remove it, or say make PYTHON=... with its own"; exit 1; }
$(PYTHON) -m venv $(VENV)
endef

# uv comes from a folder that all checkouts share, with what the test of pip installs: pip fills it once.
$(WHEELS)/.ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(ENVIRONMENT)
	$(RUN) -m pip wheel --quiet --disable-pip-version-check -c constraints.txt -w $(WHEELS) $(SHARED)
	@touch $@

$(READY): pyproject.toml constraints.txt | $(WHEELS)/.ready
	$(ENVIRONMENT)
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-index --find-links $(WHEELS) uv
	$(INSTALL) -e '.[cli,capture,compression,live,security,test,dev]'
	-$(RUN) -m compileall -q kafka_admin_proto  # what is no Python, lint says
	@touch $@

# By itself: atheris has no wheels for each Python and system that the rest runs on.
$(FUZZER): $(READY)
	$(INSTALL) -e '.[fuzz]'
	@touch $@

$(PEERS): $(READY)
	$(INSTALL) -e '.[bench]'
	@touch $@

# By itself: hundreds of megabytes that the command line does without.
$(SPARK): $(READY)
	$(INSTALL) -e '.[spark,delta]'
	@touch $@

# By itself: 90 megabytes that only `make check` uses.
$(PYRIGHT): $(READY)
	$(INSTALL) -e '.[pyright]'
	@touch $@

# By itself: what only `make coverage` uses.
$(COVERAGE): $(READY)
	$(INSTALL) -e '.[coverage]'
	@touch $@

# By itself: what only the site is made with.
$(DOCS): $(READY)
	$(INSTALL) -e '.[docs]'
	@touch $@

# By itself: it takes a C compiler, which nothing else here does.
$(ENGINE): $(READY) $(wildcard speed/*.toml speed/*.py speed/kafka_admin_proto_speed/*.p*)
	$(INSTALL) 'Cython>=3.1,<4' 'setuptools>=77'
	$(INSTALL) --no-build-isolation --no-deps --force-reinstall ./speed
	@touch $@

# By itself: a compiler for all systems, of 90 megabytes.
$(ZIG): $(READY)
	$(INSTALL) -e '.[wheels]'
	@touch $@

# All that the other targets would install when they are first asked for, one after another: two
# pips at a time, or one beside a target that runs, would spoil the environment.
installed: $(READY) $(SPARK) $(PYRIGHT) $(DOCS) $(FUZZER) $(ENGINE)

speed: $(ENGINE)

# The pages of Spark are made of its modules, which need pyspark.
docs: $(DOCS) $(SPARK)
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet

demo: $(READY)
	$(VENV)/bin/kap decode samples/create_topics.hex
	$(VENV)/bin/kap explain samples/create_topics.hex --only 1

demo-spark: $(SPARK)
	$(VENV)/bin/kap pipeline samples/*.pcap.gz --out build/tables
	$(VENV)/bin/kap report build/tables --release 4.0 --out build/report.html

# Worth its half minute where many tests start a Spark of their own.
spark-archive: $(SPARK)
	$(RUN) -m tests.helpers.spark_archive

test: $(SPARK)
	$(RUN) -m tests.scheduling.second_chance $(TESTS) --durations=15 --file-budget=20

# Other values in each run, many of each: before a large change is called done.
explore: $(SPARK)
	KAFKA_ADMIN_PROTO_PROFILE=exhaustive $(RUN) -m tests.scheduling.second_chance $(TESTS) --durations=15
	$(MAKE) fuzz fuzz-speed FUZZ_SECONDS=$(FUZZ_SECONDS)
	$(MAKE) coverage

# All runs on plain Python, and with no room named, what is about the engine on the engine. A test
# that fails takes nothing from the figure: it fails without it too.
coverage: $(SPARK) $(COVERAGE) $(ENGINE)
	$(RUN) -m coverage erase
	-KAFKA_ADMIN_PROTO_PURE=1 KAFKA_ADMIN_PROTO_PROFILE=ci $(RUN) -m coverage run -m pytest -q $(TESTS) $(COVERED)
	-$(if $(COVERED),,KAFKA_ADMIN_PROTO_PURE=0 KAFKA_ADMIN_PROTO_PROFILE=ci $(RUN) -m coverage run -m pytest -q $(TESTS) tests/speed)
	$(RUN) -m coverage combine --quiet
	$(RUN) -m coverage report $(if $(COVERED),--fail-under=0)

test-speed: $(ENGINE)
	KAFKA_ADMIN_PROTO_PURE=0 KAFKA_ADMIN_PROTO_PROFILE=ci $(RUN) -m tests.scheduling.second_chance $(TESTS) $(SPEED_TESTS)

test-python: $(READY)
	$(RUN) -m tools.other_python $(PYTHON_SUITE) $(PYTHON_TESTS)

# Its parts need nothing of each other: after `make installed`, `make -j2 check` runs two at a time.
check: lint types docs typed-api compared

lint: $(READY)
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(VENV)/bin/lint-imports
	$(RUN) -m tools.definitions.generate --check

types: $(SPARK) $(DOCS)
	$(RUN) -m mypy

typed-api: $(PYRIGHT)
	KAFKA_ADMIN_PROTO_PROFILE=exhaustive $(RUN) -m pytest -q tests/package/test_pyright.py

compared: $(READY)
	$(RUN) -m tools.oracles.conformance --values $(CONFORMANCE_VALUES) --seed 1

jars: $(READY)
	$(RUN) -m tools.oracles.pinned

peers: $(READY)
	$(RUN) -m tools.peers --jobs 2

bench: $(PEERS)
	KAFKA_ADMIN_PROTO_PURE=1 $(RUN) -m tools.benchmarks.codecs --write

bench-captures: $(READY)
	$(RUN) -m tools.benchmarks.capture --write

bench-spark: $(SPARK)
	$(RUN) -m tools.benchmarks.spark --write

fuzz: $(FUZZER)
	$(RUN) -m tests.fuzz.run $(FUZZ_FOR)

fuzz-speed: $(ENGINE)
	$(RUN) -m tests.fuzz.sanitized $(FUZZ_FOR) $(SPEED_TARGETS)

bench-speed: $(ENGINE) $(PEERS)
	$(RUN) -m tools.benchmarks.speed --write
	$(RUN) -m tools.benchmarks.decode --write

conformance: $(READY)
	$(RUN) -m tools.oracles.conformance --write

drift: $(READY)
	$(RUN) -m tools.definitions.drift $(if $(DEFINITIONS),"$(DEFINITIONS)",$(RELEASE))

# `python -m tools.release VERSION` goes before it: the number, and the changelog.
release: $(READY)
	$(RUN) -m tools.release --check
	rm -rf dist
	$(RUN) -m build --no-isolation --outdir dist
	KAFKA_ADMIN_PROTO_PROFILE=exhaustive KAFKA_ADMIN_PROTO_REQUIRE_ALL=1 KAFKA_ADMIN_PROTO_DIST=dist \
	  $(RUN) -m pytest tests/package/test_wheel.py
	$(MAKE) wheels

PIP_OF_3.12 := build/wheels/python3.12/bin/python -m pip install --quiet --disable-pip-version-check
# Python 3.12 is in no Debian release: one with its headers has to be on the PATH.
wheels: $(ZIG)
	rm -f dist/kafka_admin_proto_speed-*
	$(RUN) -m tools.wheels
	$(RUN) -m build --sdist --no-isolation --outdir dist speed
	$(RUN) -m tools.other_machine bookworm amd64
	$(RUN) -m tools.other_machine sid amd64
	$(RUN) -m tools.other_machine trixie amd64 tests/vectors tests/test_codec.py
	python3.12 -m venv --clear build/wheels/python3.12
	$(PIP_OF_3.12) -c constraints.txt construct msgspec pytest pytest-xdist hypothesis click dpkt rich
	$(PIP_OF_3.12) --no-deps --no-index --find-links dist kafka-admin-proto-speed
	KAFKA_ADMIN_PROTO_PURE=0 KAFKA_ADMIN_PROTO_REQUIRE_ALL=1 build/wheels/python3.12/bin/python \
	  -m pytest -q -p no:cacheprovider tests/vectors tests/test_codec.py tests/speed/test_engine.py
	$(RUN) -m tools.other_machine bookworm arm64 tests/vectors tests/test_codec.py
	$(RUN) -m tools.other_machine sid arm64 tests/vectors tests/test_codec.py

test-machine: $(ZIG)
	$(RUN) -m tools.other_machine $(SUITE) $(MACHINE) $(MACHINE_TESTS)

test-threads:
	@command -v $(FREE_THREADED) || { echo "$(FREE_THREADED) is not on the PATH: uv python install 3.14t"; exit 1; }
	$(FREE_THREADED) -m venv $(UNLOCKED)
	$(UNLOCKED)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  construct msgspec pytest pytest-xdist hypothesis
	$(UNLOCKED)/bin/python -c 'import sys, msgspec; sys.exit(sys._is_gil_enabled() and "this Python has its lock")'
	$(UNLOCKED)/bin/python -m pytest -q -p no:cacheprovider $(UNLOCKED_TESTS)

generate: $(READY)
	$(RUN) -m tools.definitions.generate

import-schemas: $(READY)
	$(RUN) -m tools.definitions.import_schemas
	$(RUN) -m tools.definitions.generate
