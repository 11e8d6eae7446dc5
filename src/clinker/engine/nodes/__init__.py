"""What each kind of node does to flows."""
