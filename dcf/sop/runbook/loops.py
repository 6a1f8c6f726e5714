"""Sentences that are done for each of several things, or until something is so."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.procedure import Value
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.items import are_steps
from dcf.sop.runbook.jumps import in_active
from dcf.sop.runbook.placeholders import input_name
from dcf.sop.runbook.scope import Reader, Scope
from dcf.sop.runbook.wording import Piece, core, is_order, plain
from dcf.sop.runbook.writer import Writer

_EACH = re.compile(
    r"\b(?:for|on|in|to|from|of|with|at) (?:each|every)(?: of the| one of the| and every)? "
    r"(?P<what>[a-z][\w /-]{0,50})"
    r"|^\w+ (?:and \w+ )?(?:each|every) (?P<object>[a-z][\w /-]{0,50})"
    r"|^(?:go|work|walk|loop|iterate|step) (?:through|over) (?:(?:all |each |every |of )+(?:the )?"
    r"|(?:the |a )(?:list of |set of |(?=[\w -]*s\b)))(?P<through>[a-z][\w /-]{0,50})"
    r"|(?<!ask )(?<!asking )(?<!look )"
    r"\b(?:on|in|for|to) (?:both|all)(?: of)?(?: the| your| our)? (?P<both>(?!cases?\b|times?\b|"
    r"sides?\b|other\b|costs\b)[a-z][\w /-]{0,50})"
    r"|(?<!ask )(?<!asking )(?<!look )\bfor all (?:of )?(?:the )?(?P<all>[a-z][\w /-]{0,50})"
    r"|\b(?:each|every) of (?:the|these) (?P<of>[a-z][\w /-]{0,50})"
    r"|\b(?:before|after) each (?P<turn>[a-z][\w /-]{0,50})"
    r"|^(?:once )?per (?P<per>[a-z][\w /-]{0,50})(?=,)"
    r"|^(?:do|apply|perform|carry out) (?:exactly )?the same (?:steps? |thing |procedure "
    r"|process )?"
    r"(?:for|on|with|to|in) (?:the |all |all the |each |every )?(?:other |remaining |rest of the )+"
    r"(?P<same>[a-z][\w /-]{0,50})"
    r"|^\w+ (?:all|any)(?: of)?(?: the)? (?P<found>(?!(?:requir|need|relat|recommend|us|associat"
    r"|expect|involv)ed\b)[a-z-]+ed [\w -]{0,30}?[a-z]{2,}s\b)"
    r"|\brepeat (?:the |these |this )?(?:steps?|procedure|process|measurements?|above)"
    r"(?: [0-9]+[a-z]?| and| to| ?[-–]|,)* (?:for|on|with|in|using) (?P<again>\S[\w /-]{0,50})"
    r"|\brepeat(?:ed)? (?:\S+ ){0,6}?(?:for|on|with) (?:the |all |each |every |any |several "
    r"|multiple |both |as many )+(?:other |remaining "
    r"|next |further |additional )*(?P<rest>[a-z][\w /-]{0,50})",
    re.IGNORECASE,
)
_STRESSED = re.compile(r"\b(?:ALL|EACH|EVERY) (?:of (?:the )?|the )?(?P<what>[a-z][\w /-]{0,50})")
_ONE_BY_ONE = re.compile(
    r"\bone (?P<single>[a-z][\w/-]*(?: [\w/-]+)?) at a time\b|\b(?P<unit>[a-z]{3,}) by (?P=unit)\b"
    r"|\b\w+ (?:(?:the|all|each|every|your|of) )*(?P<what>[\w/-]+(?: [\w/-]+){0,3}?),?[*_ ]+"
    r"(?:one[ -](?:by[ -]one|at a time|after (?:another|the other))|in turn|individually"
    r"|sequentially)\b",
    re.IGNORECASE,
)
_NO_UNITS = frozenset({"side", "step", "little", "day", "year", "bit", "word", "letter"})
"""``Step by step`` is a manner."""
_NAME_ENDS = re.compile(
    r"\s+(?:in|of|that|which|on|with|from|to|and|or|you|is|are|we|by|where|whose|this|the"
    r"|listed|do|run|using"
    r"|for|has|have|should|must|will|until|before|after|if|when|as|at|below|above|into|onto"
    r"|under|over|through|between|within|without|during|upon|per|affected by)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_UNTIL = re.compile(
    r"(?P<act>(?P<verb>[\w-]+)\b[^.]{0,120}?)\b(?:until|till|while|as long as)\b\s*(?P<goal>.+)",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"(?:repeat|retry|redo|loop|iterate|continue|rerun|re-run)$", re.IGNORECASE)
_REPEATS = re.compile(r"\band (?:then )?(?:repeat|retry|try again|start again)\s*$", re.IGNORECASE)
_LASTS = re.compile(r"(?:repeat|retry|redo|loop|iterate|continue|keep)$", re.IGNORECASE)
_DOING = re.compile(r"\w+ (?:to )?\w+ing\b")
_A_TIME = re.compile(
    r"(?:further notice|then|now|later|tomorrow|today|the (?:next|end|start|following)|next|[0-9]"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|midnight|noon|after)\b",
    re.IGNORECASE,
)
_NO_LOOP = re.compile(
    r"(?:do not|don't|never|leave|hold off|avoid|delay|postpone)\b", re.IGNORECASE
)
_PERIODIC = re.compile(
    r"\b(?:every|each) (?:(?:other|[0-9]+|few|couple of|two|three|five|ten|fifteen|twenty|thirty)"
    r"(?: ?(?:to|-|–) ?[0-9]+)? )?(?:seconds?|minutes?|mins?|hours?)\b"
    r"|\b(?:at|in) (?:[\w-]+ )?[0-9]+[- ](?:second|minute|hour)s? intervals?\b"
    r"|\bhourly\b(?=\W*$| (?:until|while|as|from|during)\b)",
    re.IGNORECASE,
)
MAX_LOOPS = 4
"""Loops inside loops; a deeper one is done as one step."""


class Loops:
    """Turns steps into loops; ``reader`` reads what is done in each turn."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self.writer = writer
        self.reader = reader

    def repeat(
        self,
        node: Node,
        each: str,
        first: Piece,
        rest: list[Piece],
        below: list[Block],
        scope: Scope,
    ) -> None:
        """Turn ``node`` into a loop: over what stands below it, or else over itself."""
        inner = Scope([], scope.section, scope.loops + 1)
        lists = [block for block in below if block.kind == "list"]
        over_steps = any(are_steps(block.children) for block in lists)
        if not (over_steps and core(first.text).lower().startswith(("for ", "repeat", "on each"))):
            work = Node(node.line, node.title, role=node.role, commands=node.commands)
            work.reads, node.commands, node.reads = node.reads, [], []
            inner.nodes.append(work)
        self._more_of_loop(rest, below, inner)
        node.kind, node.body = "loop", inner.nodes
        if not node.body:
            node.body = [Node(node.line, node.title)]
        item = input_name(each.split()[-1] if len(each.split()) > 3 else each)
        node.item, node.items = _one(item), _many(item)
        if node.item == node.items or node.item in self.writer.found.inputs:
            node.item = f"each_{node.item}"
        declared = self.writer.found.inputs.get(node.items)
        if declared is None or declared.type != "array":
            self.writer.found.inputs[node.items] = Value(
                node.items,
                "array",
                description=f"One for each turn of: {plain(first.text)}",
                line=node.line,
            )
        for work in node.body:
            if work.kind == "manual":
                work.reads.append(node.item)

    def _more_of_loop(self, rest: list[Piece], below: list[Block], inner: Scope) -> None:
        for piece in rest:
            self.reader.sentence(piece, inner, in_step=bool(inner.nodes))
        self.reader.blocks(below, inner, in_step=bool(inner.nodes))

    def repeat_alone(self, node: Node, piece: Piece, said: str, scope: Scope) -> None:
        """Turn ``node`` into a loop where its sentence is to be done for each of several."""
        each = read_each(said)
        if each and scope.loops < MAX_LOOPS and node.kind == "manual":
            self.repeat(node, each, piece, [], [], scope)


