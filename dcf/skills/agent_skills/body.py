"""The body of a SKILL.md of ours: the directives, and what others need to know beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.skills.agent_skills.rules import MOST_LINES, MOST_TOKENS, is_too_long
from dcf.skills.agent_skills.shorten import shortened
from dcf.skills.manifest import Manifest

REST = "references/instructions.md"
CONTENTS = "references/contents.md"
_HEADING = re.compile(r"#{1,6} ")
_MOST_APPENDIX = 2000  # characters; what is longer is a file of its own
_MOST_ABOUT = 200
_POINTER = f"\n\nThe instructions go on in `{REST}`: read it before you begin.\n"


@dataclass(frozen=True, slots=True)
class Body:
    """``head`` and ``rest`` together are the directives; ``appendix`` follows the head;
    ``contents`` is a file of its own when the appendix would be long."""

    head: str
    rest: str
    appendix: str
    contents: str = ""

    @property
    def text(self) -> str:
        return f"\n{self.head}{self.appendix}"


def body_of(manifest: Manifest, paths: dict[str, str]) -> Body:
    """The body for ``manifest``; ``paths`` are its data sources' files by id."""
    told = _appendix(manifest, paths)
    contents = ""
    if len(told) > _MOST_APPENDIX:
        contents = told.lstrip("\n")
        told = f"\n\nTools and files of this skill are listed in `{CONTENTS}`.\n"
    whole = manifest.directives
    if not is_too_long(f"\n{whole}{told}"):
        return Body(whole, "", told, contents)
    appendix = _POINTER + told
    head = _head(whole, appendix)
    return Body(head, whole[len(head) :], appendix, contents)


def _appendix(manifest: Manifest, paths: dict[str, str]) -> str:
    lines: list[str] = []
    if manifest.tools:
        lines += ["", "", "## Tools", "", "From MCP servers, each as server:tool.", ""]
        for tool in manifest.tools:
            optional = "" if tool.required else " (optional)"
            about = shortened(" ".join(tool.description.split()), _MOST_ABOUT)
            lines.append(f"- `{tool.server_id}:{tool.tool_name}`{optional}: {about}")
    if paths:
        lines += ["", "", "## Files", ""]
        for source in manifest.data_sources:
            if source.id in paths:
                about = shortened(" ".join(source.description.split()), _MOST_ABOUT)
                lines.append(f"- `{paths[source.id]}`" + (f": {about}" if about else ""))
    return "\n".join(lines) + "\n" if lines else ""


def _head(text: str, appendix: str) -> str:
    """The longest beginning of ``text`` that leaves room for ``appendix``, ended before a heading
    or after an empty line where there is one in its second half."""
    lines = text.splitlines(keepends=True)
    low, high = 0, min(len(lines), MOST_LINES)
    while low < high:
        middle = (low + high + 1) // 2
        if is_too_long("\n" + "".join(lines[:middle]) + appendix):
            high = middle - 1
        else:
            low = middle
    if low == 0:  # one line is too long by itself
        return text[: MOST_TOKENS // 8]  # characters, of at most four bytes
    at = _best_cut(lines, low)
    return "".join(lines[:at])


def _best_cut(lines: list[str], most: int) -> int:
    spots = range(most, most // 2, -1)
    headings = (at for at in spots if at < len(lines) and _HEADING.match(lines[at]))
    gaps = (at for at in spots if not lines[at - 1].strip())
    return next(headings, None) or next(gaps, None) or most
