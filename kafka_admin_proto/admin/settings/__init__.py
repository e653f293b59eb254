"""What a client is set up with: addresses, properties files, logins, TLS."""
