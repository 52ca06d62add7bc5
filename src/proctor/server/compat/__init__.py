"""HTTP dialects of other services, one folder for each."""
