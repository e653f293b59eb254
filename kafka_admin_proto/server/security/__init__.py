"""Who a client is: listeners with TLS and SASL, and the users of the cluster."""
