"""``python -m dcf.cli``: the command line where no ``dcf`` is on the path."""

from __future__ import annotations

from dcf.cli import main

main()
