"""Text that people paste to blocks of bytes; ``formats/`` has a module for each format."""
