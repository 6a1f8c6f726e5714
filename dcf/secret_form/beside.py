"""Values of secrets that stand beside their name as Markdown and programs have them: in a literal
of several parts, between backticks, below a heading or an item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.given import SIGN, is_given
from dcf.secret_form.naming import FOREIGN_NAME, NAME, kind_of
from dcf.secret_form.randomness import is_drawn
from dcf.secret_form.tables import AROUND, called

_FAR = 60
"""Signs between the beginning of a line and the name of a secret that is all of it."""
_NAME = (re.compile(rf"(?:{NAME})\Z"), re.compile(rf"{FOREIGN_NAME}\Z"))
_BEFORE_NAME = 12
"""Signs that a name may have before its part."""
_REST = r"[\w.-]{0,20}+"
_IN_TICKS = re.compile(
    rf"{_REST}[*`]{{0,3}}(?P<is>:)[*]{{0,2}}[ \t]{{0,9}}`(?P<secret>{SIGN}{{6,200}}+)`"
)
_BELOW = re.compile(
    rf"{_REST}(?P<behind>[*`]{{0,3}}:?[*`# \t]{{0,9}})\r?\n(?:[ \t]{{0,9}}\r?\n){{0,2}}"
    rf"(?P<item>[ \t]{{1,9}}[-*+][ \t]{{1,9}})?[*`]{{0,3}}(?P<secret>{SIGN}{{6,200}}?)[*`]{{0,3}}"
    r"[ \t]{0,9}\r?(?:\n|\Z)"
)
_BEFORE = re.compile(r"[ \t>]{0,9}(?:(?P<heading>#{1,6})|[-*+])[ \t]{1,9}[*`]{0,3}")
_LITERAL = r"[rbfu]{0,2}(?:\"[^\s\"\\]{1,200}\"|'[^\s'\\]{1,200}')"
_IN_PARTS = re.compile(
    rf"(?P<is>{_REST}(?::[ \t]?\w{{1,20}})?[ \t]{{0,9}}=)[ \t]{{0,9}}\(\s{{0,99}}[rbfu]{{0,2}}"
    rf"(?=[\"'])(?P<secret>{_LITERAL}(?:\s{{1,99}}{_LITERAL}){{0,9}})\s{{0,99}}\)"
)
_JOINT = re.compile(r"[\"']\s+[rbfu]{0,2}[\"']")
_SHORTEST_DRAWN = 15


def in_lines(text: str, lower: str, names: Iterable[tuple[int, str]]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets behind which APART is, with the last sign of that."""
    for place, sign in names:
        form = _FORMS.get(sign)
        found = form and form(text, lower, place)
        if found:
            yield found


def _between_ticks(text: str, lower: str, place: int) -> Found | None:
    hit = _IN_TICKS.match(text, place)
    name = hit and name_before(lower, place, hit.start("is"))
    if not hit or not name or not is_given(hit["secret"], name):
        return None
    return Found(kind_of(name[0]), *hit.span("secret"))


def _below(text: str, lower: str, place: int) -> Found | None:
    """Where the name is a heading, the word that is all of the text below; where it is an item of
    a list, that of the item in it."""
    hit = _BELOW.match(text, place)
    begin = lower.rfind("\n", max(0, place - _FAR), place) + 1
    before = hit and place - begin <= _FAR and _BEFORE.match(lower, begin, place)
    if not hit or not before or bool(before["heading"]) == bool(hit["item"]):
        return None
    name = called(lower[before.end() : hit.end("behind")].strip(f"{AROUND}#:"))
    if not name or not is_given(hit["secret"], name):
        return None
    return Found(kind_of(name[0]), *hit.span("secret"))


def _in_parts(text: str, lower: str, place: int) -> Found | None:
    hit = _IN_PARTS.match(text, place)
    if not hit:
        return None
    value = _JOINT.sub("", hit["secret"][1:-1])
    end = place + len(hit["is"].rstrip("= \t").partition(":")[0])
    name = name_before(lower, place, end)
    drawn = len(value) >= _SHORTEST_DRAWN and is_drawn(value)
    if not drawn and not (name and is_given(value, name)):
        return None
    start, stop = hit.span("secret")
    return Found(kind_of(name[0] if name else "key"), start + 1, stop - 1)


def name_before(lower: str, place: int, end: int) -> re.Match[str] | None:
    """The name of a secret that ends at ``end``, or at the marks of Markdown before it."""
    end = place + len(lower[place:end].rstrip("*`"))
    begin = max(0, place - _BEFORE_NAME)
    hits = (form.search(lower, begin, end) for form in _NAME)
    return next((hit for hit in hits if hit), None)


_FORMS = {"`": _between_ticks, "\n": _below, "\r": _below, "(": _in_parts}
