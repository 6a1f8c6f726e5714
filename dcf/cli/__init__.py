"""The command line ``dcf``. Importing it is cheap: commands load what they need when they run."""

from __future__ import annotations

from dcf.cli.entry import main

__all__ = ["main"]
