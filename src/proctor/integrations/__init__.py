"""Under the names that users of other tools know."""
