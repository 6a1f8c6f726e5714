"""A citation: where something stands that was remembered, done or written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from dcf.citation.errors import InvalidCitation
from dcf.citation.form import KINDS, SCHEME, Form, Kind, Part, form_of, forms_of, listed
from dcf.citation.spelling import encoded
from dcf.problem import Problem

LONGEST = 2_048
"""Characters of a citation as it is written."""
DIGITS = 15
"""Of a number: so many every reader of JSON keeps exactly."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The thing of some ``kind`` with this ``id`` (for ``code`` the path of a file), or a ``part``
    of it: the one with the id ``part_id``, or the one with this ``number`` (from 1). ``last`` is
    the last line of a range that ``number`` begins; of one line it is None, also where the line
    itself was given. ``TEMPLATES`` says what there is.

    ``str`` gives the one way to write it, ``parse_citation`` reads that. Raises
    ``InvalidCitation`` with all problems, each at the field that has it.

    >>> str(Citation("run", "nightly", "state", "Ship/Pay"))
    'dcf://run/nightly/state/Ship%2FPay'
    """

    kind: Kind
    id: str
    part: Part | None = None
    part_id: str | None = None
    number: int | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        if self.last is not None and self.last == self.number:
            object.__setattr__(self, "last", None)
        problems = list(_problems(self))
        if not problems and len(str(self)) > LONGEST:
            problems = [too_long(len(str(self)))]
        if problems:
            raise InvalidCitation(problems)

    def __str__(self) -> str:
        whole = f"{SCHEME}{self.kind}/{encoded(self.id)}"
        if self.part is None:
            return whole
        if self.part_id is not None:
            return f"{whole}/{self.part}/{encoded(self.part_id)}"
        numbers = f"{self.number}" if self.last is None else f"{self.number}-{self.last}"
        return f"{whole}/{self.part}/{numbers}"


def too_long(length: int) -> Problem:
    """The problem of a citation with so many characters."""
    return _problem(
        "too-long",
        f"it has {length:,} characters as it is written, above {LONGEST:,}",
        "",
        "cite something with a shorter id, or the whole instead of a part",
    )


def _id_problems(text: str, path: str) -> Iterator[Problem]:
    """What keeps ``text`` from being an id."""
    hint = "give the id as the place that it comes from shows it"
    if not text:
        yield _problem("id-empty", "an id is empty", path, hint)
    if text in (".", ".."):
        # A browser takes such a segment out of the path, encoded or not.
        yield _problem("id-dots", f"{text!r} is no id: it means a folder in a URL", path, hint)
    # Most ids: nothing in them need be looked up.
    plain = text.isascii() and text.isprintable()
    kinds = set() if plain else {unicodedata.category(character) for character in text}
    if "Cc" in kinds:
        yield _problem("id-control", f"{text!r} has control characters", path, hint)
    if "Cs" in kinds:
        message = f"{text!r} has half of a surrogate pair, which UTF-8 cannot write"
        yield _problem("id-surrogate", message, path, hint)


def _problems(citation: Citation) -> Iterator[Problem]:
    kind, part = citation.kind, citation.part
    yield from _id_problems(citation.id, "/id")
    if kind not in KINDS:
        hint = f"use one of: {', '.join(KINDS)}"
        yield _problem("kind", f"there is no kind {kind!r}", "/kind", hint)
        return
    form = form_of(kind, part)
    if form is None:
        names = ", ".join(one.part for one in forms_of(kind) if one.part is not None)
        message = (
            f"{kind} is cited with a part of it: {names}"
            if part is None
            else f"{kind} has no part {part!r}"
        )
        yield _problem("part", message, "/part", f"write {listed(kind)}")
        return
    yield from _value_problems(citation, form)


def _value_problems(citation: Citation, form: Form) -> Iterator[Problem]:
    hint = f"write {SCHEME}{form.template}"
    wanted = {"id": ("part_id",), "number": ("number",), "range": ("number", "last"), None: ()}
    for name in ("part_id", "number", "last"):
        value = getattr(citation, name)
        if value is not None and name not in wanted[form.takes]:
            message = f"it has no {name} in this form, but one was given: {value!r}"
            yield _problem("value", message, f"/{name}", hint)
        elif value is None and name in wanted[form.takes] and name != "last":
            yield _problem("value", f"the {form.part} is missing", f"/{name}", hint)
    if citation.part_id is not None:
        yield from _id_problems(citation.part_id, "/part_id")
    for name in ("number", "last"):
        value = getattr(citation, name)
        if value is not None and not 1 <= value < 10**DIGITS:
            # Not shown: Python refuses to write the longest ones.
            found = "below 1" if value < 1 else f"of more than {DIGITS} digits"
            message = f"the {form.part} is a number {found}"
            yield _problem("number", message, f"/{name}", f"count from 1, in {DIGITS} digits")
    if (
        citation.number is not None
        and citation.last is not None
        and citation.last < citation.number
    ):
        message = f"the range ends at {citation.last}, before {citation.number}, where it begins"
        yield _problem("range", message, "/last", "give the smaller number first")


def _problem(code: str, message: str, path: str, hint: str) -> Problem:
    return Problem(f"citation-{code}", message, path, hint)
