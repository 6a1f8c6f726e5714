"""``python -m dcf.cli.reference FOLDER``: write the generated reference pages."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from dcf.cli.reference_pages import PAGES


def write_pages(folder: Path) -> list[Path]:
    """Write every page into ``folder``; those whose text changed."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, make in PAGES.items():
        file, text = folder / name, make()
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            changed.append(file)
    return changed


def main(arguments: list[str]) -> int:
    """Write the pages into the folder named on the command line; the exit code."""
    gc.disable()  # the syntax trees of all modules stay, and looking at them takes half of the time
    if len(arguments) != 1:
        print("usage: python -m dcf.cli.reference FOLDER", file=sys.stderr)
        return 2
    for file in write_pages(Path(arguments[0])):
        print(f"written: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