def _one(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _many(name: str) -> str:
    if name.endswith("s") and not name.endswith("ss"):
        return name
    return f"{name[:-1]}ies" if re.search(r"[^aeiou]y$", name) else f"{name}s"


def read_each(text: str) -> str | None:
    """What a sentence is to be done for, one after another; None for one that is done once."""
    if len(text) > MAX_PHRASE:
        return None
    text = in_active(text)
    hidden = masked(text)
    if _PERIODIC.search(hidden):
        return None
    found = _EACH.search(hidden) or _EACH.search(masked(core(text))) or _STRESSED.search(text)
    if found:
        said = next(one for one in found.groups() if one)
        if re.match(r"steps?\b", said, re.IGNORECASE):
            # Steps are what the text, or what is to be written, is made of, and no things.
            return None
        return _NAME_ENDS.sub("", said).strip(" -/") or None
    found = _ONE_BY_ONE.search(hidden)
    if found is None or found["unit"] in _NO_UNITS:
        return None
    said = found["single"] or found["unit"] or found["what"]
    return " ".join(said.split()[-2:])


def read_until(text: str) -> tuple[str, bool] | None:
    """The goal of ``Repeat until all are healthy``, and whether the steps before it are what is
    repeated: ``Keep deleting logs until there is space`` says itself what is."""
    if len(text) >= MAX_PHRASE:
        return None
    said = core(in_active(text))
    found = _UNTIL.match(said)
    if found is None and _PERIODIC.search(masked(text)) and is_order(text):
        return "It is no longer needed", False
    if (
        found is None
        or not (is_order(found["act"]) or _REPEATS.search(found["act"]))
        or _NO_LOOP.match(said)
        or _A_TIME.match(found["goal"])
    ):
        return None
    if re.search(r"\b(?:while|as long as)\s", found[0]) and not _LASTS.match(found["verb"]):
        return None
    alone = _AGAIN.match(found["verb"]) and not _DOING.match(said)
    return found["goal"].strip(" ."), bool(alone or _REPEATS.search(found["act"]))
