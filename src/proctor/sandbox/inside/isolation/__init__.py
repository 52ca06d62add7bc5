"""What a guest is forked into: namespaces, a confined process, or a plain folder."""
