"""Files into frames."""
