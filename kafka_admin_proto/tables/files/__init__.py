"""Rows → the files of tables: staged by tasks, then put together and written."""
