"""Run the tests with the Python of another Debian release, in a system of its own.

    python -m tools.other_python trixie             # Python 3.13
    python -m tools.other_python sid tests/wire     # the newest that Debian has

``debootstrap`` puts a minimal system into the cache (about a minute, once), in which the package
and what its tests need are installed. The tests run there by chroot, in namespaces that end with
them. That takes root, ``debootstrap`` and ``unshare``. Tests that need Spark, or a program that is
not installed there, are skipped with their reasons.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.debian import mirror
from tools.oracles.jars import cache_folder

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("python3", "python3-venv", "ca-certificates", "git", "xxd", "bsdextrautils")
EXTRAS = "cli,capture,compression,test,dev"
#: Files of this system by which the other one finds names, certificates and package indexes.
_SHARED = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
#: Where the other system has the checkout, and the environment that the tests run in.
_CHECKOUT, _VENV = "/checkout", "/venv"
_MOUNTS = f"""
set -e
mount --bind "$CHECKOUT" "$SYSTEM{_CHECKOUT}"
mount -t proc proc "$SYSTEM/proc"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$SYSTEM/dev/pts"
mount --bind "$SYSTEM/dev/pts/ptmx" "$SYSTEM/dev/ptmx"
mount -t tmpfs tmpfs "$SYSTEM/dev/shm"
exec chroot "$SYSTEM" "$@"
"""


def why_unavailable() -> str | None:
    """Why another system cannot be made here, in plain words; None if it can."""
    if os.geteuid():
        return "another Debian release is installed and entered by root alone"
    missing = [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name) is None]
    return f"another Debian release needs {', '.join(missing)}" if missing else None


def system(suite: str) -> Path:
    """The folder with that release's minimal system, installed if need be."""
    folder = cache_folder() / "systems" / suite
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        packages = f"--include={','.join(PACKAGES)}"
        command = ["debootstrap", "--variant=minbase", packages, suite, folder, mirror()]
        _run([str(each) for each in command])
        for name in (_CHECKOUT, "/dev/pts", "/dev/shm"):
            (folder / name[1:]).mkdir(exist_ok=True)
        (folder / "dev/ptmx").touch()
        ready.touch()
    for name in _SHARED:
        if (own := Path("/", name)).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(own, folder / name)
    return folder


def inside(folder: Path, command: Sequence[str]) -> int:
    """Run a command in the checkout as that system sees it; returns its exit code."""
    within = ["sh", "-c", f'cd {_CHECKOUT} && exec "$@"', "sh", *command]
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    environment = os.environ | {
        "SYSTEM": str(folder),
        "CHECKOUT": str(ROOT),
        "HOME": "/root",
        "TMPDIR": "/tmp",
        "PATH": f"{_VENV}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        # A cache of its own, without jars, because there is no Java.
        "KAFKA_ADMIN_PROTO_CACHE": "/var/cache/kafka_admin_proto",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # Tests whose needs are not installed there are skipped; folders of wheels are this system's.
    for name in ("KAFKA_ADMIN_PROTO_REQUIRE_ALL", "PIP_FIND_LINKS"):
        environment.pop(name, None)
    full = [*namespaces, "sh", "-c", _MOUNTS, "sh", *within]
    return subprocess.run(full, env=environment, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    suite, *tests = arguments
    reason = why_unavailable()
    if reason is not None:
        print(f"not run: {reason}", file=sys.stderr)
        return int(os.environ.get("KAFKA_ADMIN_PROTO_REQUIRE_ALL") == "1")
    folder = system(suite)
    install = [
        "python3 -m venv /venv",
        f"/venv/bin/pip install -q -c constraints.txt -e '.[{EXTRAS}]'",
    ]
    pytest = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"]
    return inside(folder, ["sh", "-ec", "\n".join(install)]) or inside(
        folder, [*pytest, "--dist", "loadgroup", *(tests or ["--ignore=tests/spark"])]
    )


def _run(command: Sequence[str]) -> None:
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{command[0]} failed:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
