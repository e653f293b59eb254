"""Commands that make tables of captures, and the report of those tables, with Spark or without."""
