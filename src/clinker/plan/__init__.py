"""From models to a typed plan: what is read, what every node computes, where it goes."""
