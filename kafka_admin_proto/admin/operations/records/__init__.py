"""Records of topics: producing them, and fetching them back."""
