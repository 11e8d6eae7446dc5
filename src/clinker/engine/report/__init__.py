"""What a run has to say, and the forms in which it says it."""
