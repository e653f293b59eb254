"""Values and definitions for readers: rows, masked bytes, explanations, pages and diagrams."""
