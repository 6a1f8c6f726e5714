"""Sentences of running text, and which of them tell somebody to do something."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dcf.sop.language.phrase import masked
from dcf.sop.runbook.clauses import is_done_by_people, somebody_acts
from dcf.sop.runbook.roles import has_somebody
from dcf.sop.runbook.verbs import base_of, is_clear, is_foreign, is_usual, is_verb, words_in

_END = re.compile(r"[.!?](?:[\"')\]*_’”]{0,3})\s+|[。！？]\s*")
_TURNS = re.compile(
    r"(?:If|Otherwise|Else|Unless)\b|(?:\*\*|__)[A-Z][^*_\n]{1,40}(?::(?:\*\*|__)|(?:\*\*|__):)\s"
)
"""What begins a sentence on a new line, though no full stop stands before it."""
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|cf|resp|no|nr|fig|sec|dr|mr|mrs|st|z\.b|bzw|ca|ggf"
    r"|ex|p|v"
    r"|[A-Za-z])|\.)$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?:If|When|Unless|Otherwise|Else|Then|The|This|It|There|You|Do|In case|After|Once|Wait)\s"
)
"""Begins a sentence also behind what may be an abbreviation: ``Connect A and B. If …``."""
_OPENS = re.compile(r"[\"'“‘(\[*_`~<!#>-]*(?P<letter>\S)")
_POINTS = re.compile(r"(?:[-=]{1,2}>|[→⇒➔➜⟶])")
_DECORATION = re.compile(r"^(?:[*_~`\"'“(\[]|[^\w\s<$`{(\[\"'“*_~/.-])+\s*")
_LABEL = re.compile(r"[*_]{2}[^*_\n]{1,60}(?::[*_]{2}|[*_]{2}\s?[:–—-])\s+(?=\S)")
_BOLD_LEAD = re.compile(r"\*\*[^*\n]{3,60}\*\*|__[^_\n]{3,60}__")
_FILLERS = words_in(
    """
    please then next first firstly second secondly third thirdly now finally lastly afterwards
    afterward subsequently also otherwise instead again always carefully manually immediately
    optionally optional additionally alternatively recommended simply just quickly temporarily and
    but or so to be gracefully safely briefly kindly directly either
    """
)
_FILLER = re.compile(
    rf"(?:{'|'.join(sorted(_FILLERS, key=len, reverse=True))})\b[,:)]?\s+", re.IGNORECASE
)
_LEAD = re.compile(
    r"(?:(?:in|on|from|for|to|after|before|at|with|using|via|once|as|during|under|within|by|if|when"
    r"|while|unless|depending|because|since|until|upon|without|given|following|where|assuming"
    r"|each|every|based (?:up)?on)\b"
    r"[^:;]{1,200}?),\s+(?=[*_\[]{0,3}(?P<word>[A-Za-z-]+)(?P<rest>.{0,40}))",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"[A-Za-z]{3,}ly,?\s+(?=[a-z])")
_OFTEN = (
    r"(?:(?:also|then|now|first|next|always|either|immediately|at least|only|please|just|thus"
    r"|therefore|[a-z]{3,}ly)\s+)*"
)
_MODAL = (
    rf"(?:(?:will|would|should|must|can|could|may|might|shall|ought to)\s+{_OFTEN}"
    r"(?:(?:need|want|have|like|wish|be required|be asked) to)?"
    r"|(?:need|needs|want|wants|have|has|had better|got)\s+to|(?:am|are|is)\s+"
    rf"{_OFTEN}(?:required|expected|supposed|advised|encouraged|asked|obliged|requested|to"
    r"|responsible for|in charge of)(?:\s+to)?)"
)
_SUBJECT = re.compile(
    rf"(?:(?:(?:you|we)(?:'ll|’ll|'d|’d)\s+{_OFTEN}(?:(?:need|want|have|like) to)?"
    r"|let's|let’s|let us|(?:please )?(?:be sure|make sure|take care|remember|do(?:n't|n’t| not)"
    r" forget|you are going)\s+to"
    r"|it(?:'s|’s| is| may be| might be) (?:also )?(?:\w+ )?(?:recommended|advisable|necessary"
    r"|important|best|essential|required|good|easiest|vital|worth|sensible|possible)\s+to"
    r"|(?:a|the) (?:good|best|next|first|second|last|final|easiest) "
    r"(?:idea|step|thing|way|action|option)(?: to do)? is to)"
    rf"|(?:you|we|the (?:on-?call(?: engineer)?|operator|engineer|user|team|agent|assistant|sre"
    rf"|admin|administrator|responder|incident commander|ic))\s+{_OFTEN}{_MODAL})\s*{_OFTEN}",
    re.IGNORECASE,
)
_DUTY = re.compile(
    rf"(?:^|[,;.:]\s+(?:(?:and|but|so|then)\s+)?)(?P<who>you|we|they|agents?|(?:the |an? |all "
    rf"|each |every |any )?[\w`'’/-]+(?: [\w`'’/-]+){{0,8}}?)"
    rf"(?:\s*\([^)]*\)|,[^,]{{1,60}},)?\s+(?:(?:(?:will |would )?(?:have|has|need|needs) to|must"
    r"|shall|(?:is|are|will be) (?:required|responsible|expected|asked) (?:to|for)|is to|are to)"
    rf"|(?P<hoped>will|should))\s+{_OFTEN}(?P<verb>[a-z-]+)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^(?P<what>[^,;:.()]{2,90}?)(?:\s*\([^)]*\))?\s+(?:(?:should|must|shall|will need to|will have"
    rf" to|needs? to|ha(?:s|ve) to|is to|are to|(?P<will>will))\s+{_OFTEN}be)\s+{_OFTEN}"
    r"(?:[a-z]+ed and )?(?P<verb>[a-z-]+)\b",
    re.IGNORECASE,
)
_KEPT = words_in(
    """
    consider note use expect assume treat understand know see keep store retain maintain
    allow permit prohibit limit base require intend regard deem design hold read let take
    own
    """
)
"""What something has to be all the time is no step: ``Logs should be kept``."""
_THROUGHOUT = re.compile(r"\b(?:at all times|at any time|throughout)\b", re.IGNORECASE)
_STATES = words_in(
    """
    be have contain match support exist remain comply meet not never
    """
)
_SO = re.compile(
    r"(?:[,;–—]|\.\.\.)\s*(?:and\s+)?(?:so|then|therefore|hence|please|instead)\s+(?:please\s+)?"
    r"(?P<order>[a-z-]+\s.+)|\bplease\s+(?P<asked>[a-z-]+\s.+)",
    re.IGNORECASE,
)
_SEEN = re.compile(
    r"(?:you|we|one)(?:'ll|’ll|\s+(?:should|will|can|may|might|must))\s+(?:now |then |also "
    r"|be able to )*"
    r"(?:see|get|notice|find|receive|expect|observe|have (?:an?|the|no|up to"
    r"|at (?:least|most)|[0-9])|be|lose|forfeit|earn|qualify|accrue|owe)\b",
    re.IGNORECASE,
)
"""What comes of it: ``You should see a new node``."""
_INTRODUCES = re.compile(
    r"(?:for (?:example|instance)|e\.g\.)|(?:complete|follow|perform|do|take|execute|carry out"
    r"|use)\s"
    r"(?:the|these|this)\s(?:following |next |below )?(?:\w+ )?(?:steps?|procedure|instructions"
    r"|actions?)\b.*:$",
    re.IGNORECASE,
)
"""What says that steps follow: ``Complete these three steps:``."""
_TOPIC = re.compile(r"[A-Z][\w/-]*(?: [\w/-]+){0,2}:\s+(?P<order>[A-Z][a-z-]+\s.+)")
_COUNT_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten"
_STEP_LABEL = re.compile(rf"[*_]{{0,2}}(?:step|phase) (?:{_COUNT_WORDS}|[0-9]+)\b\W{{1,4}}", re.I)
_GERMAN = re.compile(
    r"\b(?:der|die|das|den|und|über|alle|dass|nicht|auf|mit|von|ist|im|zum|zur|ein|eine)\b|[äöüß]"
)
_INFINITIVE = re.compile(r"[a-zäöüß]{3,}(?:en|ern|eln)\W*$")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_FINITE = re.compile(
    r"(?:[\w`*'’/-]+\s+){0,5}?(?:is|are|was|were|has|have|had|will|does|do not|don't|can|could"
    r"|should|must|may|might|fires?|contains?|shows?|means?|happens?|occurs?|indicates?"
    r"|represents?|includes?|fails?|hangs|crashes|stops|exceeds|drops|rises"
    r"|provides?|describes?|consists?|depends?|requires?|exists?|becomes?|remains?|comes|goes"
    r"|fails|hangs|crashes|stalls|freezes|dies|stops|breaks|leaks|times out)\b",
    re.IGNORECASE,
)
_YOU_MUST = re.compile(
    rf"(?:^|[,:]\s+)you\s+(?:must|should|shall)\s+{_OFTEN}(?P<verb>[a-z-]+)", re.IGNORECASE
)
_STATEMENT = re.compile(
    r"(?:[\w`'’/-]+\s+){1,5}?(?:is|are|was|were)\s+(?:an?|the|not|no|only|one|some|usually"
    r"|often)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"[*_]*\s(?:where|which|that|when|who|if|while|so)\b")
_CLAUSE_AHEAD = re.compile(
    r"(?:that|if|until|while|whether|when|where|which|what|how|the|all|any|a|an|your|this|"
    r"for|to|each|every|with|on|in|up|out|down|back|into|onto|at|from|through|off|over)\b",
    re.IGNORECASE,
)
_OBJECT_AHEAD = re.compile(
    r"(?:the|all|any|an?|your|our|this|these|that|those|each|every|both|it|them|him|her|their|its"
    r"|yourself|whether|some|no|[0-9]+|up|out|off|down|away|aside)\b"
    r"(?! (?:is|are|was|has|can|may)\b)"
    r"|[`<$]|\[",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence on the lines ``line`` to ``last``, on one line of text."""

    line: int
    last: int
    text: str


