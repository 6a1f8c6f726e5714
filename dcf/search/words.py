"""Words of a text, and those that say nothing about what is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import regex

from dcf.search.segments import segmented

TOKENIZER = "porter unicode61 categories 'L* N* M*'"
"""How FTS5 takes texts apart: into the same words, by their stems (Porter)."""
# Marks belong to their letters: without them words of many scripts fall apart.
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+")
# The same, in half the time.
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_NOT_LATIN = regex.compile(r"(?V1)[\p{L}--\p{Latin}]")
# A capital after a small letter or a digit, and the last of several before a small letter.
_HUMP = re.compile("[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")

# Words that bind others, and nothing else: what asks (find, need, help) is left in, since tools
# are called by such words too. Leaving those out as well made no ranking better.
_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its just let like may me might more
    most much must my no nor not now of off on once only or other our out over own please same
    shall she should so some such than that the their theirs them then there these they this those
    through to too under until up very was we were what when where which while who whom why will
    with would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """The words of ``text`` as they are written; those that an index has, where a script writes no
    blanks between words.

    >>> words("charge_payment, twice")
    ['charge', 'payment', 'twice']
    >>> words("東京都へ")
    ['東京', '京都', '都へ']
    """
    found: list[str] = (_ASCII_WORD if text.isascii() else _WORD).findall(segmented(text))
    return found


def telling_words(text: str) -> list[str]:
    """The words of ``text`` without stop words; all of them where no others are there."""
    found = words(text)
    return [word for word in found if word.lower() not in STOP_WORDS] or found


def query_words(text: str) -> list[str]:
    """The telling words of ``text`` in small letters, names in their parts, each once.

    >>> query_words("the chargePayment of a Payment")
    ['charge', 'payment']
    """
    return list(dict.fromkeys(word.lower() for word in telling_words(spoken(text))))


def is_latin(text: str) -> bool:
    """Whether all letters of ``text`` are Latin.

    >>> is_latin("Straße 7"), is_latin("дом")
    (True, False)
    """
    return text.isascii() or _NOT_LATIN.search(text) is None


def without(text: str, left_out: Collection[str]) -> str:
    """``text`` without some words, which are given in small letters.

    >>> without("When did Ann's boat sink?", {"ann"})
    "When did 's boat sink?"
    """
    kept: str = _WORD.sub(lambda word: "" if word[0].lower() in left_out else word[0], text)
    return " ".join(kept.split())


def spoken(name: str) -> str:
    """A name of the kind that programs have, as a reader would say it.

    >>> spoken("orders.chargePayment_v2")
    'orders charge Payment v2'
    """
    return " ".join(words(_HUMP.sub(r" \g<0>", segmented(name))))


def name_parts(said: Iterable[str]) -> list[str]:
    """Of those of the words ``said`` that are names in camel case, the parts; each name once.

    >>> name_parts(["the", "fetchInvoice", "of", "fetchInvoice", "HTTPError"])
    ['fetch Invoice', 'HTTP Error']
    """
    return [spoken(word) for word in dict.fromkeys(said) if _HUMP.search(word)]


def opening(text: str) -> str:
    """The first sentence."""
    return _SENTENCE_END.split(text.strip(), maxsplit=1)[0]


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; lines are sentences too.

    >>> sentences("It broke. Give the money back!")
    ['It broke.', 'Give the money back!']
    """
    return [one for one in _SENTENCE_END.split(text.strip()) if words(one)]
