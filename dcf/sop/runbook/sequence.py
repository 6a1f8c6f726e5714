"""Sequence diagrams that a runbook draws in Mermaid, where it tells its steps in no other way:
https://mermaid.js.org/syntax/sequenceDiagram.html."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.flow import NO, OTHERWISE, YES, Arm, Node

_HEAD = re.compile(r"\s*sequenceDiagram\b")
_NAMED = re.compile(
    r"(?:create\s+)?(?:participant|actor)\s+(?P<id>[^\s:]+)(?:\s+as\s+(?P<name>.{1,200}))?\s*$"
)
_MESSAGE = re.compile(
    r"(?P<by>[^\s:+<>()-][^:<>()]{0,60}?)\s*(?P<arrow><<--?>>|--?(?:>>|>|x|\)))[+-]?\s*"
    r"(?P<to>[^\s:][^:]{0,60}?)\s*:\s*(?P<text>\S.{0,500})$"
)
_NOTE = re.compile(r"note\s+(?:over|left of|right of)\s+[^:]{1,200}:\s*(?P<text>\S.*)", re.I)
_OPENS = re.compile(
    r"(?P<word>loop|alt|opt|break|par|critical|rect|box)\b\s*(?P<text>.{0,300})$", re.I
)
_GOES_ON = re.compile(r"(?:else|and|option)\b\s*(?P<text>.{0,300})$", re.I)


def is_sequence(block: Block) -> bool:
    """Whether a block of code is a sequence diagram."""
    language = (block.info.split() or [""])[0].strip("{}").lower()
    rows = [text for _, text in block.lines[1:-1] if text.strip()]
    return language == "mermaid" and bool(rows) and bool(_HEAD.match(rows[0]))


def read_sequence(block: Block) -> list[Node]:
    """The messages of a diagram in their order, each a step of who sends it; an answer (a dashed
    arrow) is said of the step before. ``alt``, ``opt`` and ``break`` ask which case it is, ``loop``
    whether to do it again."""
    rows = [(line, text.strip()) for line, text in block.lines[1:-1] if text.strip()]
    return _Reader(rows[1:]).nodes()


class _Reader:
    """Reads each row once; ``_at`` is the next one."""

    def __init__(self, rows: Sequence[tuple[int, str]]) -> None:
        self._rows = rows
        self._at = 0
        self._names: dict[str, str] = {}

    def nodes(self) -> list[Node]:
        found: list[Node] = []
        while self._at < len(self._rows):
            # An `end` of nothing that was opened ends nothing.
            found += self._below()
            self._at += 1
        return found

    def _below(self) -> list[Node]:
        """What is told up to the end of the part that is open, or where its next part begins."""
        found: list[Node] = []
        while self._at < len(self._rows):
            line, row = self._rows[self._at]
            if row.lower() == "end" or _GOES_ON.match(row):
                break
            self._at += 1
            if opened := _OPENS.match(row):
                found += self._part(line, opened["word"].lower(), opened["text"].strip())
            else:
                found += self._row(line, row, found)
        return found

    def _part(self, line: int, word: str, said: str) -> list[Node]:
        first = self._below()
        others = [*self._others()]
        self._at += 1  # its `end`
        if word == "loop":
            return _again(line, said, first)
        if word not in ("alt", "opt", "break"):
            return [*first, *(node for _, _, nodes in others for node in nodes)]
        asked = Node(line, f"{said.rstrip('?') or 'Is this so'}?")
        if word == "break" and first:
            first[-1].end = "stop"
        if len(others) < 2:
            rest = others[0] if others else (line, "", [])
            asked.arms = [Arm(YES, first, line), Arm(NO, rest[2], rest[0])]
            return [asked]
        asked.title = "Which of these is so?"
        cases = [(line, said, first), *others]
        asked.arms = [Arm(text or OTHERWISE, nodes, at) for at, text, nodes in cases]
        return [asked]

    def _others(self) -> Iterator[tuple[int, str, list[Node]]]:
        """The parts behind the first one."""
        while self._at < len(self._rows):
            line, row = self._rows[self._at]
            goes_on = _GOES_ON.match(row)
            if goes_on is None:
                return
            self._at += 1
            yield line, goes_on["text"].strip(), self._below()

    def _row(self, line: int, row: str, before: Sequence[Node]) -> list[Node]:
        if named := _NAMED.match(row):
            self._names[named["id"]] = (named["name"] or named["id"]).strip()
        elif note := _NOTE.match(row):
            if before:
                before[-1].texts.append(_plain(note["text"]))
        elif message := _MESSAGE.match(row):
            by, to = (self._names.get(one, one) for one in (message["by"], message["to"]))
            said = _plain(message["text"])
            if message["arrow"].startswith("--") and before:
                before[-1].texts.append(f"{by} to {to}: {said}")
            else:
                told = said if by == to else f"{said} (to {to})"
                return [Node(line, told, role=by)]
        return []


def _again(line: int, said: str, body: list[Node]) -> list[Node]:
    """What is done once, and again while somebody says so: whatever the loop is over."""
    if not body:
        return []
    anchor = f"sequence:{line}"
    body[0].anchors.append(anchor)
    asked = Node(line, f"Is this to be done again: {said}?" if said else "Is it to be done again?")
    asked.arms = [Arm(YES, [Node(line, "", jump=anchor)], line), Arm(NO, [], line)]
    return [*body, asked]


def _plain(text: str) -> str:
    return " ".join(re.sub(r"<br\s*/?>", " ", text, flags=re.I).split())
