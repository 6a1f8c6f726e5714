"""Clauses that tell what somebody does, or what is done, by rule: ``The clerk files it``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.sop.runbook.roles import has_somebody, is_somebody
from dcf.sop.runbook.verbs import base_of, is_verb, words_in

_LONGEST = 300
_LONGEST_SUBJECT = 110
_COMPANY = re.compile(
    r"(?:\{\{|\[|<)[^{}\[\]<>\n]{0,30}?(?:company|organi[sz]ation"
    r"|entity)[^{}\[\]<>\n]{0,30}(?:\}\}|\]|>)",
    re.IGNORECASE,
)
"""The place of the name of who has written a policy for others to fill in."""
_BEGINS = re.compile(r"(?:[;:]|,(?:\s+(?:and|but|or|so|then|who|which))?|\s(?:and|but))\s+(?=\S)")
"""Where another clause may begin."""
_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)|[*_]{2}")
_TOKEN = re.compile(r"\([^()]*\)|[\w`'’/&-]+|[^\w\s]")
_SUBJECT_WORDS = 7
_QUALIFIES = words_in("from of in on for at with to")
_RELATIVE = words_in("who that whose which")
_OFTEN = words_in(
    "also then now first next always either immediately only just thus therefore usually again"
)
_NO_VERB_BEHIND = words_in(
    "a an the to of for in on with by from and or his her their its my your our not no is are was"
    " were be will must can may should has have who that which"
)
_AUXILIARY = words_in(
    "is are was were be been has have had will would must shall can could may might should do does"
    " did not cannot of"
)
_STATES = words_in(
    """
    be have need want wish hope like know mean seem work live sit see experience notice suffer lose
    understand expect depend belong own include consist remain become believe think feel look face
    represent cover serve concern earn deserve benefit tend love hate hear stay stand lack use
    keep own exist happen require
    """
)
"""What somebody is in rather than does."""
_PRONOUNS = words_in("they we you")
_NOTHING_DONE = words_in(
    """
    base call name describe define know mean base locate situate connect relate link associate
    concern involve suppose expect assume consider regard deem see use need require intend design
    make allow permit prohibit forbid limit restrict include contain list show display depict
    explain keep hold retain store maintain own cover bind protect support affect cause trigger
    compose build derive divide separate surround mention deprecate entitle hide exclude exempt
    interest worry insure lock block break lose hang host responsible understand classify charge
    """
)
"""What something is rather than what is done with it: ``Fees are based on …``."""
_PASSIVE = re.compile(
    r"\s(?:is|are|gets?|will be)\s+(?P<how>(?:(?:[a-z]+ly|then|also|first|now|always"
    r"|again)\s+){0,3})"
    r"(?P<verb>[a-z-]+)\b(?P<rest>.*)",
    re.DOTALL,
)
_NO_THING = re.compile(
    r"(?:(?:it|this|that|these|those|they|there|which|you|we)$|(?:what|nothing|nobody|no)\b)"
    r"|.*[;:.(]|.*\b(?:if|when|where|that|because|as|than|whether)$",
    re.IGNORECASE,
)
_BY_WHOM = re.compile(r"\b(?:by|to|from|with)\s+(?P<who>[^,;:.]{2,60})", re.IGNORECASE)
_HOW_SOON = re.compile(
    r"\b(?:immediately|at once|promptly|without (?:undue )?delay|right away|straight away"
    r"|(?:within|after|every|in|before|until|by|at the end of)\s+(?:\w+\s+){0,3}?(?:minutes?|hours?"
    r"|days?|weeks?|months?|quarters?|years?|shifts?)|weekly|daily|monthly|quarterly|yearly"
    r"|annually"
    r"|on (?:the |their |his |her )?(?:same|next|last|first|following)\s\w+)\b",
    re.IGNORECASE,
)
_ON_RECORD = re.compile(
    r"\b(?:in|on|into|onto)\s+(?:the|a|an|our|their|its)\s+(?:\w+[ -]){0,3}?(?:register|log"
    r"|log-?book"
    r"|form|book|file|minutes|note|list|ledger|journal|report|record|ticket|tracker|portal|crm"
    r"|calendar|inventory)\b",
    re.IGNORECASE,
)


def somebody_acts(said: str) -> bool:
    """Whether a clause of ``said`` tells what a person or a body does: ``Staff who are ill tell the
    office``, ``HR examines the request``."""
    said = _COMPANY.sub("company", _LINK.sub(r"\1", said[:_LONGEST]))
    starts = [0, *(found.end() for found in _BEGINS.finditer(said))]
    return any(_acts(said[start : start + 160]) for start in starts)


def is_practice(said: str) -> bool:
    """Whether ``said`` tells what is done with something, or what those do who were named before:
    ``Lost badges are destroyed``, ``They keep a copy``. Of machines this tells how they work."""
    return _passive(said) is not None or _pronoun_acts(said)


def is_done_by_people(said: str) -> bool:
    """Whether ``said`` tells what is done with something, and that it is people who do it: by whom
    or to whom, how soon, or where it is put on record."""
    found = _passive(said)
    if found is None:
        return False
    what, how, rest = found
    whom = _BY_WHOM.search(rest)
    return (
        (whom is not None and has_somebody(whom["who"]))
        or bool(_HOW_SOON.search(how + rest) or _ON_RECORD.search(rest))
        or is_somebody(what.split()[-1])
    )


def _pronoun_acts(said: str) -> bool:
    tokens = _TOKEN.findall(_LINK.sub(r"\1", said[:_LONGEST]))[:8]
    return bool(tokens) and tokens[0].lower() in _PRONOUNS and _does("staff", tokens[1:])


def _passive(said: str) -> tuple[str, str, str] | None:
    """With what something is done, how, and what stands behind the verb."""
    said = said[:_LONGEST]
    at = 0
    while (found := _PASSIVE.search(said, at)) is not None:
        what, base = (
            re.sub(r"\([^()]*\)", "", said[: found.start()]).strip(),
            base_of(found["verb"]),
        )
        if len(what) > _LONGEST_SUBJECT:
            return None
        is_act = base and found["verb"][-1] != "s" and base not in _NOTHING_DONE
        if is_act and len(what) > 1 and not _NO_THING.match(what):
            return what, found["how"], found["rest"]
        at = found.start("verb") - 1
    return None


def _acts(clause: str) -> bool:
    """Whether a clause begins with somebody, and goes on with what they do."""
    tokens = [one for one in _TOKEN.findall(clause) if not one.startswith("(")]
    for at, token in enumerate(tokens[:_SUBJECT_WORDS]):
        if not (token[0].isalnum() or token[0] == "`"):
            return False
        if is_somebody(token) and _does(tokens[at], tokens[at + 1 :]):
            return True
        if token.lower() in _AUXILIARY or token.lower() in _QUALIFIES:
            return False
    return False


def _does(who: str, behind: Sequence[str]) -> bool:
    """Whether the words ``behind`` a subject say that it does something."""
    words = [one.lower() for one in behind]
    at = 0
    if (words[:1] and words[0] in _RELATIVE) or who.lower() == "whoever":
        # The verb of the main clause is the second one.
        first = next((i for i in range(len(words)) if _is_verb(words, i)), None)
        if first is None:
            return False
        return any(_is_finite(who, behind, i) for i in range(first + 1, len(words)))
    if words[:1] and words[0] in _QUALIFIES:
        at = next((i for i in range(2, min(5, len(words))) if _is_finite(who, behind, i)), 0)
    while at < len(words) and (words[at] in _OFTEN or words[at].endswith("ly")):
        at += 1
    return _is_finite(who, behind, at)


def _is_verb(words: Sequence[str], at: int) -> bool:
    word = words[at]
    return word in _AUXILIARY or bool(base_of(word)) or is_verb(word)


def _is_finite(who: str, behind: Sequence[str], at: int) -> bool:
    """Whether the word at ``at`` is the verb of ``who``: one that agrees, with an object."""
    if at >= len(behind) or not behind[at].islower():
        return False
    word, after = behind[at], behind[at + 1 : at + 2]
    if at and behind[at - 1].lower() in (_NO_VERB_BEHIND | _AUXILIARY):
        return False
    if after and after[0].lower() in _AUXILIARY:
        return False
    if word.endswith("s") and not word.endswith("ss"):
        base = base_of(word)
        return bool(base) and base not in _STATES
    many = who.lower().endswith("s") or who.lower() in ("staff", "people", "personnel", "whoever")
    return many and is_verb(word) and word not in _STATES
