#!/bin/sh
# usage: tools/install.sh PYTHON ARGUMENT...    what `pip install` takes, into that environment
# All versions are pinned (constraints.txt), so what uv's cache has is installed without asking an
# index. Else uv asks; then pip, which may know of an index that uv was not told of.
set -eu
python=$1; shift
uv() {
  "$python" -m uv pip install --quiet --python "$python" --constraint constraints.txt \
    --build-constraint constraints.txt "$@"
}
uv --offline "$@" 2>/dev/null || uv "$@" ||
  "$python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$@"
