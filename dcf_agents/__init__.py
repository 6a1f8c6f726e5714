"""The distribution ``dcf-agents`` itself: how it was installed and what came with it.

Everything else may import this package; it imports nothing of the project but the command line,
which it starts.
"""
