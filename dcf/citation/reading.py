"""Citations read: strictly, with the way to write it as the hint for what is nearly one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dcf.citation.citation import LONGEST, Citation, too_long
from dcf.citation.errors import InvalidCitation
from dcf.citation.form import KINDS, SCHEME, Form, listed
from dcf.citation.grouping import Grouped, grouped
from dcf.citation.spelling import decoded, mistakes
from dcf.problem import Problem

_NUMBERS = re.compile("([0-9]+)(?:-([0-9]+))?")
_KINDS = f"write {SCHEME} and one of: {', '.join(KINDS)}; then / and an id"
_SPELLING = (
    "write letters of ASCII, digits and -._~ as they are, of all else the bytes of UTF-8 as %XX "
    "with upper-case digits"
)


def parse_citation(text: str, path: str = "citation") -> Citation:
    """What ``str`` of a citation gave, and nothing else. ``path`` is where ``text`` stands, for the
    problems. Raises ``InvalidCitation`` with all of them; only of a text that is longer than any
    citation no more is said. What is written otherwise than it must be has the way to write it as
    the hint, where its meaning is plain."""
    problems: list[Problem] = []
    citation = _read(text, problems)
    if citation is None or problems:
        raise InvalidCitation(replace(problem, path=path) for problem in problems)
    return citation


def _read(text: str, problems: list[Problem]) -> Citation | None:
    """What is meant; None where that cannot be told. All that is wrong is added to ``problems``."""
    if len(text) > LONGEST:
        problems.append(too_long(len(text)))
        return None
    if text[: len(SCHEME)].lower() != SCHEME:
        problems.append(_problem("scheme", f"{text!r} does not begin with {SCHEME}", _KINDS))
        return None
    kind, *segments = text[len(SCHEME) :].split("/")
    found = grouped(kind.lower(), segments)
    if found is None:
        problems += (_no_form(text, kind.lower()), *_misspelt(segments, _SPELLING))
        return None
    citation = _meant(found, problems)
    right = None if citation is None else str(citation)
    wrong = list(_misspelt(found.ids, _SPELLING if right is None else f"write {right}"))
    if right not in (None, text) and not wrong:
        message = f"{text!r} is not written as it must be"
        wrong = [_problem("spelling", message, f"write {right}")]
    problems += wrong
    return citation


def _meant(found: Grouped, problems: list[Problem]) -> Citation | None:
    """The citation, unless something keeps it from being one."""
    form = found.form
    known = len(problems)
    fields: dict[str, Any] = {"id": _id(found.id, problems)}
    if found.value is not None and form.takes == "id":
        fields["part_id"] = _id(found.value, problems)
    elif found.value is not None:
        fields |= _numbers(found.value, form, problems)
    # What could not be read has something in its place, so that the rest is checked all the same.
    try:
        citation = Citation(form.kind, part=form.part, **fields)
    except InvalidCitation as error:
        problems += error.problems
    return citation if len(problems) == known else None


def _id(segment: str, problems: list[Problem]) -> str:
    text = decoded(segment)
    if text is None:
        message = f"the bytes of {segment!r} are not UTF-8"
        problems.append(_problem("encoding", message, _SPELLING))
        return "?"
    return text


def _numbers(segment: str, form: Form, problems: list[Problem]) -> dict[str, int]:
    match = _NUMBERS.fullmatch(decoded(segment) or "")
    if match is None or (match[2] is not None and form.takes != "range"):
        what = "number or range" if form.takes == "range" else "number"
        message = f"{segment!r} is no {what} of a {form.part}"
        problems.append(_problem("number", message, f"write {SCHEME}{form.template}"))
        return {"number": 1}
    numbers = {"number": int(match[1])}
    return numbers if match[2] is None else numbers | {"last": int(match[2])}


def _no_form(text: str, kind: str) -> Problem:
    if kind not in KINDS:
        return _problem("kind", f"{text!r} is of no kind that there is", _KINDS)
    return _problem("form", f"{text!r} has none of the forms of {kind}", f"write {listed(kind)}")


def _misspelt(segments: Iterable[str], hint: str) -> Iterator[Problem]:
    for segment in segments:
        for mistake in mistakes(segment):
            yield _problem("spelling", f"in {segment!r}, {mistake}", hint)


def _problem(code: str, message: str, hint: str) -> Problem:
    return Problem(f"citation-{code}", message, hint=hint)
