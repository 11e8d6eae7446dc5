"""Records that fall together."""
