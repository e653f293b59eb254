"""What ``make docs`` adds to ``docs/``: pages made from the definitions and the code."""
