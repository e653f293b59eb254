"""Debian's packages for other releases and machines, unpacked: no root, and nothing is run.

    python -m tools.debian --pin    # writes tools/debian_packages.txt anew: what Debian has today

``unpacked("trixie", "arm64")`` is the folder with all that the file pins for a release and a
machine. apt fetches it, from the mirror of this machine and with its keys, in a configuration of
its own, so that this machine's packages stay as they are. Debian's pool keeps one version of a
package in each release: when it has moved on, the file is written anew, and what changed is tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from tools.oracles.jars import cache_folder

PINS = Path(__file__).with_name("debian_packages.txt")
#: The releases that have a Python which the package runs on, oldest first.
PYTHON_OF = {"bookworm": "3.11", "trixie": "3.13", "sid": "3.14"}
#: Debian's name of a machine → that of its folders of libraries.
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "s390x": "s390x-linux-gnu"}
#: What a bare Python loads, in each release; `names` has the others.
_LIBRARIES = (
    "libbz2-1.0", "libc6", "libexpat1", "libffi8", "libgcc-s1", "liblzma5", "libuuid1", "zlib1g",
)  # fmt: skip
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def machines(suite: str) -> tuple[str, ...]:
    """The machines of a release whose packages are pinned."""
    return tuple(TRIPLETS) if suite == "sid" else ("amd64", "arm64")


def names(suite: str, machine: str) -> list[str]:
    """The packages that are wanted of a release for a machine, in order."""
    python = PYTHON_OF[suite]
    found = [*_LIBRARIES, f"python{python}-minimal"]
    found += [f"libpython{python}-{part}" for part in ("dev", "minimal", "stdlib")]
    found += ["libcrypt1", "libssl3"] if suite == "bookworm" else ["libssl3t64", "libzstd1"]
    if machine == "s390x":
        found.append("python3-msgspec")  # there are no wheels of it
    if (suite, machine) == ("bookworm", "amd64"):
        found.append("qemu-user-static")
    return sorted(found)


def mirror() -> str:
    """The address from which apt on this machine fetches Debian's packages."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Label: Debian"]
    listed = _output(command).split()
    if not listed:
        raise SystemExit("apt has no lists of Debian: run apt-get update")
    return listed[0]


def pins() -> dict[tuple[str, str], list[str]]:
    """Release and machine → ``name=version`` of each package."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in PINS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            suite, machine, package = line.split()
            found.setdefault((suite, machine), []).append(package)
    return found


def unpacked(suite: str, machine: str) -> Path:
    """The folder with the pinned packages of a release for a machine, fetched if need be."""
    folder = cache_folder() / "debian" / f"{suite}-{machine}"
    wanted = pins()[suite, machine]
    ready = folder / ".packages"
    if ready.exists() and ready.read_text("utf-8").split() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    fetched = folder / ".fetched"
    fetched.mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):  # as Debian has it: all below usr
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    command = ["apt-get", "download", *(_of(machine, package) for package in wanted)]
    if _apt(command, fetched).returncode:
        _updated()
        done = _apt(command, fetched)
        if done.returncode:
            raise SystemExit(
                f"Debian {suite} has not the packages for {machine} that {PINS.name} names: "
                f"python -m tools.debian --pin writes it anew.\n{done.stderr[-2000:]}"
            )
    unpack = (
        'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink --no-same-owner -C "$2"'
    )
    for package in sorted(fetched.glob("*.deb")):
        _output(["sh", "-ec", unpack, "sh", str(package), str(folder)])
    shutil.rmtree(fetched)
    ready.write_text("\n".join(wanted), "utf-8")
    return folder


def pin() -> None:
    """Write the file of pins: the newest version of each package in each release."""
    _updated()
    lines = ["# release, machine, package=version; written by python -m tools.debian --pin"]
    for suite in PYTHON_OF:
        for machine in machines(suite):
            wanted = names(suite, machine)
            listed = _apt(["apt-cache", "madison", *(f"{each}:{machine}" for each in wanted)])
            newest: dict[str, str] = {}
            for row in listed.stdout.splitlines():
                package, version, source = (part.strip() for part in row.split("|"))
                if f" {suite}/main " in source:
                    newest.setdefault(package.split(":")[0], version)
            if missing := [name for name in wanted if name not in newest]:
                raise SystemExit(f"Debian {suite} has no {', '.join(missing)} for {machine}")
            lines += [f"{suite} {machine} {name}={newest[name]}" for name in wanted]
    PINS.write_text("\n".join([*lines, ""]), "utf-8")


def _of(machine: str, package: str) -> str:
    name, _, version = package.partition("=")
    return f"{name}:{machine}={version}"


def _updated() -> None:
    done = _apt(["apt-get", "update", "--error-on=any"])  # else it warns of what it cannot reach
    if done.returncode:
        raise SystemExit(f"apt cannot fetch its lists:\n{done.stderr[-2000:]}")


def _apt(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of apt on the releases and machines of this module, and nothing else."""
    if shutil.which("apt-get") is None:
        raise SystemExit("packages of Debian are fetched by apt-get, which this machine has not")
    own = cache_folder() / "debian" / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (own / name).mkdir(parents=True, exist_ok=True)
    address = mirror()
    sources = [
        f"deb [arch={','.join(machines(suite))} signed-by={_KEYS}] {address} {suite} main\n"
        for suite in PYTHON_OF
    ]
    (own / "sources.list").write_text("".join(sources), "utf-8")
    quoted = " ".join(f'"{each}";' for each in TRIPLETS)
    settings = {
        "Dir::Etc::SourceList": own / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": own / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": own / "cache",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    text = [f'{name} "{value}";\n' for name, value in settings.items()]
    (own / "apt.conf").write_text("".join([*text, f"APT::Architectures {{ {quoted} }};\n"]))
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"APT_CONFIG": str(own / "apt.conf")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pin", action="store_true", required=True, help=f"write {PINS.name}")
    parser.parse_args()
    pin()


if __name__ == "__main__":
    main()
