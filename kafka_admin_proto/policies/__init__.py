"""KIP-108's policies, as the reference cluster and the proxy ask them."""
