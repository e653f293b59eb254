"""The releases of Kafka that the cluster plays, as numbers that compare by age.

A fact that is new in 4.4 is asked as ``release >= (4, 4)``, one that 4.0 took away as
``release < (4,)``.
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_admin_proto.errors import UnknownReleaseError

#: The names of the releases that the cluster plays, newest first.
RELEASES = ("4.4", "4.3", "3.9")


class ReleaseNumber(NamedTuple):
    """A minor release: 4.10 is newer than 4.4, which it is not as a text."""

    major: int
    minor: int

    @classmethod
    def parse(cls, name: str) -> ReleaseNumber:
        """The number of one of ``RELEASES``. Raises UnknownReleaseError for another name."""
        if name not in RELEASES:
            raise UnknownReleaseError(
                f"no cluster of release {name!r}; there are those of {', '.join(RELEASES)}"
            )
        return cls(*map(int, name.split(".")))

    def __str__(self) -> str:
        """The name, as in ``RELEASES``."""
        return f"{self.major}.{self.minor}"

    @property
    def has_host_ranges(self) -> bool:
        """Whether the host of an ACL may be a range of addresses."""
        return self >= (4, 4)