def pieces(lines: Sequence[tuple[int, str]]) -> Iterator[Piece]:
    """The sentences of a paragraph. A full stop ends one before a capital letter, a digit or a
    letter of a script without capitals, but not behind an abbreviation and not inside quotes."""
    starts: list[int] = []
    numbers: list[int] = []
    length = 0
    rows: list[str] = []
    for number, text in lines:
        starts.append(length)
        numbers.append(number)
        rows.append(text)
        length += len(text) + 1
    whole = " ".join(rows)
    begin = 0
    turns = {at for at, row in zip(starts[1:], rows[1:], strict=True) if _TURNS.match(row)}
    for end in sorted({*_ends(whole), *turns, len(whole)}):
        said = whole[begin:end]
        if said.strip():
            lead = len(said) - len(said.lstrip())
            first = numbers[max(bisect_right(starts, begin + lead) - 1, 0)]
            last = numbers[max(bisect_right(starts, begin + len(said.rstrip()) - 1) - 1, 0)]
            yield Piece(first, last, " ".join(said.split()))
        begin = end


def _ends(text: str) -> Iterator[int]:
    hidden = masked(text)
    for found in _END.finditer(hidden):
        ahead = _OPENS.match(text, found.end())
        if ahead is None or _POINTS.match(text, found.end()):
            continue
        letter = ahead["letter"]
        if not (letter.isupper() or letter.isdigit() or not letter.islower()):
            continue
        word = text[max(0, found.start() - 12) : found.start()]
        abbreviated = text[found.start()] == "." and _ABBREVIATED.search(word)
        if abbreviated and not _SENTENCE.match(text, found.end()):
            continue
        yield found.end()


