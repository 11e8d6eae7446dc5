"""What all formats share: specifications, coercion, texts of values."""
