"""The sockets of a cluster: the ports of its nodes, and the connections of clients.

Each class has one task for a connection:

- `node.Node` listens on the ports of one node and accepts sockets.
- `connection.NodeConnection` is the asyncio protocol of one client: it decodes the requests and
  writes the answers. On a TLS listener ``security.tls_connection.TlsConnection`` is the protocol of
  the socket, and the transport of a NodeConnection.
- `turns.Turns` spreads large requests, and many pipelined ones, over turns of the event loop.
- `waits.Waits` has the answers that wait: for records, replicas or new topics.
- `limits.ConnectionLimiter` closes idle connections, and those that exceed the cluster's limits.
- `service.Service` has the objects that all connections of a cluster share.
"""
