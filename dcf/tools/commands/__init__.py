"""A tool server that runs programs by argument lists, never by a shell: a program of its own that
workers start where the registry says ``transport: commands``. It is no part of the worker, so that
what it starts inherits nothing of it."""
