"""C++ test programs, judged in two processes where values can cross."""
