"""One module for each tier, and the choice between them."""
