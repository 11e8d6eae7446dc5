"""What a run has to say, before and after, and the forms in which it says it."""
