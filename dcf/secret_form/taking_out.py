"""Secrets taken out of texts, also where a text is JSON, and out of JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dcf.secret_form.beside import in_lines
from dcf.secret_form.calls import in_calls
from dcf.secret_form.columns import in_columns
from dcf.secret_form.commands import COMMANDS, in_commands
from dcf.secret_form.fields import in_fields
from dcf.secret_form.found import Found, united
from dcf.secret_form.json_text import cells_of_notebook, in_json, is_json, is_notebook
from dcf.secret_form.makers import made_by_makers
from dcf.secret_form.markup import in_attributes, in_blocks, seen, shows_markup
from dcf.secret_form.named import name_places, named
from dcf.secret_form.naming import APART, LABELS, VALUE, foreign_parts, small
from dcf.secret_form.pairs import in_pairs
from dcf.secret_form.randomness import random_values
from dcf.secret_form.rows import in_rows
from dcf.secret_form.runs import SHORTEST, Runs, kinds_of
from dcf.secret_form.settings import in_settings, shows_settings
from dcf.secret_form.standing import of_addresses, of_schemes, private_keys, signed_tokens
from dcf.secret_form.tables import as_bars, in_tables

Put = str | Callable[[str], str]
"""What is put in the place of a secret: always the same, or by its kind."""
_PASSES = 4
"""A text in which the fourth finds something new was written for that."""
# Every text in which a secret has a name has one of these.
_PARTS_OF_NAMES = (
    *("pass", "pwd", "secret", "token", "key", "cvv", "cvc"),
    *("cookie", "auth", "sig", "sess", ".sid", "-u"),
)
# Every text with a secret has one of those, one of these, or a long run of signs: most have none
# and are done with.
_PARTS_OF_OTHERS = ("://", "bearer", "basic", "\\u", *COMMANDS)
_RUN = b"a" * SHORTEST
_LONG = 2_000
"""Signs from which on nearly each text has one of these: to look takes more than it saves."""
_LAST_WORD = 7
"""Signs of what may be left of a credential where a text was cut."""
GOES_ON = " ."
"""Behind a text, it says that this was not cut there."""
# Signs, and sequences of ECMA-48 (8.3) by which a terminal colours a text, that nobody sees;
# and the marks of Markdown within a word before a colon.
_UNSEEN = re.compile(
    "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\x1b\\[[0-?]{0,40}[ -/]{0,9}[@-~]"
    r"|\*\*(?<=[A-Za-z]{2}\*\*)(?=[A-Za-z]{2,12}(?:\*\*)?[ ]?[:=])"
)
_ID = re.compile(r"(?:^|_)ids?$|[a-z]I[Dd]s?$|^I[Dd]s?$")


def marked(kind: str) -> str:
    """What takes the place of a secret where nothing else is asked for.

    >>> marked("github token")
    '[redacted: github token]'
    """
    return f"[redacted: {kind}]"


def is_credential(text: str) -> bool:
    """Whether ``text`` holds what only a credential looks like: an API key of a known maker, a
    signed token, a private key."""
    return any(True for _ in _by_look(text, Runs.of(text)))


def without_credentials(text: str, put: Put = marked) -> str:
    """``text`` with ``put`` in place of what only a credential looks like, what follows ``Bearer``
    and ``Basic``, and the user and password of an address. JSON stays JSON."""

    def once(text: str) -> str:
        if is_json(text):
            return in_json(
                text, lambda one, _: without_credentials(one, put) if isinstance(one, str) else one
            )
        return _replaced(text, _credentials(text, small(text), Runs.of(text)), put)

    return _until_still(text, once)


def without_secrets(
    text: str, put: Put = marked, *, keep_lines: bool = False, is_table: bool = False
) -> str:
    """The same, and with ``put`` in place of the values that texts like ``password=…``,
    ``"client_secret": "…"`` or ``Cookie: …`` give to the name of a secret. With ``keep_lines`` a
    secret of several lines leaves them empty, so that what follows keeps its line number. What
    ``is_table`` has a row in each line, as CSV has."""

    def once(text: str) -> str:
        if is_notebook(text) and is_json(text):
            view = cells_of_notebook(text)
            in_cells = view.written(_secrets(view.text))
            text = _replaced(text, in_cells, put, keep_lines=keep_lines)
        found = _secrets(text)
        if is_table:
            view = as_bars(text)
            found += view.written(_secrets(view.text))
        # Without names and escapes nothing is in JSON that is not seen in it as it is written.
        if is_json(text) and (found or "\\" in text or _may_name(text.lower())):
            return in_json(
                text,
                lambda one, name: (
                    _without_whole(one, put)
                    if name is None
                    else value_without_secrets(one, put, name)
                ),
            )
        return _replaced(text, found, put, keep_lines=keep_lines) if found else text

    return _until_still(text, once) if _may_hold(text) else text


def _without_whole(name: str, put: Put) -> str:
    """A name is no text that was cut: ``npm_cache`` is what is left of no token."""
    return without_secrets(f"{name}{GOES_ON}", put).removesuffix(GOES_ON)


def path_without_secrets(path: str, put: Put = marked) -> str:
    """``path`` with ``put`` in place of credentials in it, and of what a part of it gives to the
    name of a secret.

    >>> path_without_secrets("logs/password=hunter22/a.md")
    'logs/password=[redacted: password]/a.md'
    """
    parts = (
        _without_whole(part, put) if "=" in part or ":" in part else part
        for part in without_credentials(f"{path}{GOES_ON}", put).removesuffix(GOES_ON).split("/")
    )
    return "/".join(parts)


def value_without_secrets(value: Any, put: Put = marked, name: str = "") -> Any:
    """A JSON value with ``put`` where a secret was: by its form, and all of what is the value of a
    member whose ``name`` is that of a secret."""
    if isinstance(value, str):
        kind = _kind_of_member(name, value)
        if kind is not None:
            return _stand_in(put, kind)
        # Chance makes ids too, by which others find what they are of.
        return (without_credentials if _ID.search(name) else without_secrets)(value, put)
    if isinstance(value, list):
        return [value_without_secrets(item, put, name) for item in value]
    if isinstance(value, Mapping):
        labels = [it for key, it in value.items() if key in LABELS and isinstance(it, str)]
        return {
            _without_whole(key, put): value_without_secrets(
                item, put, labels[0] if labels and key == VALUE else key
            )
            for key, item in value.items()
        }
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        kind = _kind_of_member(name, value)
        return value if kind is None else _stand_in(put, kind)
    return value


def _kind_of_member(name: str, value: str | float) -> str | None:
    """What kind of secret ``name`` says that its ``value`` is; None where it is none."""
    lower_name = small(name)
    if not _may_name(lower_name):
        return None
    begin = json.dumps(name, ensure_ascii=False) + ": "
    text = begin + json.dumps(value, ensure_ascii=False)
    lower = small(text)
    at = len(begin) + isinstance(value, str)
    found = (*named(text, lower, name_places(lower)), *in_fields(lower))
    return next((one.kind for one in found if one.start == at), None)


def _may_name(lower: str) -> bool:
    return any(part in lower for part in (*_PARTS_OF_NAMES, *foreign_parts(lower)))


def _may_hold(text: str) -> bool:
    if len(text) > _LONG:
        return True
    kinds = kinds_of(text)
    lower = small(text)
    if _may_be_unseen(text):
        lower = _UNSEEN.sub("", lower)
    return (
        _RUN in kinds
        or _may_name(lower)
        or any(part in lower for part in _PARTS_OF_OTHERS)
        or shows_settings(lower)
        or kinds.rstrip().endswith(b"a" * _LAST_WORD)
    )


def _secrets(text: str, *, is_seen: bool = False) -> list[Found]:
    """All that are in ``text``; what is already ``seen`` of one has no tags."""
    if _may_be_unseen(text) and _UNSEEN.search(text):
        return _secrets_unseen(text)
    lower = small(text)
    begun = name_places(lower)
    names = [place for place, _ in begun]
    apart = [(place, hit[0][-1]) for place in names if (hit := APART.match(lower, place))]
    runs = Runs.of(text)
    found = [
        *_credentials(text, lower, runs),
        *in_fields(lower),
        *in_commands(text, lower),
        *named(text, lower, begun),
        *in_tables(text, lower, apart),
        *in_rows(text, lower, apart),
        *in_pairs(text, lower, apart),
        *in_lines(text, lower, apart),
        *in_calls(text, lower, names),
        *in_columns(text, lower, names),
        *in_settings(lower, names),
        *random_values(text, lower, runs),
    ]
    if not is_seen and shows_markup(lower):
        found += [*in_attributes(text), *in_blocks(text, lower, names)]
        view = seen(text)
        found += () if view is None else view.written(_secrets(view.text, is_seen=True))
    return found


def _may_be_unseen(text: str) -> bool:
    return not text.isascii() or "\x1b" in text or "**" in text


def _secrets_unseen(text: str) -> list[Found]:
    """The same of a text with signs that nobody sees, which may part the name of a secret."""
    kept: list[int] = []
    at = 0
    for hit in _UNSEEN.finditer(text):
        kept += range(at, hit.start())
        at = hit.end()
    kept += range(at, len(text))
    found = _secrets("".join(text[at] for at in kept))
    return [replace(one, start=kept[one.start], end=kept[one.end - 1] + 1) for one in found]


def _credentials(text: str, lower: str, runs: Runs) -> list[Found]:
    return [*_by_look(text, runs), *of_addresses(text), *of_schemes(text, lower)]


def _by_look(text: str, runs: Runs) -> Iterator[Found]:
    yield from private_keys(text)
    yield from signed_tokens(text)
    yield from made_by_makers(text, runs)


def _replaced(text: str, found: Iterable[Found], put: Put, *, keep_lines: bool = False) -> str:
    parts, at = [], 0
    for one in united(found):
        parts += [text[at : one.start], _stand_in(put, one.kind)]
        if keep_lines:
            parts.append("\n" * text.count("\n", one.start, one.end))
        at = one.end
    return "".join([*parts, text[at:]])


def _until_still(text: str, once: Callable[[str], str]) -> str:
    """``text`` after ``once``, again where it took something out: what was hidden by one secret, as
    the beginning of the next word was, is seen when that is gone."""
    for _ in range(_PASSES):
        before, text = text, once(text)
        if text == before:
            break
    return text


def _stand_in(put: Put, kind: str) -> str:
    return put if isinstance(put, str) else put(kind)
