"""Names of programs: whole, in their parts, in what people ask, and the words that people say for
their parts: ``arg`` is an argument, ``is`` tells whether."""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from dcf.search import segmented, spoken

# What words are made of, and "_"; it does not begin with a decimal digit.
_NAME = regex.compile(r"[\p{L}\p{M}\p{Nl}\p{No}_][\p{L}\p{M}\p{N}_]*")
# Possessive, and never from within what another place has read: questions are of any length, and
# the same characters are not read again from each place where a name might begin.
_QUOTED = re.compile(r"(?<!`)`++([^`\n]{1,200})`+")
_WORD = re.compile(r"\w++")
# What no word of a language looks like: parts joined by _ or a capital inside, a call, a path of
# names. Everything else may be a name as well, but is searched as a word.
_JOINED = re.compile(r"[a-z0-9][A-Z]|[^\W_]_++[^\W_]")
_LETTER = re.compile(r"[^\W\d]")
_CAPITALS = re.compile(r"(?<![A-Z])[A-Z]{2,}+[a-z]")
_DOTTED = re.compile(r"(?<![\w.])[^\W\d]\w*+(?>(?:\.[^\W\d]\w*+)+)(?![\w.]*+(?<=\.)\s)")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a"})
_SHORTEST = 3
_LONGEST = 100
_MOST = 16

# First the word of a name, then those that people say for it.
_SAID = """
    addr address; app application; arg argument; async asynchronous; attr attribute; auth
    authenticate authentication authorization; avg average; begin start; bool boolean; build
    construct; calc calculate; cb callback; char character; close stop; cmd command; cmp
    compare; compute calculate; conf configuration; config configuration; conn connection;
    count number; ctx context; cur current; db database; dbl double; decl declaration; def
    definition; delete remove; desc description; dest destination; dict dictionary; diff
    difference; dir directory; display show; dist distribution; doc document; dst destination;
    dump save write; echo print; elem element; end stop; env environment; eq compare equal;
    err error; error exception; eval evaluate; exc exception; exec execute; expr expression;
    ext extension; fetch retrieve; file path; finish end; fmt format; fn callback function;
    func function; gen generate; get find obtain retrieve return; has whether; hdr header; id
    identifier; ident identifier; idx index; img image; impl implementation; info information;
    init initialise initialize; int integer; is check true whether; iter iterate iterator; len
    length; lib library; load parse read; make build construct create; max maximum; mean
    average; mem memory; mgr manager; min minimum; msg message; new create; num number; obj
    object; op operation operator; opt option; param parameter; path file; pkg package; pos
    position; prev previous; print show; proc process; prop property; ptr pointer; pwd
    password; read load parse; ref reference; regex regular; remove delete; render display;
    repo repository; req request; res result; resp response; run execute; save write; seq
    sequence; sess session; show display print; spec specification; src source; start begin;
    stats statistics; stmt statement; stop close end; str string; sync synchronize; sys
    system; tbl table; temp temporary; text string; tmp temporary; to convert; ts timestamp;
    tx transaction; txn transaction; util utility; val value; var variable; vec vector; ver
    version; win window; wrapper wrap; write save
"""
_SYNONYMS = {word: said for word, *said in (line.split() for line in _SAID.split(";"))}


def told(text: str) -> str:
    """``text`` with the parts of each name of several parts behind it, so that either is found.

    >>> told("chargePayment(order_id)")
    'chargePayment charge Payment (order_id order id )'
    """
    # As words are written: signs that nobody sees part no name.
    whole: str = _NAME.sub(_with_parts, segmented(text))
    return whole


@lru_cache(16)
def asked_names(question: str) -> tuple[str, ...]:
    """What is written in ``question`` as programs write it, each once, in its order; at most 16.

    >>> asked_names("where does chargePayment call `refund` or Basket.add?")
    ('chargePayment', 'refund', 'Basket', 'add')
    """
    places: dict[str, int] = {}
    for found in _QUOTED.finditer(question):
        for name in _NAME.finditer(found[1]):
            places.setdefault(name[0], found.start(1) + name.start())
    for word in _WORD.finditer(question):
        begin = _begin(word[0], is_called=question.startswith("(", word.end()))
        if begin is not None:
            places.setdefault(word[0][begin:], word.start() + begin)
    for found in _DOTTED.finditer(question):
        if found[0].lower() not in _ABBREVIATIONS:
            for name in _NAME.finditer(found[0]):
                places.setdefault(name[0], found.start() + name.start())
    ordered = sorted(places, key=lambda name: places[name])
    return tuple(name for name in ordered if _SHORTEST <= len(name) <= _LONGEST)[:_MOST]


def _begin(word: str, *, is_called: bool) -> int | None:
    """Where in ``word`` a name begins that no word of a language looks like."""
    if _JOINED.search(word):
        return 0
    found = (_LETTER if is_called else _CAPITALS).search(word)
    return found.start() if found else None


def _with_parts(found: regex.Match[str]) -> str:
    return _parted(found[0])


# The same few names are most of the words of a project: a third of the time of an index.
@lru_cache(65_536)
def _parted(name: str) -> str:
    parts = spoken(name)
    return name if parts == name else f"{name} {parts} "


def synonyms(names: str) -> str:
    """The words that may be said for the parts of ``names``, in their order, also twice.

    >>> synonyms("remove_dirs")
    'delete directory'
    """
    words = spoken(names).lower().split()
    return " ".join(said for word in words for said in _said(word))


def _said(word: str) -> list[str]:
    """Of one word, which may be in the plural."""
    return _SYNONYMS.get(word) or _SYNONYMS.get(word.removesuffix("s"), [])
