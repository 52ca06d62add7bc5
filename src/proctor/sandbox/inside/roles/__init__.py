"""What a guest does: one file for each role."""
