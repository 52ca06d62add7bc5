"""The parser's side: files that are sent into a box with libclang and import nothing of ours.

What they read is hostile: a candidate's text goes through a parser that was not written for that.
So nothing here decides anything. It says what it saw, in bounded lines of JSON, and whoever sent it
checks every one of them.
"""
