"""The life of a rejected record."""
