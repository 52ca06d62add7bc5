"""From receipts to numbers."""
