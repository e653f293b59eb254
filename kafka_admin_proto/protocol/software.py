"""The name and version of a client's software, which are in its ApiVersions (KIP-511)."""

from __future__ import annotations

import re

from kafka_admin_proto.version import __version__

#: What a broker takes for either of them.
SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def checked_software(name: str, version: str | None) -> tuple[str, str]:
    """Both as they are sent, by default this package's version.

    ValueError for a text that brokers refuse.
    """
    version = __version__ if version is None else version
    for text in (name, version):
        if not SOFTWARE.fullmatch(text):
            raise ValueError(
                f"{text!r} as a client's software name or version: brokers take letters, digits, "
                "dots and dashes, with a letter or a digit at both ends"
            )
    return name, version
