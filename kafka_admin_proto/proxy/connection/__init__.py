"""One client's connection through the proxy: its two sockets, both logins, and what passes."""
