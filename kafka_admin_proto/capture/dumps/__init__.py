"""Text that people paste to blocks of bytes: a module for each format."""
