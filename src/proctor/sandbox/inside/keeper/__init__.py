"""The process in a box that forks guests, waits for them and cleans up after them."""
