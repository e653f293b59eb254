"""Authentication and authorization: listeners with TLS and SASL, users, and ACLs."""
