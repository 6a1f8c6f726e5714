"""The canonical form of texts, so that both written forms of a procedure read back the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"(`{3,}|~{3,})")


def one_line(text: str) -> str:
    """``text`` on one line: every run of blanks is one space, none at the ends."""
    return " ".join(text.split())


def tidy(text: str) -> str:
    """``text`` as its blocks, one a line: no blank lines, no indentation, no runs of blanks. What
    stands between code fences keeps its lines, indented as the fence was.

    >>> tidy("  Look   twice.\\n\\n- at the label ")
    'Look twice.\\n- at the label'
    """
    return "\n".join(block for block in blocks(text) if block)


def blocks(text: str) -> Iterator[str]:
    """The canonical blocks of ``text``: a line each, or a fence with all of its lines."""
    fence: list[str] = []
    closing = ""
    for line in text.splitlines():
        if fence:
            fence.append(line.rstrip())
            if line.strip() == closing:
                yield _flush_left(fence)
                fence = []
            continue
        opened = _FENCE.match(line.strip())
        if opened:
            fence, closing = [line.rstrip()], opened[1]
        else:
            yield one_line(line)
    if fence:
        yield _flush_left([*fence, closing])


def _flush_left(fence: list[str]) -> str:
    """A fence whose opening line stands in the first column."""
    margin = len(fence[0]) - len(fence[0].lstrip())
    lines = [line[margin:] if not line[:margin].strip() else line.lstrip() for line in fence]
    return "\n".join([*lines[:-1], fence[-1].strip()])
