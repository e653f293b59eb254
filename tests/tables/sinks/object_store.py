"""An object store on this machine: S3 as moto plays it, in a process of its own.

    with object_store() as store:
        store.uri("tables")     # s3://bucket/tables?region=…&endpoint_override=…

As a program it is the server: it prints its port, and ends with its standard input.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow import fs

#: What clients need to know in their environment; moto takes any key.
KEYS = {
    "AWS_ACCESS_KEY_ID": "of-this-test",
    "AWS_SECRET_ACCESS_KEY": "of-this-test",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_BUCKET = "bucket"


class ObjectStore:
    """A bucket on a port of this machine."""

    def __init__(self, port: int) -> None:
        self._options = f"region=us-east-1&endpoint_override=127.0.0.1:{port}&scheme=http"

    def uri(self, key: str) -> str:
        return f"s3://{_BUCKET}/{key}?{self._options}"

    def system(self) -> fs.FileSystem:
        system, _ = fs.FileSystem.from_uri(
            f"s3://{_BUCKET}/?{self._options}&allow_bucket_creation=true"
        )
        return system

    def put(self, file: Path, key: str) -> str:
        """Copy a file into the store. Returns its URI."""
        with self.system().open_output_stream(f"{_BUCKET}/{key}") as out:
            out.write(file.read_bytes())
        return self.uri(key)


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    before = {name: os.environ.get(name) for name in KEYS}
    os.environ.update(KEYS)
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        store = ObjectStore(int(server.stdout.readline()))
        store.system().create_dir(_BUCKET)
        yield store
    finally:
        server.communicate()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve() -> None:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    print(server.get_host_and_port()[1], flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    _serve()