def plain(text: str) -> str:
    """``text`` without what stands before its first word: marks of emphasis, pictures, a label in
    bold letters."""
    label = _LABEL.match(text) or _STEP_LABEL.match(text)
    text = text[label.end() :] if label else text
    return _DECORATION.sub("", text, count=1) if text[:1] not in "`$<{/." else text


def core(text: str) -> str:
    """``text`` from its first word that says something: no emphasis, no ``Please``, no ``In the
    console,``, no ``You should``."""
    said = plain(text)
    for _ in range(4):
        before = said
        said = said[_lead(said) :]
        said = _FILLER.sub("", said, count=1) if _FILLER.match(said) else said
        said = _ADVERB.sub("", said, count=1) if _ADVERB.match(said) else said
        subject = _SUBJECT.match(said)
        said = said[subject.end() :] if subject else said
        said = plain(said)
        if said == before:
            break
    return said


def _lead(said: str) -> int:
    """Where what stands before the main clause ends: at its first comma, or at a later one that an
    order follows."""
    first = 0
    found = _LEAD.match(said)
    while found and found.end() < len(said):
        first = first or found.end()
        word = found["word"].lower()
        if is_clear(word) or (is_verb(word) and _OBJECT_AHEAD.match(found["rest"].lstrip())):
            return found.end()
        if word in ("please", "you", "we", "then"):
            return found.end()
        comma = said.find(", ", found.end())
        if comma < 0 or comma > 220:
            break
        found = _LEAD.match(f"{said[: found.end()].replace(',', ' ')}{said[found.end() :]}")
    return first


