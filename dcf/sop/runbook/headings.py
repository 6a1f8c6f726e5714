"""What a section of a runbook is for, by the words of its heading."""

from __future__ import annotations

import re
from typing import Literal

from dcf.sop.runbook.verbs import is_usual
from dcf.sop.runbook.wording import is_clear_order, is_order

Purpose = Literal[
    "steps", "first", "aside", "objective", "inputs", "guardrails", "roles", "note", "unknown"
]
"""``first`` is done before the steps, ``aside`` only when something leads there."""

_WORDS: tuple[tuple[Purpose, str], ...] = (
    (
        "aside",
        r"roll ?-?backs?|rolling back|back ?-?out|backing out|revert(?:ing)?|undo(?:ing)?"
        r"|escalations?"
        r"|escalation (?:path|procedure|policy|steps?)|escalate|fallback|contingency|recovery plan"
        r"|abort(?:ing)?|rückfall\w*|eskalation|zurückrollen|retour arrière|escalade|escalamiento"
        r"|reversión|when (?:and how )?to escalate|failure recovery|emergency stop",
    ),
    (
        "inputs",
        r"parameters?|inputs?|arguments?|variables?|required information|information needed"
        r"|parameter"
        r"|eingaben|paramètres|parámetros|placeholders?|environment variables?"
        r"|(?:required|needed|necessary|mandatory) (?:inputs?|information|data|details|fields|facts"
        r"|values)(?: (?:from|for|by|to)\b.*)?|inputs? (?:from|for|of|needed|required|to)\b.*"
        r"|(?:information|data|details|facts|values) (?:needed|required|to (?:collect|gather|obtain"
        r"|provide|have ready|ask for)|(?:you|we) (?:will )?need)\b.*",
    ),
    (
        "guardrails",
        r"rules?|guard ?rails?|constraints?|polic(?:y|ies)|limits?|warnings?|cautions?"
        r"|safety(?: \w+)?"
        r"|dos and don'?ts|do'?s and don'?ts|do not|don'?ts|never|important|caveats|restrictions?"
        r"|limitations?|regeln|warnung(?:en)?|règles|avertissements?|reglas|advertencias|principles"
        r"|guidelines|best practices|requirements and constraints|core principles",
    ),
    (
        "roles",
        r"roles?(?: (?:and|&) responsibilities)?|responsibilit(?:y|ies)|raci|rollen|rôles"
        r"|participants"
        r"|people involved",
    ),
    (
        "note",
        r"references?|see also|links?|related(?: \w+)*|resources|further reading|change ?-?log"
        r"|history"
        r"|revision history|revisions?|version history|document (?:control|history|information)"
        r"|glossary|definitions?|acronyms|appendix(?: \w+)?|appendices|table of contents"
        r"|contents|toc"
        r"|licen[sc]e|authors?|contributors|acknowledg(?:e)?ments|contacts?|faqs?"
        r"|frequently asked questions|examples?|sample output|metadata|tags|notes?|additional notes"
        r"|additional (?:resources|information|reading)|useful links|siehe auch|verweise|notizen"
        r"|références|referencias|notas|lessons learned|contact information"
        r"|approvals? and sign-?offs?",
    ),
    (
        "objective",
        r"objectives?|goals?|purpose|overview|summary|meaning|about|introduction|intro|scope|impact"
        r"|description|abstract|background|context|symptoms?|what (?:is|does|it|this)\b.*|why\b.*"
        r"|full context|severity|audience|applicability|when to use.*|use this when|trigger(?:s"
        r"|ed)?"
        r"(?: \w+)?|causes?|possible causes?|root causes?|user impact|business impact|customer "
        r"impact"
        r"|alert (?:description|details|meaning)|ziel|zweck|überblick|bedeutung|auswirkung(?:en)?"
        r"|objectif|aperçu|but|contexte|signification|objetivo|propósito|resumen|significado"
        r"|impacto"
        r"|how it works|architecture|frequency|schedule|definition of done|expected (?:outcome"
        r"|result)s?"
        r"|success criteria|exit criteria|outcomes?",
    ),
    (
        "first",
        r"before you (?:begin|start)|pre-?requisites?|pre-?conditions?|requirements|preparations?"
        r"|prepare|pre-?checks?|pre-?flight(?: \w+)*|you(?:'ll| will) need|what you need|setup"
        r"|access"
        r"|required (?:access|permissions|tools)|voraussetzungen|vorbereitung|avant de commencer"
        r"|prérequis|antes de empezar|requisitos(?: previos)?|pre-?\w+ (?:steps|checklist|tasks)"
        r"|access requirements|assumptions|tools(?: required| needed)?|entry criteria",
    ),
    (
        "steps",
        r"steps?|procedures?|instructions?|diagnos(?:is|e|tics?)|mitigations?|resolutions?|resolve"
        r"|remediations?|remedy|investigations?|investigate|triage|verifications?|verify"
        r"|validations?"
        r"|validate|checks?|checklist|actions?(?: (?:items|plan|steps))?|playbook|runbook|process"
        r"|workflow|how to\b.*|tasks?|response|respond|containment|eradication|recovery|recover"
        r"|identification|post-?\w+ ?(?:steps|checks|tasks|checklist|actions)?|fix(?:es|ing)?"
        r"|solutions?|troubleshooting|debug(?:ging)?|immediate actions?|initial response|detection"
        r"|communications?|clean ?-?up|cleanup|execution|deploy(?:ment)?|installation|upgrade"
        r"|testing"
        r"|monitoring|follow ?-?up|after\w*|completion|closure|what to do.*|quick (?:start|fix"
        r"|checks?)"
        r"|vorgehen|schritte|ablauf|diagnose|behebung|überprüfung|durchführung|maßnahmen|procédure"
        r"|étapes|diagnostic|vérification|résolution|procedimiento|pasos|diagnóstico|mitigación"
        r"|verificación|resolución|usage|method|protocol|stop gaps?|manual steps?|course of action"
        r"|initial (?:steps|checks|assessment)|assessment|analysis|implementation|rollout"
        r"|activation",
    ),
)
_PATTERNS: tuple[tuple[Purpose, re.Pattern[str]], ...] = tuple(
    (purpose, re.compile(rf"(?:{words})", re.IGNORECASE)) for purpose, words in _WORDS
)
_LEADING = re.compile(
    r"(?:(?:the|a|an|your|our|general|common|basic|main|detailed|key|manual|initial|standard"
    r"|possible"
    r"|suggested|recommended|optional|emergency|quick|full)\s+)+",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:(?:step|phase|stage|part|task|section|schritt|étape|paso|passo|fase)"
    r"(?:\s*#?(?P<step>[0-9]+(?:\.[0-9]+)*[a-z]?)|\s+(?P<roman>[ivx]+|[a-z]))\b\s*[.:)–—-]*\s*"
    r"|[①-⑳]\s*|(?P<number>[0-9]+(?:\.[0-9]+)*[a-z]?)(?:[.:)]+|\s+[-–—])?\s+|(?P<letter>[A-Z])[.)]\s+)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`~#:\[\]]|\{#[^}]*\}|\([^)]*\)|[^\w\s'&/.,?!-]")


