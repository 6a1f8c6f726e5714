"""``python -m benchmarks.redaction [FOLDER …]``: what is taken out of ordinary Python by mistake.

The files are those of the installed packages, and of this project's ``dcf``: whatever is found
there counts as a mistake, though the examples of some documentation are secrets by all looks.
Figures are matches in a thousand lines, and how much text is read in a second.
"""

from __future__ import annotations

import argparse
import sysconfig
import time
from collections import Counter
from pathlib import Path

from benchmarks.figure import Figure
from dcf.secret_form import marked, without_secrets

_OWN = Path(__file__).parents[1] / "dcf"


def redaction(folder: Path) -> tuple[list[Figure], Counter[str]]:
    """The figures for the Python files of ``folder``, and how often each kind was found."""
    found: Counter[str] = Counter()

    def put(kind: str) -> str:
        found[kind] += 1
        return marked(kind)

    texts = [file.read_text("utf-8", errors="replace") for file in sorted(folder.rglob("*.py"))]
    lines = sum(text.count("\n") for text in texts)
    began = time.process_time()
    for text in texts:
        without_secrets(text, put)
    seconds = time.process_time() - began
    rate = found.total() / max(lines, 1) * 1_000
    figures = [
        Figure("lines of Python", lines, "lines"),
        Figure("taken out by mistake", rate, "per 1,000 lines"),
        Figure("read", sum(map(len, texts)) / 1e6 / seconds, "MB/s"),
    ]
    return figures, found


def main() -> None:
    """Print the figures of each folder."""
    parser = argparse.ArgumentParser(prog="benchmarks.redaction", description=__doc__)
    installed = Path(sysconfig.get_paths()["purelib"])
    parser.add_argument("folders", nargs="*", type=Path, default=[installed, _OWN])
    for folder in parser.parse_args().folders:
        figures, found = redaction(folder)
        print(folder)
        for figure in figures:
            print(f"  {figure.name}: {figure.value:,.3f} {figure.unit}")
        for kind, count in found.most_common():
            print(f"    {kind}: {count}")


if __name__ == "__main__":
    main()
