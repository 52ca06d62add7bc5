"""Files: JSON Lines, journals, run directories, the cache."""
