"""How large a procedure may be."""

from __future__ import annotations

from typing import Final

MAX_CHARACTERS: Final = 1_000_000
"""Of a file."""
MAX_STEPS: Final = 2_000
"""Of a procedure, those inside others too."""
MAX_DEPTH: Final = 8
"""Of steps inside steps."""
