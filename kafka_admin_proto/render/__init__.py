"""Values and definitions made readable: field rows, schema rows, masked bytes."""