@lru_cache(maxsize=1024)
def is_order(text: str) -> bool:
    """Whether the sentence tells somebody to do something. It goes by its first word: verbs that
    are nouns too (``Log files are kept``) count unless a finite verb follows."""
    said = plain(text)
    behind = said[_lead(said) :]
    if any(_SEEN.match(_unfilled(one)) for one in (said, behind)) or any(
        map(_INTRODUCES.match, (said, core(text)))
    ):
        return False
    return _is_imperative(core(text)) or _labelled(text) or is_duty(text)


def _unfilled(said: str) -> str:
    found = _FILLER.match(said)
    return said[found.end() :] if found else said


def is_clear_order(text: str) -> bool:
    """Whether a sentence is an order that cannot be read as a name: not ``email address``."""
    said = core(text)
    first = _WORD.match(said)
    if first is None or is_statement(text) or not is_order(text):
        return False
    word = first[0].lower()
    rest = said[first.end() :].lstrip(" *_")
    return not is_usual(word) or bool(_CLAUSE_AHEAD.match(rest) or _OBJECT_AHEAD.match(rest))


def _is_imperative(said: str) -> bool:
    first = _WORD.match(said)
    if first is None:
        return False
    word = first[0].lower()
    if is_foreign(word):
        return True
    if not is_verb(word):
        return bool(_GERMAN.search(said) and _INFINITIVE.search(said))
    rest = said[first.end() :].lstrip()
    if said[first.end() :][:1] in ("-", "/", "(", "’", "'", "=", "_") and rest:
        return False
    if is_clear(word):
        return True
    if rest.startswith("of "):
        return False
    if not is_usual(word):
        return bool(_OBJECT_AHEAD.match(rest.lstrip("*_")))
    if not _CLAUSE_AHEAD.match(rest):
        return not _FINITE.match(_RELATIVE.split(rest, maxsplit=1)[0])
    return True


def is_duty_of_reader(text: str) -> bool:
    """``You MUST verify …``: what whoever reads it has to do, rather than leave."""
    found = _YOU_MUST.search(plain(text)[:200])
    return found is not None and is_verb(found["verb"].lower()) and found["verb"] != "be"


def is_statement(text: str) -> bool:
    """Whether it says what something is, or that one may: ``Complaints are a source of ideas``."""
    return bool(_STATEMENT.match(plain(text))) or "You MAY " in text[:20]


def _labelled(text: str) -> bool:
    """``**Seal the hatch**: it must not hum``: the order stands in the label."""
    found = _LABEL.match(text) or _BOLD_LEAD.match(text)
    said = found[0].strip(" *_:–—-.") if found else ""
    if " " in said and _is_imperative(core(said)):
        return True
    behind = _TOPIC.match(text)
    return behind is not None and _is_imperative(core(behind["order"]))


def is_duty(text: str) -> bool:
    """Whether it says what somebody has to do, or does, or what has to be done with something. What
    will be done counts behind a clause that says when: ``After that, the order will be closed``."""
    said = core(text)[:300]
    asked = _SO.search(said)
    if asked and _is_imperative(core(asked["order"] or asked["asked"])):
        return True
    if any(_is_imperative(core(part)) and is_clear_order(part) for part in _clauses_behind(said)):
        return True
    if _THROUGHOUT.search(said):
        return False
    for found in _DUTY.finditer(said):
        verb = found["verb"].lower()
        verb = base_of(verb.removesuffix("ing") + "ed") or verb if verb.endswith("ing") else verb
        somebody = found["who"].lower() in ("you", "we", "they") or has_somebody(found["who"])
        if is_verb(verb) and verb not in _STATES and (somebody or not found["hoped"]):
            return True
    if somebody_acts(said) or is_done_by_people(said):
        return True
    done = _DONE.match(said)
    if done is not None and (base := base_of(done["verb"].lower())):
        return base not in _KEPT and (not done["will"] or said != plain(text)[:300])
    return False


def _clauses_behind(said: str) -> list[str]:
    """The clauses behind semicolons."""
    return [part.strip() for part in said.split(";")[1:]]


def word_stems(text: str) -> frozenset[str]:
    """The longer words of ``text``, by their beginnings."""
    return frozenset(word[:5] for word in re.findall(r"[a-z]{4,}", text.lower()))


def title_of(text: str) -> str:
    """``text`` as the title of a step."""
    said = text.strip().rstrip(":.;").strip()
    if said.count("**") % 2:
        said = said.replace("**", "")
    return said or text.strip() or "Do this"


def question_of(condition: str) -> str:
    """A condition as a question."""
    said = condition.strip().strip("*_ ").rstrip("?:.,;")
    if said.count("**") % 2:
        said = said.replace("**", "")
    return f"{said[:1].upper()}{said[1:]}?"
