"""One line of what a store says, and no keys."""

from __future__ import annotations

import pytest

from kafka_admin_proto.tables.store_errors import store_reason

_NO_BUCKET = """Generic S3 error
  ↳ Error performing list request
   ↳ Error performing GET http://store/x?X-Amz-Signature=secret in 5 ms - Server returned an error
    ↳ 404 Not Found
     ↳ <?xml version="1.0" encoding="utf-8"?>
<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message>
<AWSAccessKeyId>secret</AWSAccessKeyId></Error>
"""
_NO_KEYS = """Generic S3 error
  ↳ Error performing GET http://store/x?X-Amz-Signature=secret
   ↳ the credential provider was not enabled
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_NO_BUCKET, "NoSuchBucket: The specified bucket does not exist"),
        (_NO_KEYS, "the credential provider was not enabled"),
        ("Invalid: a table\nand its stack", "Invalid: a table"),
        ("", ""),
    ],
)
def test_the_innermost_reason(text: str, reason: str) -> None:
    assert store_reason(text) == reason
