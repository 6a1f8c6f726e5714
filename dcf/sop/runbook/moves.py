"""What a sentence of a runbook does with the flow: decides, jumps, ends, waits, repeats, asks for
somebody's approval. Sentences are read as people write them; in doubt one says nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.sop.language.duration import read_duration
from dcf.sop.language.phrase import MAX_PHRASE, Unreadable, masked
from dcf.sop.runbook.flow import NO, YES, End
from dcf.sop.runbook.wording import core, is_order, plain

_ARROW = r"(?:→|⇒|➔|➜|⟶|—>|-{1,2}>|={1,2}>)"
_IF = re.compile(
    r"(?:(?:however|but|and|also|then|now|or|else|otherwise|only|note that|alternatively|optionally"
    r"|\*\*|__|[-–]),?\s*)*(?P<word>if|in case(?: of)?|in the event(?: that| of)?|unless|should"
    r"|where applicable,? if|wenn|falls|sollte|si|en caso de(?: que)?|en cas de)\b\s*",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(rf"\s*{_ARROW}\s*|\s*[:,;]\s*(?:then\s+)?|\s+then\s+|\s+[–—]\s+")
_RUN_ON = re.compile(
    r"\b(?:is|are|was|were|has|have|not|no|fails?|failed|exists?|occurs?|appears?)\b[^,;:]{0,80}?\s"
    r"(?=(?:determine|check|verify|contact|escalate|restart|run|use|follow|see|open|notify|ask"
    r"|delete|remove"
    r"|proceed|continue|go|skip|wait|roll|stop|please)\b)"
)
"""A condition without a comma behind it."""
_INNER = re.compile(r"\([^()]*\)")
"""What stands in brackets has commas of its own."""
_ELSE_INSIDE = re.compile(
    rf"\s*(?:[,;.]|{_ARROW}|\band\b|\bor\b)?\s*\b(?:otherwise|else|if "
    rf"not)\b\s*[,:]?\s*(?:{_ARROW})?\s*"
)
_OTHERWISE = re.compile(
    r"(?:(?:otherwise|else|failing that|in (?:all|any) other cases?|sonst|andernfalls|sinon"
    rf"|de lo contrario)\b\s*(?:[,:]|{_ARROW}|\s|$)"
    r"|(?:if not|if no|if it (?:is not|isn't|does not|doesn't|did not|didn't)|if (?:this|that) "
    r"(?:is not"
    r"|isn't) the case|if (?:they|these) (?:are not|aren't|do not|don't)|si no"
    rf"|if none of (?:these|the above)[^,:]{{0,30}})\s*(?:[,:]|{_ARROW}))\s*",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"[*_`\"“(]*(?:if\s+)?(?P<label>yes|no|ja|nein|oui|non|sí|true|false|passed|failed|pass|fail"
    rf"|success|failure|successful|unsuccessful)[*_`\"”)]*\s*(?:[:,]|{_ARROW}|[-–—])[*_]*\s*",
    re.IGNORECASE,
)
_YES = frozenset({"yes", "ja", "oui", "sí", "true", "passed", "pass", "success", "successful"})
_SAME = re.compile(
    r"(?:(?:it|this|that|they|these|so|yes|there|any|one|none)\b ?)?(?:so|is|are|does|do|did"
    r"|has|have|was"
    r"|were|is the case|not|is not|isn't|are not|aren't|does not|doesn't|do not|don't)?"
    r"(?: (?:so|the case|true|there|any|one|present|found|successful|ok))?",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|none|isn't|aren't|doesn't|don't|didn't|unsuccessful)\b", re.IGNORECASE
)
_BEHIND = re.compile(
    r",?\s+(?:but\s+)?(?:if and only\s+|only\s+)?(?P<word>if|unless|in case)\s+", re.IGNORECASE
)
_ASKING = re.compile(
    r"(?:check|verify|see|determine|confirm|ask|decide|find|know|test|validate|identify|assess"
    r"|evaluate|consider|investigate|inspect|look|monitor|review|make|ensure|learn|tell|note"
    r"|understand|examine|establish|clarify|watch|observe|analy[sz]e)\b",
    re.IGNORECASE,
)
_AS_NEEDED = re.compile(
    r"(?:it(?:'s| is) )?(?:needed|necessary|required|possible|applicable|any|appropriate|desired|so"
    r"|available|relevant|unsure|in doubt|you (?:like|want|wish|prefer|have to|can|must|need "
    r"to))\b",
    re.IGNORECASE,
)
_GO = (
    r"(?:go|jump|skip|return|proceed|continue|move|advance|head|switch|fall|start|resume)"
    r"(?: (?:back|on|ahead|straight|directly|over|again|down|up))*(?: (?:to|with|at|from|through))"
)
_STEP = re.compile(
    rf"\b(?:{_GO}|(?:repeat|redo|retry|rerun|re-run|perform|execute|follow|run|do|try|see)(?: "
    rf"from)?)"
    r" (?:the )?(?:(?:steps?|phase|stage|section|part|#)\s*)+#?"
    r"(?P<step>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*)",
    re.IGNORECASE,
)
_SKIP = re.compile(
    r"(?:skip|omit|ignore)(?: over)? (?:the )?steps? #?(?P<step>[0-9]+)", re.IGNORECASE
)
_BARE_STEP = re.compile(rf"{_GO} #?(?P<step>[0-9]+)\b(?!\s*(?:%|\w))", re.IGNORECASE)
_NEXT = re.compile(
    r"(?:continue|proceed|go on|carry on|move on|go|go ahead|skip)(?: (?:on|ahead|directly))?"
    r"(?: (?:to|with|below))*(?: (?:the )?(?:next|following|rest(?: of)?|remaining)"
    r"(?: (?:step|steps|section|phase|one|check|item|below))?(?: .{0,40})?|)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[(?P<text>[^\]\n]{0,200})\]\(#(?P<anchor>[^)\s]{1,200})\)")
_NAMED = re.compile(
    rf"(?:{_GO}|(?:follow|perform|execute|run|see|use|start|begin|initiate|refer to|consult|try"
    rf"|apply"
    r"|invoke|do))\s+(?:the\s+|our\s+)?(?P<name>.{2,80}?)"
    r"(?:\s+(?:section|procedure|steps?|phase|runbook|process|instructions|part|playbook|below"
    r"|above))*"
    r"(?:\s+(?:below|above))?",
    re.IGNORECASE,
)
_RESTART = re.compile(
    r"(?:start (?:over|again)|begin again|restart (?:the |this )?(?:procedure|process|runbook|from)"
    r"|(?:go|return|start)(?: back| over| again)* (?:to|from|at) the (?:start|beginning|top)"
    r"|repeat (?:the|this"
    r"|all|these|the above|the whole)(?: \w+)? ?(?:procedure|process|steps|above)?)\b",
    re.IGNORECASE,
)
_WHAT = (
    r"(?:(?:the|this|that|our|whole|entire) )*(?:procedure|process|runbook|rotation|roll-?out"
    r"|deployment"
    r"|deploy|migration|upgrade|update|release|operation|change|maintenance|work|investigation"
    r"|playbook"
    r"|workflow|sop|execution|task|steps|checklist|cutover|failover|restore|troubleshooting"
    r"|here|now"
    r"|immediately|at once|there|right away|at this point)"
)
_STOP = re.compile(
    rf"(?:please )?(?:stop|abort|halt|cancel|exit|quit|terminate|give up|bail out)(?: {_WHAT})*"
    r"(?: and (?:stop|exit|abort))?|do not (?:proceed|continue|go on)(?: further| any further)?"
    r"(?:(?: with| to| until)\b.{0,80})?|don't (?:proceed|continue|go on)(?: further)?",
    re.IGNORECASE,
)
_FINISH = re.compile(
    rf"(?:you(?:'re| are) |we(?:'re| are) |it(?:'s| is) |that(?:'s| is) )?(?:all )?(?:done"
    rf"|finished|complete)"
    rf"|(?:finish|end)(?: {_WHAT})*|(?:there is )?nothing (?:else |more |further )*(?:to do|is "
    rf"needed"
    r"|needs to be done|needed)(?: .{0,30})?|(?:there is )?no (?:further |other |more "
    r"|additional |immediate )*"
    r"(?:action|actions|steps|work|response|remediation)(?: (?:is |are )?(?:needed|required"
    r"|necessary))?"
    r"(?: .{0,30})?|ignore(?: (?:it|this|the (?:alert|warning|message|error)))?|all good"
    r"|that(?:'s| is) (?:it|all)"
    r"|you can (?:stop|finish)(?: here)?|(?:this |that )?concludes? (?:the|this) (?:\w+ "
    r"){0,2}?(?:process"
    r"|procedure|runbook|playbook|workflow|execution)\b.{0,80}",
    re.IGNORECASE,
)
_IN_VAIN = re.compile(
    r"\b(?:reject\w*|den(?:y|ied|ial)|abort\w*|fail\w*|cancel\w*)\b", re.IGNORECASE
)
_HELPLESS = re.compile(
    r"(?:if )?(?:you |we |it |the \w+ )?(?:still )?(?:cannot|can't|can not|are unable|is unable"
    r"|unable|could not|do not|does not)"
    r"(?: be| to)?(?: still)? (?:resolve|fix|solve|repair|find|determine|identify)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:for |in )?(?:all|any|every) other (?:requests?|cases?|questions?|issues?|situations?"
    r"|things?|tasks?)\b"
    r"|(?:anything|everything) else\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*[,;]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+")
_FORBIDS = re.compile(
    r"(?:(?:you|we|they|it|the [\w ]{1,30}?) )?(?:must not|should not|shouldn't|never|may not"
    r"|cannot"
    r"|must never|can not)\b",
    re.IGNORECASE,
)
_HANDED_OVER = re.compile(
    r"(?:escalate|transfer (?:the|them|it|this|to|all)|hand (?:it |this |them )?(?:over|off)"
    r"|(?:open|raise|file|create|submit) (?:a|an) (?:\w+ ){0,2}(?:ticket|case|support request)"
    r"|(?:contact|consult|engage|involve|page|call|notify|reach out to|connect with|refer (?:it "
    r"|this )?to"
    r"|get help from|ask)\b[^.]{0,60}\b(?:support|team|engineers?|on-?call|vendor|helpdesk|help "
    r"desk"
    r"|specialists?|human|experts?|administrators?|commander|lead|manager|dba|sre)\b)",
    re.IGNORECASE,
)
_LAST_ACT = re.compile(
    r"(?:close (?:the|this|out|it)|resolve (?:the|this) (?:incident|alert|ticket|case|issue|page)"
    r"|mark (?:the|this) (?:incident|alert|ticket|issue|case|task)\b.{0,20} as (?:resolved|closed"
    r"|done|complete)|conclude|deny (?:the|it|any)|refuse|reject the|decline)\b",
    re.IGNORECASE,
)
_DUR = (
    r"(?:[0-9]+(?:\.[0-9]+)?|an?|half an|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|[0-9]+\s*-\s*[0-9]+)"
    r"[\s-]*(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|weeks?)"
)
_WAIT = re.compile(
    rf"(?:please )?(?:wait|pause|sleep|allow|hold(?: on)?)(?: for)?"
    rf"(?: (?:about|at least|approximately|around|roughly|another|an additional|a minimum "
    rf"of))?\s+(?P<time>{_DUR})\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    rf"\b(?:within|in under|in less than)(?: the (?:next|first))?\s+(?P<time>{_DUR})\b",
    re.IGNORECASE,
)
_WHO = r"(?P<who>[^.,;:()\n]{1,80})"
_NOUN = (
    r"(?:approval|sign-?off|permission|authori[sz]ation|consent|go-?ahead|green light|confirmation)"
)
_APPROVALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:get|obtain|seek|request|secure|await|receive|wait for|gain|acquire|have|ask for"
        rf"|requires?"
        rf"|needs?|with|without|subject to|pending|get|collect)\b(?: (?!the "
        rf"change)[\w'’-]+){{0,4}}? {_NOUN}s?\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        rf"\b(?:be|is|are|gets?) (?:reviewed and |explicitly |formally )?(?:approved|signed off"
        rf"|authori[sz]ed"
        rf"|confirmed)(?: in writing)? by {_WHO}",
        r"\b(?:confirm|check|clear|agree)(?: \w+){0,2}? with (?P<who>[^.,;:()\n]{1,60}?)"
        r" (?:before|whether|to proceed|if|that you (?:may|can))",
        r"\b(?:request|get|ask for|obtain|needs?|requires?|wait for) (?:a |an |the |one "
        r")?(?:code |peer |pr )?reviews?\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        r"^(?:an? |the |one )?(?P<who>(?:\w+ )?reviewer)\b(?: \([^)]*\))? (?:needs? to|must|has "
        r"to|should|will)",
        rf"\bask (?P<who>[^.,;:()\n]{{1,60}}?) (?:for (?:\w+ ){{0,3}}?{_NOUN}|to (?:approve"
        rf"|confirm|sign off|authori[sz]e))",
        rf"\b{_NOUN}s? (?:is |are |must be |has to be )?(?:required|needed|obtained|mandatory"
        rf"|granted|given)\b"
        rf"(?: (?:from|by|of) {_WHO})?",
        rf"^{_NOUN}(?: needed| required)?(?: (?:from|by|of)|:) {_WHO}",
        r"^(?P<who>[^.,;:()\n]{1,60}?) (?:must|has to|have to|needs? to|should|will) "
        r"(?:first )?(?:approve|sign off)\b",
    )
)
_PEOPLE = re.compile(
    r"\b(?:team|lead|manager|owner|engineer|commander|director|officer|customer|user|client"
    r"|admin\w*|dba|sre"
    r"|ciso|cto|cio|ceo|ic|on-?call|supervisor|head|security|legal|product|stakeholders?|board"
    r"|finance|hr"
    r"|management|vendor|requester|requestor|operator|reviewer|approver|author|maintainers?"
    r"|developers?"
    r"|colleague|peer|coordinator|department|human)\b",
    re.IGNORECASE,
)
_WHO_ENDS = re.compile(
    r"\s+(?:before|prior|via|in|on|for|to|when|if|and (?:then|wait|only|proceed|continue"
    r"|document|record)"
    r"|that|whether|using|through|by|at|as|who|which|about|unless|until|after|first|but)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_EACH = re.compile(
    r"\b(?:for|on|in|to|from|of|with|at) (?:each|every)(?: of the| one of the| and every)? "
    r"(?P<what>[a-z][\w /-]{0,50})"
    r"|^\w+ (?:each|every) (?P<object>[a-z][\w /-]{0,50})"
    r"|^go through (?:all |each |every )(?:of )?(?:the )?(?P<through>[a-z][\w /-]{0,50})"
    r"|\bfor all (?:of )?(?:the )?(?P<all>[a-z][\w /-]{0,50})"
    r"|\b(?:each|every) of (?:the|these) (?P<of>[a-z][\w /-]{0,50})"
    r"|\brepeat (?:\S+ ){0,6}?(?:for|on|with) (?:the |all |each |every |any )+(?:other |remaining "
    r"|next |further |additional )*(?P<rest>[a-z][\w /-]{0,50})",
    re.IGNORECASE,
)
_ONE_BY_ONE = re.compile(
    r"\b\w+ (?:(?:the|all|each|every|your|of) )+(?P<what>[\w/-]+(?: [\w/-]+){0,3}?),?[*_ ]+"
    r"(?:one[ -](?:by[ -]one|at a time|after (?:another|the other))|in turn|individually"
    r"|sequentially)\b",
    re.IGNORECASE,
)
_NAME_ENDS = re.compile(
    r"\s+(?:in|of|that|which|on|with|from|to|and|or|you|is|are|we|by|where|whose|this|the"
    r"|listed|do|run|using"
    r"|for|has|have|should|must|will|until|before|after|if|when|as|at|below|above|above"
    r"|affected by)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_UNTIL = re.compile(
    r"(?:repeat|retry|continue|keep|loop|iterate|redo)\b[^.]{0,80}?\b(?:until|while|as long "
    r"as)\b\s*(?P<goal>.+)",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"(?:[*_\"“(]*(?:never|do not|don't|avoid|always|under no circumstances|no one|nobody|be "
    r"careful|be aware"
    r"|beware|caution|warning|important|make sure (?:not|you do not|you don't)|ensure (?:you do "
    r"not|you don't)"
    r"|must not|only ever|only)\b)|.*?\b(?:must not|must never|should never|may not|cannot|can "
    r"not|can't"
    r"|should not|shouldn't|shall not|mustn't|is not allowed|are not allowed|not permitted|is "
    r"prohibited"
    r"|is forbidden|are prohibited|only if|must|shall|is required to|are required to|has to"
    r"|have to|required that"
    r"|under no circumstances)\b",
    re.IGNORECASE,
)
_HARD_RULE = re.compile(
    r"[*_\"“(]*(?:never|do not|don't|avoid|under no circumstances|always|be careful|beware|must "
    r"not|be aware)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """``condition`` decides whether ``then`` is done, else ``otherwise`` (both may be empty).
    ``negated``: it was said with ``unless``. ``same``: it is about what was asked just before, and
    true of the answer ``label``."""

    condition: str
    then: str
    otherwise: str = ""
    negated: bool = False
    same: bool = False
    label: str = YES


def read_decision(text: str) -> Decision | None:
    """What ``text`` decides; None when it decides nothing."""
    if len(text) > MAX_PHRASE:
        return None
    said = plain(text)
    hidden = masked(said)
    opened = _IF.match(hidden)
    if opened is None:
        return _behind(said, hidden)
    split = _consequence(said, hidden, opened.end())
    if split is None:
        return None
    condition = said[opened.end() : split[0]].strip(" *_")
    rest = said[split[1] :].strip()
    inside = _ELSE_INSIDE.search(masked(rest))
    then, otherwise = rest, ""
    if inside and inside.start() > 0:
        then, otherwise = rest[: inside.start()], rest[inside.end() :]
    if not condition:
        return None
    same = bool(_SAME.fullmatch(condition))
    label = NO if same and _NOT.search(condition) else YES
    negated = opened["word"].lower() == "unless"
    return Decision(condition, then.strip(" *_"), otherwise.strip(), negated, same, label)


def _consequence(said: str, hidden: str, begin: int) -> tuple[int, int] | None:
    """Where the condition ends and what follows from it begins."""
    first: tuple[int, int] | None = None
    hidden = _INNER.sub(lambda found: "_" * len(found[0]), hidden)
    for found in _SEPARATOR.finditer(hidden, begin):
        rest = said[found.end() :]
        mark = found[0].strip()
        if not rest.strip():
            return (found.start(), found.end()) if mark == ":" else first
        if mark[:1] not in ",;" or leads(rest):
            return found.start(), found.end()
        first = first or (found.start(), found.end())
    if first is None and (run_on := _RUN_ON.search(hidden, begin)):
        return run_on.end(), run_on.end()
    return first


def leads(text: str) -> bool:
    """Whether ``text`` is something to do, or a way to go on."""
    return is_order(text) or bool(read_end(text)) or bool(_NEXT.fullmatch(text.rstrip(".")))


def _behind(said: str, hidden: str) -> Decision | None:
    """``Restart the pod if it hangs``."""
    if _ASKING.match(core(said)) or not is_order(said):
        return None
    # What stands in brackets is said by the way.
    found = _BEHIND.search(_INNER.sub(lambda inner: "_" * len(inner[0]), hidden))
    if found is None or found.start() < 3:
        return None
    condition = said[found.end() :].strip(" .")
    if _AS_NEEDED.match(condition) or not condition:
        return None
    negated = found["word"].lower() == "unless"
    return Decision(condition, said[: found.start()].strip(), negated=negated)


def read_otherwise(text: str) -> str | None:
    """What is done otherwise; None where ``text`` is not of that."""
    found = _OTHERWISE.match(plain(text))
    return plain(text)[found.end() :].strip() if found else None


def read_answer(text: str) -> tuple[str, str] | None:
    """``Yes: …``: the label, and what follows from it."""
    found = _ANSWER.match(text)
    if found is None:
        return None
    return (YES if found["label"].lower() in _YES else NO), text[found.end() :].strip()


def read_arrow(text: str) -> Decision | None:
    """``The disk is full → drain the node``: a case, and what is done in it. A path through menus
    (``Go to Settings → Users``) is none."""
    if len(text) > MAX_PHRASE:
        return None
    parts = re.split(rf"\s*{_ARROW}\s*", masked(text), maxsplit=1)
    if len(parts) != 2 or not parts[0].strip(" *_"):
        return None
    head, tail = text[: len(parts[0])], text[len(text) - len(parts[1]) :]
    if is_order(head) or not leads(tail):
        return None
    return Decision(head.strip(" *_:"), tail.strip())


def read_end(text: str) -> End:
    """How the procedure ends here, if ``text`` says only that."""
    said = core(text).rstrip(".!; *_")
    if _STOP.fullmatch(said):
        return "stop"
    if not _FINISH.fullmatch(said):
        return ""
    return "stop" if _IN_VAIN.search(said) else "finish"


def is_last_act(text: str) -> bool:
    """Whether whoever does it is done then: ``escalate to the hardware team``."""
    return hands_over(text) or bool(_LAST_ACT.match(core(text)))


def is_of_others(text: str) -> bool:
    """``All other requests are transferred``: what is done in no case that was told."""
    return bool(_OTHERS.match(plain(text)))


def is_helpless(condition: str) -> bool:
    """Whether what is done then is done by others: ``you cannot resolve the issue``."""
    return bool(_HELPLESS.match(condition))


def hands_over(text: str) -> bool:
    """Whether somebody else goes on."""
    return any(_HANDED_OVER.match(core(part)) for part in _PARTS.split(text[:MAX_PHRASE]))


def forbids(text: str) -> bool:
    """Whether it only says what must not be done, and not that all ends."""
    return bool(_FORBIDS.match(text)) and not read_end(text) and not hands_over(text)


def goes_on(text: str) -> bool:
    """Whether it only says that the next step is next."""
    return bool(_NEXT.fullmatch(core(text).rstrip(".!; "))) or text.strip() in ("", "-", "…")


def step_jump(text: str) -> tuple[str, bool] | None:
    """The number of the step that ``text`` leads to, and whether that one is left out."""
    hidden = masked(text).replace("*", "")
    skipped = _SKIP.search(hidden)
    if skipped:
        return skipped["step"], True
    found = _STEP.search(hidden) or _BARE_STEP.search(hidden)
    return (found["step"], False) if found else None


def linked(text: str) -> list[str]:
    """The anchors of this file that ``text`` links to."""
    return [found["anchor"].lower() for found in _LINK.finditer(text)]


def named_place(text: str) -> str:
    """The words by which ``text`` names where to go on, as ``the Rollback section``."""
    said = core(text).rstrip(".!; ")
    found = _NAMED.fullmatch(said) if len(said) < 160 else None
    return found["name"].strip("*_`\"' ") if found else ""


def restarts(text: str) -> bool:
    return bool(_RESTART.match(core(text)))


def read_wait(text: str) -> int | None:
    """Seconds of ``Wait 5 minutes``."""
    found = _WAIT.match(core(text))
    return _seconds(found["time"]) if found else None


def read_deadline(text: str) -> int | None:
    """Seconds of ``within 5 minutes``."""
    found = _WITHIN.search(masked(text))
    return _seconds(found["time"]) if found else None


def _seconds(text: str) -> int | None:
    text = re.sub(r"^[0-9]+\s*-\s*(?=[0-9])", "", text)
    try:
        return read_duration(text)
    except Unreadable:
        return None


def read_approval(text: str) -> tuple[str, ...] | None:
    """Who has to agree, nobody in particular with an empty tuple; None where nobody has to."""
    if len(text) > MAX_PHRASE:
        return None
    for index, pattern in enumerate(_APPROVALS):
        found = pattern.search(text)
        if found is None:
            continue
        who = _WHO_ENDS.sub("", found.groupdict().get("who") or "").strip(" *_`\"'")
        who = re.sub(r"^(?:the|a|an|your|our|at least one|one of the|any)\s+", "", who, flags=re.I)
        if index == 2 and not _PEOPLE.search(who):
            continue
        return (who.replace("`", ""),) if who else ()
    return None


def read_each(text: str) -> str | None:
    """What a sentence is to be done for, one after another; None for one that is done once."""
    if len(text) > MAX_PHRASE:
        return None
    hidden = masked(text)
    found = _EACH.search(hidden)
    if found:
        said = next(one for one in found.groups() if one)
        return _NAME_ENDS.sub("", said).strip(" -/") or None
    found = _ONE_BY_ONE.search(hidden)
    return " ".join(found["what"].split()[-2:]) if found else None


def read_until(text: str) -> str | None:
    """The goal of ``Repeat until all are healthy``."""
    found = _UNTIL.match(core(text)) if len(text) < MAX_PHRASE else None
    return found["goal"].strip(" .") if found else None


def is_rule(text: str) -> bool:
    """Whether it is a rule rather than something to do at one moment."""
    return len(text) < MAX_PHRASE and bool(_RULE.match(masked(plain(text))))


def is_hard_rule(text: str) -> bool:
    """Whether it forbids or demands something throughout."""
    return bool(_HARD_RULE.match(plain(text).lower()))
