"""What a search found, quoted for a model under a limit of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dcf.citation import Citation
from dcf.memory.context.packing import Offer, Pack, Packed
from dcf.memory.observations.rendering import short_id
from dcf.memory.search.found import Found
from dcf.memory.thread import indented, turn_line
from dcf.search import count_tokens, counts_of_tokens

_HEADING = "## What is remembered of this, the best first; conversations in their order"
_BETWEEN = 2
"""Tokens that the line ends around a text may add."""


@dataclass(frozen=True, slots=True)
class _Quote:
    """``rank`` is its place among what was found, ``group`` the conversation that it is part of
    (None: none), ``line`` what is told of it, ``day`` when it was said."""

    rank: int
    found: Found
    uri: str
    group: str | None
    line: str
    day: str


def quote(found: Sequence[Found], tokens: int) -> Pack:
    """As many of the texts that were ``found``, the best first, as ``tokens`` have room for, with
    their addresses. Messages of one conversation stand together, in its order, under their days;
    one that is too long does not keep shorter ones out. The whole text never costs more than
    ``tokens``."""
    quotes = [_quote(rank, one) for rank, one in enumerate(found)]
    costs = counts_of_tokens([one.line for one in quotes]) if quotes else []
    taken = _taken(quotes, costs, tokens)
    text = _text(taken)
    # Texts side by side may cost more than each by itself.
    while taken and (cost := count_tokens(text)) > tokens:
        over = cost - tokens
        while taken and over > 0:
            over -= costs[taken.pop().rank]
        text = _text(taken)
    items = tuple(
        Packed(Offer(one.uri, one.line, one.line, _why(one.found)), "details", costs[one.rank])
        for one in taken
    )
    return Pack(text, count_tokens(text) if taken else 0, items, len(quotes) - len(taken))


def uri_of(found: Found) -> str:
    """The address of a text that was found, as ``dcf open`` takes it."""
    match found:
        case Found(citation=str(citation)):
            return citation
        case Found(kind="message", agent_id=str(agent_id), seq=int(seq)):
            return str(Citation("agent", agent_id, "message", str(seq)))
        case Found(kind="thread", seq=int(seq)):
            return str(Citation("thread", found.ref.rpartition("/")[0], "turn", number=seq))
        case Found(kind="block", agent_id=str(agent_id), label=str(label)):
            return str(Citation("agent", agent_id, "block", label))
        case Found(kind="observation"):
            return str(Citation("observation", short_id(found.ref)))
    return str(Citation("memory", found.ref))


def _quote(rank: int, found: Found) -> _Quote:
    day = datetime.fromtimestamp(found.at / 1_000, UTC).date().isoformat()
    uri = uri_of(found)
    if found.kind == "message":
        who = found.sender or found.role or "message"
        line = turn_line(found.seq or 0, who, found.text)
        return _Quote(rank, found, uri, found.agent_id, line, day)
    if found.kind == "thread":
        line = turn_line(found.seq or 0, found.role or "", found.text)
        return _Quote(rank, found, uri, found.ref.rpartition("/")[0], line, day)
    return _Quote(rank, found, uri, None, f"{indented(found.text)}\n({uri}, {day})", day)


def _taken(quotes: Sequence[_Quote], costs: Sequence[int], tokens: int) -> list[_Quote]:
    left = tokens - count_tokens(_HEADING) - _BETWEEN
    paid: set[tuple[str, str]] = set()
    taken: list[_Quote] = []
    for one, cost in zip(quotes, costs, strict=True):
        heads = _heads(one, paid)
        price = cost + _BETWEEN + sum(count_tokens(head) + _BETWEEN for head in heads.values())
        if price <= left:
            left -= price
            paid |= heads.keys()
            taken.append(one)
    return taken


def _heads(one: _Quote, paid: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """The lines that stand above a message, of those that nothing else has brought yet."""
    if one.group is None:
        return {}
    every = {(one.group, ""): _place(one), (one.group, one.day): one.day}
    return {key: line for key, line in every.items() if key not in paid}


def _place(one: _Quote) -> str:
    return f"### {one.uri.rpartition('/')[0]}/N, where N is the number before each line"


def _text(taken: Sequence[_Quote]) -> str:
    if not taken:
        return ""
    groups: dict[str | int, list[_Quote]] = {}
    for one in taken:
        groups.setdefault(one.rank if one.group is None else one.group, []).append(one)
    return "\n".join([_HEADING, *(line for group in groups.values() for line in _lines(group))])


def _lines(group: Sequence[_Quote]) -> Iterable[str]:
    day = ""
    if group[0].group is not None:
        yield _place(group[0])
    for one in sorted(group, key=lambda one: one.found.seq or 0):
        if one.group is not None and one.day != day:
            day = one.day
            yield day
        yield one.line


def _why(found: Found) -> str:
    parts = [f"{found.kind}: words {found.words:.2f}"]
    if found.similarity is not None:
        parts.append(f"meaning {found.similarity:.2f}")
    return ", ".join(parts)
