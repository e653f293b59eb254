"""The data source of captures, and the exchange of their packets by flow."""
