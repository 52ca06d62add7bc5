"""One file a page: what it shows, handed to the template of the same name."""
