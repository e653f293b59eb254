"""The text's scenarios."""
