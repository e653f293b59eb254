"""Text and pictures made of the code for places in pages of ``docs/``: ``<!-- made: NAME -->``."""
