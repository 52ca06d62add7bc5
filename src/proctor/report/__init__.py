"""Results for people and programs: one file a format."""
