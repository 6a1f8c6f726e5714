"""From the text of a procedure to its model, with everything that is wrong with it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

from dcf.problem import Problem
from dcf.sop.checks import check_all
from dcf.sop.findings import Findings
from dcf.sop.limits import MAX_CHARACTERS
from dcf.sop.markdown.document import read_markdown
from dcf.sop.procedure import Sop
from dcf.sop.reading import Reading

Form = Literal["markdown", "yaml"]
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
"""Characters that show what follows in another order than it is read."""
_UNSEEN = re.compile(r"[\u00ad\u200b\u2060\ufeff]")
_MIXED = re.compile(r"(?<=[A-Za-z])[\u0400-\u04ff]|[\u0400-\u04ff](?=[A-Za-z])")
"""A Cyrillic letter in a word of Latin ones, which it looks like."""
_YAML_BREAKS = re.compile(r"[\x85\u2028\u2029]")
"""Line breaks for YAML and nothing else, so that the lines of problems would be others."""


def form_of(file: str, text: str = "") -> Form:
    """By the file's suffix; without a known one, YAML if the text begins with a member."""
    match PurePath(file).suffix.lower():
        case ".yaml" | ".yml" | ".json":
            return "yaml"
        case ".md" | ".markdown":
            return "markdown"
    return "yaml" if _first_line(text).startswith(("title", "{")) else "markdown"


def _first_line(text: str) -> str:
    """The first line of ``text`` that is neither blank, nor a comment of YAML, nor ``---``."""
    at = 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end].rstrip()
        if line.strip() and not line.lstrip().startswith("#") and line != "---":
            return line
        at = end
    return ""


def parse(text: str, file: str = "") -> Reading:
    """The procedure in ``text``, in the form that ``file`` and the text show. Never raises,
    whatever the text is; ``file`` is the name that problems carry."""
    reads = parse_yaml if form_of(file, text) == "yaml" else parse_markdown
    return reads(text, file)


def parse_markdown(text: str, file: str = "") -> Reading:
    """The same for a text in the Markdown form."""
    text = text.removeprefix("\ufeff")
    findings = Findings(file)
    if not _readable(text, findings):
        return _reading(None, findings)
    sop = read_markdown(text, findings)
    check_all(sop, findings)
    return _reading(sop, findings)


def parse_yaml(text: str, file: str = "") -> Reading:
    """The same for a text in the YAML form; JSON is YAML."""
    # Loaded when it is needed: the YAML reader belongs to a larger room.
    from dcf.sop.yaml_form.document import read_yaml_form

    text = text.removeprefix("\ufeff")
    findings = Findings(file)
    if not _readable(text, findings, _YAML_BREAK):
        return _reading(None, findings)
    sop = read_yaml_form(text, findings)
    if sop is not None:
        check_all(sop, findings)
    return _reading(sop, findings)


def check(sop: Sop) -> tuple[Problem, ...]:
    """What is wrong with a procedure that was made by code."""
    findings = Findings("")
    check_all(sop, findings)
    return _reading(sop, findings).problems


_Refused = tuple[re.Pattern[str], str, str]
_CHARACTERS: tuple[_Refused, ...] = (
    (_UNREADABLE, "is no text", "remove it; is this a text file in UTF-8?"),
    (_TURNING, "changes the order in which text is shown", "remove it"),
    (_UNSEEN, "cannot be seen, and changes what words mean", "remove it"),
    (_MIXED, "is Cyrillic in a word of Latin letters", "write the whole word in one alphabet"),
)
_YAML_BREAK: _Refused = (
    _YAML_BREAKS,
    "breaks the line in YAML only",
    r"remove it, or write it as \u2028 in double quotes",
)


def _readable(text: str, findings: Findings, *more: _Refused) -> bool:
    if len(text) > MAX_CHARACTERS:
        message = f"the text has {len(text):,} characters, over {MAX_CHARACTERS:,}"
        findings.add("SOP_LIMIT", message, "split it into several procedures", 1)
        return False
    for pattern, what, hint in (*_CHARACTERS, *more):
        found = pattern.search(text)
        if found:
            line = len(re.findall(r"\r\n|\r|\n", text[: found.start()])) + 1
            findings.add("SOP_CHARACTER", f"the character U+{ord(found[0]):04X} {what}", hint, line)
            return False
    return True


def _reading(sop: Sop | None, findings: Findings) -> Reading:
    # What stands behind an anchor of YAML is read once for each of its aliases.
    found = {(one.code, one.message, one.line, one.column): one for one in findings.problems}
    problems = tuple(sorted(found.values(), key=lambda one: (one.line or 0, one.column or 0)))
    reading = Reading(sop, problems)
    return reading if reading.ok else Reading(None, problems)
