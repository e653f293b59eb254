"""The sockets of a cluster: the ports of its nodes, and the connections of clients."""
