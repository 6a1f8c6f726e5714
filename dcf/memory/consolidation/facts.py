"""What in a text is a fact that other words cannot replace."""

from __future__ import annotations

import re

from dcf.search import words

_TOKEN = re.compile(r"\S+")
_EDGES = "\"'`«»„“”‘’()[]{}<>,;:.!?*"
_NEGATIONS = """
    no not nor never none nobody nothing without cannot except unless must mustn't isn't aren't
    wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't hasn't haven't
    hadn't stop stopped nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca sin non
    bez не без ни
"""
_NOT = frozenset(_NEGATIONS.split())
_FILLERS = frozenset(["a", "an", "the", "also", "just", "very", "really"])


def facts(text: str) -> frozenset[str]:
    """Numbers, names, addresses and the like, as they are written.

    A word that begins a sentence is no name, unless it is written like no other word.

    >>> sorted(facts("Mail ada@example.org before 10:30, says Bert."))
    ['10:30', 'Bert', 'ada@example.org']
    """
    found = set()
    begins = True
    for token in _TOKEN.findall(text):
        core = token.strip(_EDGES)
        if core and _is_fact(core, begins):
            found.add(core)
        # What stands before the first word, such as a list mark, is no word.
        begins = token[-1] in ".!?:" or (begins and not any(map(str.isalnum, token)))
    return frozenset(found)


def negations(text: str) -> frozenset[str]:
    """The words that turn what is said into its opposite, or bind somebody."""
    plain = text.casefold().replace("’", "'")
    return frozenset(token.strip(_EDGES) for token in _TOKEN.findall(plain)) & _NOT


def said(text: str) -> tuple[str, ...]:
    """The words in their order, as they are compared: without articles, singular like plural."""
    found = (word.casefold() for word in words(text))
    return tuple(_singular(word) for word in found if word not in _FILLERS)


def capitals(text: str) -> frozenset[str]:
    """Words that may be names, as ``said`` gives them: even one that begins the sentence."""
    return frozenset(one for word in words(text) if word[0].isupper() for one in said(word))


def _is_fact(core: str, begins: bool) -> bool:
    if any(map(str.isdigit, core)) or any(mark in core[1:-1] for mark in "@_/\\="):
        return True
    if any(map(str.isupper, core[1:])):
        return True
    return core[0].isupper() and not begins and core != "I"


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