def purpose_of(title: str) -> Purpose:
    """What the section under a heading is for; its number does not count."""
    said = bare_title(title)
    for purpose, pattern in _PATTERNS:
        if pattern.fullmatch(said):
            return purpose
    words = _LEADING.sub("", said, count=1)
    for purpose, pattern in _PATTERNS:
        if words != said and pattern.fullmatch(words):
            return purpose
    return _by_a_word(said)


def _by_a_word(said: str) -> Purpose:
    """A heading of a few words goes by its last words, else by its first: ``Database rollback``."""
    words = said.split()
    if not 1 < len(words) <= 6:
        return "unknown"
    patterns = dict(_PATTERNS)
    last = (words[-1], " ".join(words[-2:]))
    if not is_order(said) and patterns["inputs"].fullmatch(last[0]):
        return "inputs"
    order: tuple[Purpose, ...] = ("aside", "first", "objective", "steps", "guardrails")
    if is_clear_order(said):
        order = ("aside", "first", "steps")
    for purpose in order:
        few = len(words) <= 3 or purpose in ("aside", "first", "steps")
        if few and any(patterns[purpose].fullmatch(one) for one in last):
            return purpose
    for purpose in ("aside", "first", "steps"):
        if patterns[purpose].fullmatch(words[0]) and words[0].lower() not in _VERB_FIRST:
            return purpose
    return "unknown"


_VERB_FIRST = frozenset(
    {"deploy", "upgrade", "recover", "resolve", "verify", "validate", "check", "fix", "process"}
    | {"task", "access", "setup", "action", "test", "prepare"}
)


_ASKS_HOW = re.compile(
    r"(?:(?:how|who|whom|whose|why|where|which|when|what(?! if\b))\b"
    r"|(?:can|may|should|must|do|does|will) (?:i|we|you|they)\b)",
    re.IGNORECASE,
)


def asks(title: str) -> bool:
    """Whether a heading asks which case it is, ``Is it full?``, and not what its section tells:
    ``How do we decide?``."""
    return title.endswith("?") and not _ASKS_HOW.match(bare_title(title))


def bare_title(title: str) -> str:
    """``title`` without marks and without its number."""
    said = " ".join(_MARKS.sub(" ", title).split()).strip(" .,!-")
    numbered = _NUMBERED.match(said)
    if numbered and numbered.end() < len(said):
        said = said[numbered.end() :]
    return said.strip()


def step_number(title: str) -> str:
    """The number that a heading gives to a step: ``Step 3: …``, ``Phase 2``, ``1. …``; else
    empty."""
    said = " ".join(_MARKS.sub(" ", title.replace(":", " : ")).split())
    found = _NUMBERED.match(f"{said} ")
    return next((one.lower() for one in found.groups() if one), "") if found else ""


_STEP = re.compile(r"[*_\s]*(?:step|schritt|étape|paso|passo)\s*#?[0-9]+", re.IGNORECASE)


_OF_NAMES = re.compile(
    r"(?:\w{3,}(?:tion|ment|ity|ness|ance|ence|ing|ship)s?|methods?|rules?|polic(?:y|ies)"
    r"|process(?:es)?"
    r"|procedures?|timelines?|types?|levels?|criteria|overview|guidelines?|windows?|schedules?"
    r"|matrix"
    r"|history|notes?|details|terms|options?|reasons?|control|cadence)",
    re.IGNORECASE,
)


def is_name(title: str) -> bool:
    """Whether a heading that could be an order is a name of two nouns or more: ``Refund Methods``,
    ``Release Cadence``."""
    words = title.split()
    return (
        1 < len(words) <= 4 and is_usual(words[0].lower()) and bool(_OF_NAMES.fullmatch(words[-1]))
    )


def is_step_heading(title: str) -> bool:
    """Whether a heading says of itself that it is a step."""
    return bool(_STEP.match(title))


def slug(title: str) -> str:
    """The anchor that Markdown renderers give to a heading."""
    said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip().lower())
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", said))
