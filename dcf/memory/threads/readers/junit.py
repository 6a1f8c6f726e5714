"""Results of tests as JUnit writes them in XML, and many programs after it. See
docs/reference/transcripts.md for where the format is described.

Each suite is a turn, and so is each test that failed, had an error or was skipped; tests that
passed are counted. The XML is read as it comes, and entities are refused: a few lines of them can
stand for gigabytes, or for other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from dcf.memory.thread import NewTurn, Outline, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import time_of
from dcf.memory.threads.readers.tally import Tally

_ROOT = re.compile(rb"<(?:testsuites|testsuite)[\s>/]")
_OUTCOMES = frozenset({"failure", "error", "skipped", "rerunFailure", "flakyFailure"})
_OUTCOMES |= {"rerunError", "flakyError"}
_TEXTS = frozenset({*_OUTCOMES, "system-out", "system-err"})
_KNOWN = frozenset({"testsuites", "testsuite", "testcase", "properties", "property", *_TEXTS})
_DEEPEST = 100
_KEPT = 100_000
"""Characters of one output: where a test prints more, its beginning and its end are told."""


class Junit:
    """See the module."""

    name = "junit"

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" and bool(_ROOT.search(head))

    def pieces(self, path: Path, chunks: Iterable[bytes], tally: Tally) -> Iterator[Piece]:
        reading = _Reading(str(path), tally)
        for chunk in chunks:
            reading.feed(chunk, final=False)
            yield from reading.said()
            if reading.over:
                break
        reading.feed(b"", final=True)
        yield from reading.said()
        outline = Outline(
            str(path), path.parent.name, reading.title or path.stem, "completed", reading.began
        )
        yield Ended(outline)


class _Refused(Exception):
    """Something that no report of tests has."""


class _Reading:
    def __init__(self, source_id: str, tally: Tally) -> None:
        self.over = False
        self.title = ""
        self.began: int | None = None
        self._source_id = source_id
        self._tally = tally
        self._said: list[Said] = []
        self._path: list[tuple[str, Mapping[str, str]]] = []
        self._text: list[str] = []
        self._outcomes: list[tuple[str, Mapping[str, str], str]] = []
        self._output: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.EntityDeclHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse
        self._parser.UnparsedEntityDeclHandler = self._refuse

    def said(self) -> Iterator[Said]:
        yield from self._said
        self._said = []

    def feed(self, data: bytes, *, final: bool) -> None:
        if self.over:
            return
        try:
            self._parser.Parse(data, final)
        except _Refused as refused:
            self.over = True
            line = self._parser.CurrentLineNumber
            self._tally.report("transcript-xml", str(refused), line=line)
        except expat.ExpatError as error:
            self.over = True
            message = f"the XML ends or breaks here ({expat.errors.messages.get(error.code, '')}):"
            message += " what was whole was read"
            self._tally.report("transcript-cut", message, line=error.lineno, cut=True)

    def _refuse(self, *_: object) -> int:
        raise _Refused("it declares entities, which no report of tests needs")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) >= _DEEPEST:
            raise _Refused(f"its elements are more than {_DEEPEST} deep")
        self._path.append((name, attributes))
        self._text.clear()
        if name == "testsuite":
            self.title = self.title or attributes.get("name", "")
            at = time_of(attributes.get("timestamp"))
            self.began = at if self.began is None else self.began
            told = ", ".join(f"{key}: {value}" for key, value in attributes.items())
            self._say(NewTurn("suite", told, at=at, key=f"suite {attributes.get('name', '')}"))
        elif name not in _KNOWN and name != "testsuites":
            self._tally.count_unknown(f"element {name}")

    def _end(self, name: str) -> None:
        _, attributes = self._path.pop()
        text = _shortened("".join(self._text).strip())
        self._text.clear()
        if name in _OUTCOMES:
            self._outcomes.append((name, attributes, text))
        elif name in ("system-out", "system-err"):
            if text:
                self._output.append(text)
        elif name == "testcase":
            self._test(attributes)
            self._outcomes, self._output = [], []
        elif name == "testsuite":
            if self._output:
                self._say(NewTurn("output", "\n".join(self._output)))
            self._outcomes, self._output = [], []
        elif name not in _KNOWN and (text or attributes):
            told = " ".join((f"<{name}>", *(f"{key}={one!r}" for key, one in attributes.items())))
            self._say(NewTurn("unknown", f"{told} {text}".strip()))

    def _test(self, attributes: Mapping[str, str]) -> None:
        names = (attributes.get("classname", ""), attributes.get("name", ""))
        test = ".".join(name for name in names if name) or "a test"
        if not self._outcomes:
            self._tally.leave_out("passed test")
            return
        kinds = {kind for kind, _, _ in self._outcomes}
        failed = bool(kinds & {"failure", "error"})
        role = "failed" if failed else "skipped" if kinds == {"skipped"} else "passed later"
        told = [
            "\n".join(part for part in (about.get("type"), about.get("message"), text) if part)
            for _, about, text in self._outcomes
        ]
        output = "\n\n".join((*told, *self._output))
        use = ToolUse(test, dict(attributes), output, failed)
        self._say(NewTurn(role, test, (use,), key=f"test {test}"))

    def _say(self, turn: NewTurn) -> None:
        self._said.append(Said(self._source_id, turn))


def _shortened(text: str) -> str:
    if len(text) <= _KEPT:
        return text
    half = _KEPT // 2
    return f"{text[:half]}\n[{len(text) - _KEPT:,} characters are left out]\n{text[-half:]}"
