"""The picture in the documentation is that of the example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parents[3]


def test_the_picture_of_the_example_is_drawn_from_it() -> None:
    images = _REPOSITORY / "docs/images"
    drawn = subprocess.run(
        [
            sys.executable,
            str(images / "draw_machine.py"),
            str(_REPOSITORY / "workflows/order-return.json"),
        ],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert (images / "machine.svg").read_text("utf-8") == drawn.stdout
