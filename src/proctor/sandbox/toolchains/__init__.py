"""Compiles and runs programs of languages other than Python, in boxes of their own."""
