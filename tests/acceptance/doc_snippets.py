"""Reads the fenced blocks of the documentation and runs them as a reader would.

The info string of a block says what it is:

    ```bash run            commands; they must end with 0, or as `exit=1` says
    ```text output         what the commands before must have printed: these lines, in this order
    ```yaml file=a/b.yaml  a file that the reader writes (any language)
    ```bash shown          commands that are not run here; each page says around it what they need

An ellipsis in an output stands for anything. `<!-- snippets: repository -->` on a page lets its
commands run in a folder with the examples of the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from commands import programs, python
from home_end import end_home

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted(
    [
        REPOSITORY / "README.md",
        REPOSITORY / "CHANGELOG.md",
        REPOSITORY / "skills_src" / "SKILLS.md",
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
)
_EXAMPLES = ("generated", "skills_src", "workflows")
_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block. ``words`` are what stands after the language, as a dict."""

    language: str
    words: dict[str, str]
    text: str
    line: int


@dataclass
class Reader:
    """Somebody who follows a page, with a folder and a DCF home of their own."""

    folder: Path
    home: Path
    printed: str = ""
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DCF_")}
        # What pages call ``python`` is forked here, and the interpreter of any other test.
        own = self.home.parent / "bin"
        own.mkdir()
        (own / "python").symlink_to(python())
        folders = [own, programs(), Path(sys.executable).parent]
        path = os.pathsep.join([*map(str, folders), kept.get("PATH", "")])
        # Its own temporary folder and no terminal: nothing depends on who runs the tests.
        # Nor is anything left in the home of whoever runs them.
        here = {"DCF_HOME": str(self.home), "HOME": str(self.home.parent)}
        self.environment = {**kept, **here, "PATH": path, "COLUMNS": "120"}

    def follow(self, block: Block) -> None:
        """Do what ``block`` says. Raises AssertionError where the page is wrong."""
        if "file" in block.words:
            file = self.folder / block.words["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif "run" in block.words:
            self._run(block)
        elif "output" in block.words:
            self._compare(block)

    def leave(self) -> None:
        """End what the page left running."""
        end_home(self.environment)

    def _run(self, block: Block) -> None:
        command = [python(), "-c", block.text]
        if block.language == "bash":
            command = ["bash", "-euo", "pipefail", "-c", block.text]
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        self.printed = done.stdout
        wanted = int(block.words.get("exit", "0"))
        assert done.returncode == wanted, (
            f"line {block.line}: exit code {done.returncode}, not {wanted}:\n{done.stdout}"
        )

    def _compare(self, block: Block) -> None:
        rest = self.printed
        for line in filter(None, (line.strip() for line in block.text.splitlines())):
            pieces = (r"\s+".join(map(re.escape, part.split())) for part in line.split("…"))
            found = re.search(".*?".join(pieces), rest)
            assert found, f"line {block.line}: {line!r} was not printed (here):\n{self.printed}"
            rest = rest[found.end() :]


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of ``page`` in order."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        language, *words = match["info"].split() or [""]
        named = dict(word.partition("=")[::2] for word in words)
        yield Block(language, named, match["text"], text.count("\n", 0, match.start()) + 1)


def is_run(page: Path) -> bool:
    """Whether ``page`` has commands to run."""
    return any("run" in block.words for block in blocks_of(page))


def reader_of(page: Path, folder: Path, home: Path) -> Reader:
    """A reader at the top of ``page``."""
    folder.mkdir()
    if "<!-- snippets: repository -->" in page.read_text(encoding="utf-8"):
        for name in _EXAMPLES:
            ignored = shutil.ignore_patterns("runs", "__pycache__")
            shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    return Reader(folder, home)
