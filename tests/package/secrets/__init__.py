"""No credential in any text about a value: ``repr``, masked outputs and errors."""
