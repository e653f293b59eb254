"""How tables are written and kept: as plain Parquet files, or as Delta tables."""
