"""Passwords in statements and settings that name them in other ways than ``name=value``: SQL,
directories, routers, Windows, files of PostgreSQL, and what people say of them.

Sources: the grammars of PostgreSQL (``ALTER ROLE``), MySQL and Oracle (``IDENTIFIED BY``), the
manual pages ldap.conf(5), crypt(5) and wpa_supplicant.conf(5), PostgreSQL's "The Password File",
Cisco's "IOS Security Command Reference", Microsoft's ``ConvertTo-SecureString`` and ``net use``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from dcf.secret_form.found import Found, places
from dcf.secret_form.said import is_said

_WORD = r"(?P<secret>[^\s\"'`;,()<>|]{3,}+)"
_IN_QUOTES = r"(?P<quote>\\?[\"'])(?P<secret>(?>(?:(?!(?P=quote))[^\n\\]){3,200}))(?P=quote)"
_BEFORE = 100
"""Signs before a part of a form among which stands what it belongs to."""
_PIN = r"(?<!\w)pin:[ \t]*(?P<secret>\d{4,8})(?![\w.,:-]*\w)"


_Form: TypeAlias = tuple[re.Pattern[str], re.Pattern[str]]


def _form(after: str, before: str = "") -> _Form:
    return re.compile(after), re.compile(rf"(?:{before})\Z")


# By a part that is found much faster than the whole: what begins with it, and what stands before
# it. All are for texts in small letters.
_FORMS = {
    "identified ": _form(rf"identified (?:with \S{{1,40}} )?by {_IN_QUOTES}"),
    "bindpw": _form(rf"bindpw[ \t]++(?![=:]){_WORD}"),
    "securestring": _form(rf"securestring[ \t]++(?:-string[ \t]++)?{_IN_QUOTES}"),
    "/user:": _form(rf"/user:\S++[ \t]++(?!/){_WORD}", r"\bnet use\b[^\n]*"),
    "-server community ": _form(rf"-server community {_WORD}"),
    "psk": _form(r"(?<!\w)psk[ \t]*=[ \t]*\\?\"?(?P<secret>[^\s\"\\]{8,63}+)"),
    "pin:": _form(_PIN),
    ":543": _form(
        r":543\d:[\w*.-]{1,64}:[\w*.@-]{1,64}:(?P<secret>\S{3,}+)[ \t]*(?:\n|\Z)",
        r"(?:^|\n)(?:\*|[\w.-]{1,90})",
    ),
}
# The same where the name of a secret stands, which is looked for in each text anyway.
_FORMS_OF_NAMES = (
    _form(rf"password {_IN_QUOTES}", r"\b(?:with|role|user|encrypted)\b[^\n;'\"]{0,80} "),
    _form(
        rf"(?:secret|password) (?:level \d+ )?(?:\d )?{_WORD}[ \t]*(?:\n|\Z)",
        r"\benable |(?:^|\n)[ \t]*username \S{1,40} (?:privilege \d{1,2} )?",
    ),
)
_BLANK_BEHIND = re.compile(r"[a-z]{0,10}+ ")
_HASH = re.compile(r"\$(?:apr1|[1567y]|gy|sha1|2[abxy]|argon2(?:id?|d))\$[\w./$=,+-]{20,}+")
_ENCODING = r"(?!(?:base|md|sha|utf|rot|aes|rsa|argon|pbkdf|bcrypt|latin|x)-?\d)"
_SAID = re.compile(
    r"(?:pass(?:word|wd|phrase|code|wort)|kennwort|pwd|pin) (?:is|was|lautet|ist) "
    rf"(?:now |set to )?[\"'`]?{_ENCODING}"
    # No plain word: a digit or another sign is in it, and a letter, or it is a number as a PIN is.
    r"(?P<secret>(?=[^\s\"'`]{0,40}[\d!@#$%&*?^])(?=[^\s\"'`]{0,40}[a-z]|\d{4,8}\b)"
    r"[^\s\"'`,;()<>{}\[\]]{4,40}+)"
    r"(?![\"'`]?[ \t]+(?:chars?|characters|encoded|hash|signs|bytes|bits)\b)"
)
_SAID_OTHERWISE = ("pin is ",)


def shows_settings(lower: str) -> bool:
    """Whether ``lower`` may have one without a name that other forms look for."""
    if any(part in lower for part in (*_FORMS, *_SAID_OTHERWISE)):
        return True
    return "$" in lower and _HASH.search(lower) is not None


def in_settings(lower: str, names: Iterable[int]) -> Iterator[Found]:
    """What is found in ``lower``, a text in small letters; ``names`` are the places of names of
    secrets."""
    for part, form in _FORMS.items():
        for place in places(lower, part):
            yield from _given(lower, place, form)
    for hit in _HASH.finditer(lower) if "$" in lower else ():
        yield Found("password hash", *hit.span())
    for place in names:
        if _BLANK_BEHIND.match(lower, place):
            for form in _FORMS_OF_NAMES:
                yield from _given(lower, place, form)
            yield from _said(lower, place)
    for part in _SAID_OTHERWISE:
        for place in places(lower, part):
            yield from _said(lower, place)


def _given(
    lower: str, place: int, form: tuple[re.Pattern[str], re.Pattern[str]]
) -> Iterator[Found]:
    after, before = form
    hit = after.match(lower, place)
    if hit and before.search(lower[max(0, place - _BEFORE) : place]):
        yield from _told(lower, *hit.span("secret"))


def _said(lower: str, place: int) -> Iterator[Found]:
    hit = _SAID.match(lower, place)
    if hit:
        start, end = hit.span("secret")
        yield from _told(lower, start, start + len(lower[start:end].rstrip(".?:")))


def _told(lower: str, start: int, end: int) -> Iterator[Found]:
    if not is_said(lower, start, quoted=False):
        yield Found("password", start, end)
