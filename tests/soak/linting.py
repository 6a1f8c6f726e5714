"""What statelint says to definitions: reads one a line, writes an array of texts for each.

Runs in an environment with the statelint of the Python Package Index, a port of AWS Labs' linter.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from statelint.linter import Linter  # type: ignore[import-not-found]


def said(definition: Any) -> list[str]:
    """Its problems; that it breaks down over a definition is one too."""
    try:
        return [str(problem) for problem in Linter.validate(definition)]
    except Exception as failure:
        return [f"statelint fails: {failure!r}"]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(said(json.loads(line))))
