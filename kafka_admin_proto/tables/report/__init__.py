"""Questions to the tables, and the page that answers them."""
