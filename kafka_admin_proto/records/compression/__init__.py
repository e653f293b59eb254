"""Codecs of record batches: gzip, snappy, lz4 and zstd."""
