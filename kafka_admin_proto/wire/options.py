"""How a reading or a writing is steered.

The tree takes its options from entries of construct's context, so that the same tree serves a
codec and a user's own ``construct.Struct`` around it (where none of them is set):

- ``OBSERVER``: a ``types.base.Observer`` that is given each field read and everything that is legal
  but not as Kafka itself would write it (a padded varint, a bool of 2, ...);
- ``LENIENT``: on building, leave out values of fields that the version does not have;
- ``VIEWS``: a memoryview of all that the stream reads, of which bytes and records become slices.
"""

from __future__ import annotations

from msgspec import Struct

OBSERVER = "_kafka_observer"
LENIENT = "_kafka_lenient"
VIEWS = "_kafka_views"


class JsonOptions(Struct, frozen=True):
    """How values become JSON: secrets masked or not, ``records`` as base64 or as their size.

    ``mask_records``: inside of what is about the metadata topic, records are secrets too.
    """

    mask: bool = False
    record_sizes: bool = False
    mask_records: bool = False


PLAIN_JSON = JsonOptions()
