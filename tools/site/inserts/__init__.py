"""Text and pictures made of the code, for pages that say ``<!-- insert: NAME -->``."""
