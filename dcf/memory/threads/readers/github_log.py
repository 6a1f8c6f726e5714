"""Logs of GitHub Actions: those of a job (``<n>_<job>.txt`` in the archive of a run, also what the
web page gives) and what ``gh run view --log`` prints. See docs/reference/transcripts.md for where
the format is described.

Each step is a turn: what it ran, and what came out. A step with more than is kept in one turn is
told in several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dcf.memory.thread import NewTurn, Outline, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import time_of
from dcf.memory.threads.readers.tally import Tally
from dcf.memory.threads.readers.text_lines import lines_of

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z"
_LINE = re.compile(rf"(?:([^\t\n]*)\t([^\t\n]*)\t)?\ufeff?({_TIME}) ?(.*)", re.DOTALL)
_HEAD = re.compile(rf"(?:[^\t\n]*\t[^\t\n]*\t)?\ufeff?{_TIME} ")
_RUN = "##[group]Run "
_ERROR = "##[error]"
_JOB = "Complete job name: "
_KEPT = 100_000
"""Characters of one turn."""


class GithubLog:
    """See the module."""

    name = "github_actions"

    def recognises(self, path: Path, head: bytes) -> bool:
        return _HEAD.match(head.decode("utf-8-sig", errors="replace").lstrip()) is not None

    def pieces(self, path: Path, chunks: Iterable[bytes], tally: Tally) -> Iterator[Piece]:
        reading = _Reading(str(path))
        for line, ended in lines_of(chunks):
            if ended:
                yield from reading.line(line)
            else:
                message = "the last line is not complete: it will be read when it is"
                tally.report("transcript-cut", message, line=reading.number + 1, cut=True)
        yield from reading.end()
        job = reading.job or path.stem
        yield Ended(Outline(str(path), path.parent.name, job, "completed", reading.began))


@dataclass(slots=True)
class _Reading:
    source_id: str
    job: str = ""
    began: int | None = None
    number: int = 0
    step: tuple[str, str, str] = ("", "", "Set up")
    steps: int = 0
    parts: int = 0
    at: int | None = None
    lines: list[str] = field(default_factory=list)
    size: int = 0
    failed: bool = False

    def line(self, line: str) -> Iterator[Said]:
        self.number += 1
        found = _LINE.fullmatch(line)
        if found is None:
            # What a program printed over several lines has the time before the first only.
            yield from self._add(line)
            return
        job, step, at, text = found[1] or "", found[2] or "", found[3], found[4]
        when = time_of(f"{at[:-2]}Z")
        self.began = when if self.began is None else self.began
        if text.startswith(_JOB):
            self.job = text.removeprefix(_JOB).strip()
        title = text.removeprefix(_RUN) if text.startswith(_RUN) else self.step[2]
        begun = (job, step, step if step and not text.startswith(_RUN) else title)
        if text.startswith(_RUN) or (job, step) != self.step[:2]:
            yield from self.end()
            self.step, self.steps, self.parts, self.at = begun, self.steps + 1, 0, when
        self.at = when if self.at is None else self.at
        yield from self._add(text)

    def end(self) -> Iterator[Said]:
        """What is known of the step."""
        if self.lines:
            job, step, title = self.step
            about = {key: text for key, text in (("job", job), ("step", step)) if text}
            use = ToolUse(title or "step", about, "\n".join(self.lines), self.failed)
            key = f"step {self.steps}.{self.parts}"
            role = "failed" if self.failed else "step"
            yield Said(self.source_id, NewTurn(role, title, (use,), self.at, key))
        self.lines, self.size, self.failed = [], 0, False

    def _add(self, text: str) -> Iterator[Said]:
        if self.size + len(text) > _KEPT and self.lines:
            yield from self.end()
            self.parts += 1
        self.lines.append(text)
        self.size += len(text) + 1
        self.failed = self.failed or text.startswith(_ERROR)
