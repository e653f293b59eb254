"""What requests of administration ask for, operation by operation, as rows of ``admin_audit``."""
