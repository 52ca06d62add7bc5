"""Proctor runs code that language models wrote and decides honestly whether it works."""
