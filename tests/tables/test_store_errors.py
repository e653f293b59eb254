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
#: As delta-rs 1.6 says it of a port where nobody listens, and without any key.
_COLOURED = """Kernel error -> Generic S3 error
          \x1b[31m↳\x1b[0m error sending request
           \x1b[31m↳\x1b[0m Connection refused (os error 111)
"""
_TRIED = """Kernel error -> Operation not supported
          \x1b[31m↳\x1b[0m the credential provider was not enabled
           \x1b[31m↳\x1b[0m no credentials found in chain. Attempted:
  StorageOptions
            \x1b[31m↳\x1b[0m access key not in StorageOptions
  DefaultChain
             \x1b[31m↳\x1b[0m no credentials found in chain. Attempted:
  Ec2InstanceMetadata
              \x1b[31m↳\x1b[0m IMDS disabled by AWS_EC2_METADATA_DISABLED env var set to `true`
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_NO_BUCKET, "NoSuchBucket: The specified bucket does not exist"),
        (_NO_KEYS, "the credential provider was not enabled"),
        (_COLOURED, "Connection refused (os error 111)"),
        (_TRIED, "no credentials found in chain."),
        ("Invalid: a table\nand its stack", "Invalid: a table"),
        ("", ""),
    ],
)
def test_the_innermost_reason(text: str, reason: str) -> None:
    assert store_reason(text) == reason
