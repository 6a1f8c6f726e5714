"""Secrets in rows of tables that have a name and its value: ``DB_PASSWORD,Pq5!jHx9kM2v``.

In many tables something else is said of the name there, as its type or another name: so the value
must look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dcf.secret_form.found import Found
from dcf.secret_form.given import SIGN, is_given
from dcf.secret_form.naming import kind_of
from dcf.secret_form.tables import AROUND, RULE, called

_FAR = 100
"""Signs between the beginning of a row and a name of a secret in it."""
_LONGEST = 4_000
"""Signs of a row, and of the one above and below it."""
_BEFORE = re.compile(
    # Of a quotation, of a table between bars, the number of the row.
    r"(?P<bar>[ \t>]*\|)?(?:[ \t\"]*\d{1,6}[ \t\"]*[|,;\t])?[ \t\"'*`]*"
)
_GIVEN = re.compile(
    r"[\w.-]{0,20}+(?: ?\([^()\n]{0,30}\))?[ \t\"'*`:]{0,20}"
    r"(?P<sign>[\t|]|[,;](?![ \t]))[ \t\"'*`]{0,60}"
    rf"(?P<secret>(?>(?:(?!(?P=sign)){SIGN}){{6,200}}))"
    r"[ \t\"'*`\r]{0,60}(?:(?P=sign)|\n|\Z)"
)


_SEPARATES = ",;\t|"


def in_rows(text: str, lower: str, names: Iterable[tuple[int, str]]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets behind which APART is, with the last sign of that."""
    seen = 0
    for place, sign in names:
        hit = _GIVEN.match(text, place) if place >= seen and sign in _SEPARATES else None
        if hit:
            seen = hit.end("sign")
            name = _name_of_row(text, lower, place, hit)
            titled = RULE.match(lower, _end(text, hit.end("secret")) + 1) is not None
            if name and is_given(hit["secret"], name, titled=titled):
                yield Found(kind_of(name[0]), *hit.span("secret"))


def _name_of_row(text: str, lower: str, place: int, hit: re.Match[str]) -> re.Match[str] | None:
    """The name of a secret that is the first cell of a row."""
    begin = lower.rfind("\n", max(0, place - _FAR), place) + 1
    before = _BEFORE.match(lower, begin)
    if before is None or before.end() > place or place - begin > _FAR:
        return None
    if not before["bar"] and not _is_row(text, begin, hit):
        return None
    return called(lower[before.end() : hit.start("sign")].strip(f"{AROUND}:"))


def _is_row(text: str, begin: int, hit: re.Match[str]) -> bool:
    """Whether the line above or below that at ``begin`` has as many cells. Blanks are in prose and
    in the source of programs."""
    sign = hit["sign"]
    if sign in ",;" and text[begin].isspace():
        return False
    end = _end(text, hit.start("secret"))
    above = max(0, text.rfind("\n", max(0, begin - _LONGEST), max(0, begin - 1)))
    others = ((above, begin), (end, _end(text, end + 1)))
    # psql has a + where its rule crosses a bar.
    signs = "|+" if sign == "|" else sign
    cells = text.count(sign, begin, end)
    return any(cells == text.count(one, *other) for other in others for one in signs)


def _end(text: str, at: int) -> int:
    end = text.find("\n", at, at + _LONGEST)
    return min(len(text), at + _LONGEST) if end < 0 else end
