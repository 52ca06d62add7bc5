"""How fast sandboxes and models are, and how well a model predicts text."""
