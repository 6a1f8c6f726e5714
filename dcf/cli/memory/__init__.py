"""The work of ``dcf memory``: one module for each command, and what they share."""
