"""AsciiDoc as blocks, by Asciidoctor where it is installed: its HTML, at the lines of the source.

The program runs by an argument list in its mode ``secure``, in which it reads no other file, for
some seconds, and only so much of what it writes is taken.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from threading import Timer

from dcf.sop.formats.page import Page
from dcf.sop.runbook.block import Block

_PROGRAMS = ("asciidoctor", "asciidoctorjs")
_SECONDS = 60.0
_MOST = 32 * 1024**2
"""Bytes of HTML."""
_ATTRIBUTES = (
    *("showtitle", "skip-front-matter", "experimental", "attribute-missing=skip"),
    *("toc!", "sectnums!", "sectanchors!", "icons!", "source-highlighter!"),
    *("table-caption!", "figure-caption!", "example-caption!"),
)
_REPLACED = {
    "&#8230;&#8203;": "...",
    "&#8201;&#8212;&#8201;": " -- ",
    "&#8212;&#8203;": "--",
    "&#8212;": "--",
    "&#8217;": "'",
    "&#8594;": "->",
    "&#8658;": "=>",
    "&#8592;": "<-",
    "&#8656;": "<=",
    "<p>&#10063; ": "<p>",
    "<p>&#10003; ": "<p>",
}
"""What Asciidoctor makes more beautiful, and would be wrong in a command: as it is written. The
boxes of a checklist are told by its class."""
_WORD = re.compile(r"[^\W_]+")
_FAR = 400
"""Lines of the source in which the next line of the HTML is looked for."""
_SHORT = 40
"""The same for a line of one or two words, which stand in many lines."""
_MARKS_ONLY = re.compile(r"[ \t]*(?:\[[^\]\n]*\]|:!?[\w-]+!?:(?:[ \t]+\S+)?|[^\w\n]*)[ \t]*")


class NoAsciidoctor(Exception):
    """The program is not there, or failed: the message says how."""


def program() -> str | None:
    """The path of Asciidoctor, whether of Ruby or of npm; None where it is not installed."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


def read_asciidoc(text: str, asciidoctor: str) -> list[Block]:
    """The blocks of ``text`` by the program at ``asciidoctor``. Raises NoAsciidoctor."""
    page = Page(_as_written(_converted(text, asciidoctor)))
    rows = text.split("\n")
    places = _aligned(page.seen, rows)
    for block in page.blocks:
        _move(block, places)
    return page.blocks


def without_marks(text: str) -> str:
    """``text`` without the lines that only mark something up."""
    return "\n".join("" if _MARKS_ONLY.fullmatch(row) else row for row in text.split("\n"))


def _as_written(html: str) -> str:
    for beautiful, written in _REPLACED.items():
        html = html.replace(beautiful, written if "<p>" in written else escape(written))
    return html


def _converted(text: str, asciidoctor: str) -> str:
    command = [asciidoctor, "-S", "secure", "-b", "html5", "-e", "-q"]
    command += [part for name in _ATTRIBUTES for part in ("-a", name)]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryDirectory() as folder:
        source.write(text.encode())
        source.seek(0)
        try:
            process = subprocess.Popen(
                [*command, "-o", "-", "-"],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
            )
        except OSError as error:
            raise NoAsciidoctor(f"{asciidoctor} cannot be run: {error.strerror}") from error
        return _written_by(process, asciidoctor)


def _written_by(process: subprocess.Popen[bytes], asciidoctor: str) -> str:
    """What ``process`` writes within its time. Raises NoAsciidoctor."""
    ending = Timer(_SECONDS, process.kill)
    ending.start()
    with process:
        assert process.stdout is not None
        page = process.stdout.read(_MOST + 1)
        if len(page) > _MOST:
            process.kill()
    is_late = not ending.is_alive()
    ending.cancel()
    if is_late:
        raise NoAsciidoctor(f"{asciidoctor} took more than {_SECONDS:g} s")
    if len(page) > _MOST:
        raise NoAsciidoctor(f"{asciidoctor} wrote more than {_MOST // 1024**2} MB")
    if process.returncode:
        raise NoAsciidoctor(f"{asciidoctor} ended with {process.returncode}")
    return page.decode("utf-8", "replace")


def _aligned(seen: Mapping[int, str], rows: Sequence[str]) -> dict[int, int]:
    """For each line of the HTML that says something the line of the source that says it: both are
    in the same order, and Asciidoctor keeps the lines of paragraphs."""
    words = [frozenset(_WORD.findall(row)) for row in rows]
    places: dict[int, int] = {}
    cursor = 0
    for line in sorted(seen):
        wanted = frozenset(_WORD.findall(seen[line]))
        best, place = 0.5, cursor
        for at in range(cursor, min(cursor + (_FAR if len(wanted) > 2 else _SHORT), len(rows))):
            share = len(wanted & words[at]) / len(wanted) if wanted else 0.0
            if share > best:
                best, place = share, at
            if share == 1.0:
                break
        cursor = place
        places[line] = place + 1
    return places


def _move(block: Block, places: Mapping[int, int]) -> None:
    """Let ``block`` stand where its text does in the source."""
    at = places.get(block.line, 1)
    moved = []
    for line, text in block.lines:
        at = places.get(line, at)
        moved.append((at, text))
    block.lines = moved
    for child in block.children:
        _move(child, places)
    lines = [line for line, _ in block.lines]
    lines += [one for child in block.children for one in (child.line, child.last)]
    block.line = min(lines, default=at)
    block.last = max(
        [*lines, places.get(block.last, 1)] if block.kind == "table" else lines, default=at
    )
