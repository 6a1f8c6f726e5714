"""Cases that headings, labels and the lines over lists name, without a word that says *if*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.answers import ARROW, read_answer
from dcf.sop.runbook.conditions import Decision, opens, read_alone, read_decision
from dcf.sop.runbook.consequences import bids, is_verdict, leads
from dcf.sop.runbook.ends import hands_over, is_last_act
from dcf.sop.runbook.headings import bare_title
from dcf.sop.runbook.jumps import repeats
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.verbs import is_verb
from dcf.sop.runbook.wording import Piece, core, is_order, pieces, plain

_ANY_OF = re.compile(
    r"(?P<then>.*?),?\s+(?:only\s+)?(?:if|when|in case|in the event(?: that)?)(?:\s+(?:any|one|some"
    r"|all|either|at least one|the following|these|of|conditions?|is|are|apply|applies|true|met"
    r"|happens?|occurs?|holds?|or|more|criteria|situations?))*\s*:",
    re.IGNORECASE,
)
_DEPENDS = re.compile(
    r"(?:.*\b(?:depend(?:ing|s)? (?:up)?on|according to|based on|one of (?:the following|these)"
    r"|either of|whichever|as follows|in (?:the following|these) (?:cases|situations|scenarios)"
    r"|(?:following|common|possible|typical|known) (?:\w+ )?(?:cases?|causes?|scenarios?|symptoms?"
    r"|issues?|problems?|errors?|reasons?|situations?))\b.*)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?P<mark>\*\*|__|\*|`)(?P<bold>(?:(?<=\*\*)[^*\n]{3,90}?|[^*_`\n]{3,90}?))\s*:?(?P=mark)\s*(?:[:–—-]"
    r"|\?)?\s*(?P<then>\S.*)"
    r"|(?P<bare>(?:[^*_`:.\n]|\.(?=\d)){3,60}?)\s*:\s+(?![-=–—→])(?P<told>\S.*)",
    re.DOTALL,
)
_STATE = re.compile(
    r"\b(?:is|are|was|were|has|have|isn['’]t|aren['’]t|cannot|can['’]t|won['’]t|doesn['’]t|don['’]t"
    r"|does not|do not|did not|fails?|hangs?|crash(?:es)?|exceeds?|rises?|drops?|stays?|keeps?"
    r"|exists?|occurs?|appears?|gets?|becomes?|stops?|times? out)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:not|no|stuck|down|missing|unavailable|unreachable|failed|failing|failures?|full|lost"
    r"|expired|broken|slow|pending|exhausted|stopped|unhealthy|degraded|blank|invalid|wrong|denied"
    r"|refused|unknown|crash\w*|too (?:many|few|high|low|large|slow|big|old)|high|low|insufficient"
    r"|errors?|timed? ?outs?|leaks?|corrupt\w*|mismatch|unresponsive|outage|overload\w*|without"
    r"|violat\w+|(?:un|mis)\w{4,}ed|scaled|restarting|looping|evicted|throttl\w+|rejected"
    r"|unauthori[sz]ed|incorrect)\b"
    r"| (?:open|closed|locked|offline|critical|exceeded)$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"[<>≤≥≠]|\b(?:less|more|fewer|greater|higher|lower|larger|smaller|older|newer|longer|shorter"
    r"|bigger|later|earlier) than\b|\b(?:above|below|over|under|between|beyond|exceeding|at least"
    r"|at most|up to) [~€$£]?[0-9]|\b[0-9]+ ?[–-] ?[0-9]+ ?[%°€$£]|^(?:out of|no|none|nothing"
    r"|nobody|neither|not|any|still|only|everything|everybody|everyone|without"
    r"|too (?:many|few|much|little)) .",
    re.IGNORECASE,
)
"""A measure, or a negation ahead: ``Between 5 and 8 °C``, ``No answer after a minute``."""
_CLAUSE = re.compile(r"(?:it|they|he|she|there|you|we) [\w'’]+", re.IGNORECASE)
_FAULTY = re.compile(rf".* {_FAULT.pattern.partition('| (?:open')[0]}$", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"(?:notes?|tips?|hints?|info\w*|warnings?|caution|important|examples?|steps?|actions?"
    r"|commands?|goal|purpose|results?|expected\b.*|output|owner|role|contact|why|how|what|when"
    r"|where|who|optional\w*|recommended|references?|see|usage|prerequisites?|phase|deadline|time"
    r"|duration|frequency|priority|first|second|third|then|next|finally|also|remember)\b",
    re.IGNORECASE,
)
"""Names what follows it, and no case."""
_QUESTION = re.compile(
    r"(?P<asked>(?!(?:what|how|why|who|whom|whose|which|where|when)\b)[^?]{3,160})\?[*_\"”]*\s+"
    r"(?P<then>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_LOOKS = re.compile(
    r"(?:check|verify|see|determine|confirm|find|test|validate|identify|assess|evaluate|inspect"
    r"|investigate|look|review|examine|compare|count|measure|search|list|query|calculate|open"
    r"|watch|observe|analy[sz]e)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“'‘«][^\"”'’»]+[\"”'’»]")
"""What somebody or something says: ``"Password expired": …``."""
_KIND = re.compile(
    r"(?:real|true|false|known|unknown|new|existing|returning|first-time|internal|external|minor|major"
    r"|urgent|partial|incomplete|incorrect|valid|invalid) [\w-]+(?: [\w-]+)?"
    r"|(?:sev|severity|p|prio|priority|class|category|type|grade|level|tier)[ -]?[0-9]+"
    r"(?: (?:or|and) (?:lower|higher|above|below))?",
    re.IGNORECASE,
)
"""One of two kinds: ``False alarm: …``."""
_GRADE = re.compile(
    r"(?:critical|severe|high|medium|moderate|low|emergency|urgent|informational|confirmed|suspected"
    r"|(?:not |un)confirmed|unverified|verified|minor|major|patch|hotfix|bug-?fix|security|feature"
    r"|pre-?release|beta|stable|nightly|routine|standard|normal|benign|malicious|suspicious|harmless)"
    r"(?: (?:severity|priority|risk|impact|urgency|incidents?|cases?|events?|breach(?:es)?|changes?"
    r"|findings?|releases?|requests?|fix(?:es)?|activity|behaviou?r|traffic|files?|builds?"
    r"|compromise))?"
    r"|(?:suspected|confirmed|unconfirmed|possible|potential|attempted|reported|alleged|unauthori[sz]ed)"
    r"(?: [\w-]+){1,5}",
    re.IGNORECASE,
)
"""How bad, sure or large it is: ``Critical: …``, ``Suspected breach: …``."""
_ALONE = re.compile(r"(?:[\w.-]+ ){1,4}only|only (?:[\w.-]+ ?){1,4}", re.IGNORECASE)
"""``Patch releases only: …``."""
_DASHED = re.compile(r"(?P<head>[^\n]{3,80}?)\s+(?:--|[–—])\s+(?P<then>\S[^\n]*)")
_TORN = re.compile(
    r"(?:if|unless|in case)\b(?!.* (?:will|must|should|please|can|then)\b)", re.IGNORECASE
)
_LEFT = re.compile(r"(?:nothing|none of|neither|still not|no longer) [a-z]", re.IGNORECASE)
_OF_THIS = re.compile(
    r"(?:this|it|these) (?:[\w-]+ )?(?:applies|apply|is used|fires|triggers)|to (?:use|apply)\b.*",
    re.IGNORECASE,
)
"""When the whole text is for: ``When this applies``."""
_WHEN_TO = re.compile(r"when (?:and how )?(?:to|should (?:i|you|we)) ", re.IGNORECASE)
_OF_USE = re.compile(r"(?:use|apply|follow|run|read|start|call|invoke|perform|execute|do)\b", re.I)
"""When the text itself is for: ``When to use this runbook``."""
_TRIGGER = re.compile(
    r"[*_]{1,2}(?:triggers?|conditions?|when|if|criteria|applies (?:to|when)|signs?|symptoms?)"
    r"\s*(?::[*_]{1,2}|[*_]{1,2}\s?[:–—-])\s+(?=\S)",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"[*_]{1,2}(?:actions?|response|what to do|resolution|remedy|fix|then|do|decision)"
    r"(?: \w+)?\s*(?::[*_]{1,2}|[*_]{1,2}\s?[:–—-])\s+(?=\S)",
    re.IGNORECASE,
)
_IF_SO = re.compile(
    r"(?:what to do|(?:the )?(?:next )?(?:steps?|procedure|actions?)(?: to take)?|how to "
    r"(?:proceed|respond|react))\s*(?:if|when|in (?:the )?(?:case|event)(?: of| that)?)\s+(?=\S)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|how|why|who|which|where|when|for|this|that|it|we|you|there)\b", re.IGNORECASE
)
_OF_CASES = re.compile(
    r".*\b(?:cases|scenarios|situations|exceptions|circumstances|variants|options|alternatives"
    r"|failure modes|problems|issues|errors|symptoms|causes|failures|type notes|types)$"
    r"|(?:detect|determine|identify|classify|establish)\b.* (?:type|kind|category|scenario|case)"
    r"|troubleshooting\b.*|(?:common|known|special|edge) .*",
    re.IGNORECASE,
)
_ONE_OF = re.compile(
    r"(?:scenario|case|option|alternative|variant|situation|symptom|problem|issue|error|cause"
    r"|condition|possibility|finding|fall|cas|caso)"
    r"(?:\s*#?[0-9]+|\s+[A-Za-z](?=\s*[:.)–—-]))?\s*[:.)–—-]\s*(?=\S)",
    re.IGNORECASE,
)
_VARIANT = re.compile(
    r"(?:on|in|with|without|using|via|from|for) \S.*"
    r"|.*\b(?:users|customers|clients|employees|members|accounts|tenants|patients|students|orders)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?P<said>[^\n]{8,300}?)\.\s+(?P<word>(?:(?:in|for) (?:this|that|such a|these|such) cases?"
    r"|(?:when|if) (?:this|that) (?:happens|occurs|is (?:so|the case))|if so),?\s+)?(?P<then>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_VERSIONS = re.compile(
    r".*[0-9]\S* (?:and|or) (?:later|newer|above|older|earlier|below|higher|lower|up)"
    r"|(?:before|until|since|up to|older than|newer than) \S.*[0-9].*",
    re.IGNORECASE,
)
_SOME_OF = re.compile(
    r"(?P<kind>(?:any |all )?[A-Za-z][\w-]*s(?: [\w-]+){0,2}? (?:with(?:out)?|over|under|above"
    r"|below|between|(?:(?!other|rather)[a-z]+er|more|less) than) [^.;:?!]{3,160}?),?"
    r" (?:should|must|need to|have to|are to) (?!not\b)[a-z][^?]*",
    re.IGNORECASE,
)
_VARIES = re.compile(
    r"\b(?:depend(?:s|ing) (?:up)?on|according to)\b(?! how\b)[^.;:]{0,80}[.:]?$"
    r"|\bone of the\b[^.;]{0,40}\b(?:methods|ways|options|procedures|approaches|cases|scenarios)\b",
    re.IGNORECASE,
)
_LONGEST_STATE = 12
_BOLD = re.compile(r"(?:\*\*|__)[^*_\n]{3,90}(?:\*\*|__)[.:]?")


def read_case(title: str) -> Decision | None:
    """What a heading or a line in bold letters says to be the case for what stands below it."""
    said = plain(title).rstrip(" :.?")
    alone = read_alone(said)
    if alone is not None:
        return None if _OF_THIS.fullmatch(alone.condition) else alone
    named = _ONE_OF.match(said) or _IF_SO.match(said)
    if named:
        return Decision(said[named.end() :].strip(" *_"), "")
    is_so = is_state(bare_title(said)) or _LEFT.match(said)
    return Decision(said, "") if is_so else None


def decides(section: Section) -> bool:
    """Whether a sentence of a section says what is done in some case, or over a list in which."""
    for block in section.blocks:
        for one in (block, *block.children):
            first = one.children[0] if one.kind == "item" and one.children else one
            for piece in pieces(first.lines) if first.kind == "text" else ():
                decision = read_decision(piece.text)
                if decision and (piece.text.endswith(":") or bids(decision.then)):
                    return True
    return False


def acts(text: str) -> bool:
    """Whether ``text`` tells somebody to do something, always or in some case."""
    if is_order(text) or repeats(text):
        return True
    answer = read_answer(text)
    if answer is not None and leads(answer[1]):
        return True
    decision = read_decision(text) or read_case_of(text)
    return decision is not None and leads(decision.then)


def read_case_of(text: str) -> Decision | None:
    """The case that a sentence names without a word for it, and what is done in it."""
    told = read_arrow(text) or read_asked(text) or read_told(text) or read_labelled(text)
    return told or read_measured(text) or read_kind(text)


def read_when_to(title: str) -> str:
    """``When to escalate``: what is done in each of the cases below it; empty for none."""
    found = _WHEN_TO.match(title)
    then = title[found.end() :].strip() if found else ""
    return then if hands_over(then) or (is_order(then) and not _OF_USE.match(then)) else ""


def read_trigger(text: str) -> str | None:
    """``**Trigger**: the gate is down``: what is so then; None where ``text`` does not say it."""
    found = _TRIGGER.match(text)
    return text[found.end() :].strip() if found else None


def is_action(text: str) -> bool:
    """Whether a label says that what follows is to be done: ``**Action**: refund it``."""
    return bool(_ACTION.match(text))


def has_cases(title: str) -> bool:
    """Whether what stands below a heading are cases: ``Special cases``, ``Common issues``."""
    return bool(_OF_CASES.fullmatch(title.strip()))


def is_state(text: str) -> bool:
    """Whether ``text`` is a clause that tells how something is: ``Disk is full``."""
    said = text.rpartition(": ")[2]
    if _ASKS.match(said):
        return False
    return len(said.split()) <= _LONGEST_STATE and bool(_STATE.search(said)) and not is_order(said)


def is_fault(text: str) -> bool:
    """Whether ``text`` names something that is wrong: ``Pod stuck in Pending``."""
    few = len(text.split()) <= _LONGEST_STATE and not _ASKS.match(text)
    return few and not is_order(text) and bool(_STATE.search(text) or _FAULT.search(text))


def is_variant(title: str) -> bool:
    """Whether a heading beside others says for what its steps are: ``On macOS``, ``New users``."""
    if _VERSIONS.fullmatch(title):
        return True
    return bool(_VARIANT.fullmatch(title)) and not is_order(title)


def read_measured(text: str) -> Decision | None:
    """``less than 2 days -- repair it now``: a measure, and what is done then."""
    found = _DASHED.match(text) if len(text) <= MAX_PHRASE else None
    if found is None or opens(text):
        return None
    if not (_COMPARED.search(found["head"]) or _GRADE.fullmatch(found["head"].strip("*_ "))):
        return None
    head = found["head"]
    if is_order(head) or not bids(found["then"]):
        return None
    return Decision(head.replace("*", "").strip(" *_:"), found["then"])


def names_what_follows(text: str) -> bool:
    """Whether ``text`` is nothing but a label of what stands below it: ``**Command:**``."""
    label = text.strip(" *_:")
    return text.rstrip(" *_").endswith(":") and bool(_ANNOUNCES.fullmatch(label))


def begins(text: str) -> bool:
    """Whether ``text`` is something to do, of which the label before it leaves no doubt: any verb
    ahead is one."""
    first = re.match(r"[a-z]+(?:-[a-z]+)*", core(text), re.IGNORECASE)
    return leads(text) or (first is not None and is_verb(first[0].lower()))


def read_labelled(text: str, any_label: bool = False, explained: bool = False) -> Decision | None:
    """``**Login fails**: reset the password``. ``any_label``: whatever stands before the colon is
    a case, as in a list below ``Depending on …``. ``explained``: what is to be done follows in
    another sentence."""
    if len(text) > MAX_PHRASE:
        return None
    found = _LABELLED.match(text)
    if found is None or opens(text) or read_answer(text) is not None:
        return None
    label = (found["bold"] or found["bare"]).strip(" :*_")
    then = (found["then"] or found["told"]).strip()
    if _ANNOUNCES.fullmatch(label) or not (begins(then) or explained or is_verdict(then)):
        return None
    graded = " " in then and bool(_GRADE.fullmatch(label) or _ALONE.fullmatch(label))
    if (
        is_order(label)
        and not graded
        and not (any_label and found["bold"])
        and not _FAULTY.match(label)
    ):
        return None
    if any_label or graded or (is_case_like(label) if found["bold"] is None else is_fault(label)):
        return Decision(label, then)
    return None


def names_no_case(label: str) -> bool:
    """Whether ``label`` only names what follows it: ``Note``, ``Example``, ``Owner``."""
    return bool(_ANNOUNCES.fullmatch(label))


def is_case_like(label: str) -> bool:
    """Whether ``label``, in front of something to do, tells what is so then."""
    if len(label.split()) > _LONGEST_STATE:
        return False
    if is_state(label) or _COMPARED.search(label) or _CLAUSE.match(label) or _FAULTY.match(label):
        return True
    return bool(_QUOTED.fullmatch(label) or _KIND.fullmatch(label))


def read_asked(text: str) -> Decision | None:
    """``Did anybody click? Reset their password``: a question, and what is done if it is so."""
    found = _QUESTION.match(plain(text)) if len(text) <= MAX_PHRASE else None
    if found is None or read_answer(found["then"]) or opens(found["then"]):
        return None
    if _LOOKS.match(core(found["then"])):  # the answer, rather than what follows from it
        return None
    then = re.sub(r"^then,?\s+", "", found["then"], flags=re.IGNORECASE)
    return Decision(found["asked"].strip(" *_"), then) if leads(then) else None


def read_kind(text: str) -> Decision | None:
    """``Parcels over 20 kg must be carried by two``: what is done with some of several things."""
    found = _SOME_OF.fullmatch(plain(text)) if len(text) <= MAX_PHRASE else None
    return Decision(found["kind"].strip(" ,"), found[0]) if found else None


def read_told(text: str) -> Decision | None:
    """``The log may be empty. In this case, restart it``: what is done if it is as the sentence
    before says."""
    found = _TOLD.match(text) if len(text) <= MAX_PHRASE else None
    if found is None:
        return None
    said, then = found["said"].strip(), found["then"]
    alone = read_alone(plain(said)) if opens(said) else None
    if not bids(then) or opens(said) != (found["word"] is None):
        return None
    if is_order(said) if alone is None else read_decision(said) is not None:
        return None
    return Decision(alone.condition if alone else plain(said), then)


def joined(said: Sequence[Piece]) -> list[Piece]:
    """``said`` with each question, or case in bold letters, and what is done then as one."""
    found: list[Piece] = []
    for one in said:
        before = found[-1] if found else None
        if before is not None and (before.text.endswith("?") or _BOLD.fullmatch(before.text)):
            whole = f"{before.text} {one.text}"
            if read_asked(whole) or read_labelled(whole):
                found[-1] = Piece(before.line, one.last, whole)
                continue
        if before is not None and _is_torn(before.text) and bids(one.text):
            found[-1] = Piece(before.line, one.last, f"{before.text.rstrip('.')}, {one.text}")
            continue
        if before is not None and read_told(f"{before.text} {one.text}"):
            found[-1] = Piece(before.line, one.last, f"{before.text} {one.text}")
            continue
        found.append(one)
    return found


def _is_torn(text: str) -> bool:
    """Whether a full stop parts a condition from what follows: ``If he disagrees. He can …``."""
    said = plain(text)
    whole = said.endswith(".") and "," not in said and _TORN.match(said)
    return bool(whole) and read_decision(said) is None and read_alone(said) is not None


def read_any_of(text: str) -> str | None:
    """``Contact support if any of these is true:``: what is done when something in the list below
    is so."""
    found = _ANY_OF.fullmatch(plain(text).strip(" *_"))
    return found["then"].strip(" *_") if found and bids(found["then"]) else None


def depends(text: str) -> bool:
    """Whether one of several things below is done: ``Depending on the type:``."""
    return text.rstrip(" *_").endswith(":") and bool(_DEPENDS.match(text))


def depends_on(text: str) -> bool:
    """Whether what is done depends on something: ``The repair depends on which part is worn.``"""
    return bool(_VARIES.search(plain(text)))


def read_arrow(text: str) -> Decision | None:
    """``The disk is full → drain the node``: a case, and what is done in it. A path through menus
    (``Go to Settings → Users``) is none."""
    if len(text) > MAX_PHRASE:
        return None
    parts = re.split(rf"\s*{ARROW}\s*", masked(text))
    head, tail = text[: len(parts[0])], text[len(text) - len(parts[-1]) :]
    if len(parts) < 2 or not head.strip(" *_"):
        return None
    if len(parts) > 2 and parts[-2].endswith("?"):
        # ``Check the seal → Broken? → Refuse it``: what is looked at, what is found, what is done.
        head = text[: len(text) - len(parts[-1])].rstrip(" →⇒➔➜⟶—-=>")
    elif len(parts) > 2:
        tail = text[len(head) :].lstrip(" →⇒➔➜⟶—-=>")
    done = [one for one in re.split(r",\s+", tail) if leads(one) or is_last_act(one)]
    if (is_order(head) and not head.endswith("?")) or not done:
        return None
    return Decision(head.strip(" *_:"), tail.strip())
