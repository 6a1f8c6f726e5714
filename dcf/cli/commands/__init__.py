"""The commands: arguments, help and examples. What they do is in ``dcf.cli``, loaded when asked."""
