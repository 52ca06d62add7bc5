"""Plain data that every layer uses. Nothing here imports another package."""
