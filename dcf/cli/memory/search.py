"""``dcf memory search``: what agents remember, by words and meaning."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, get_args

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.entries import found_entry
from dcf.cli.memory.naming import agents_named, names_of
from dcf.cli.memory.opening import now_ms, opened
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.retrieval.opening import note_read
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import TIME_EXAMPLES, Found, Kind, Pack, quote, span_of
from dcf.problem import Problem
from dcf.retrieval import logged_among
from dcf.search import words
from dcf.secret_form import without_secrets

_SCORE = "score: words, those of messages near by, and meaning (-1 to 1), weighed"
_EXCERPT = 300
_MOST, _MOST_QUOTED = 10, 200
"""How many texts are looked for by default, and for a context."""


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What to look for, and where: empty is everywhere. ``since`` and ``until`` are times as a
    person says them. With a ``budget`` of tokens, what is found is quoted for a model."""

    query: str
    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    k: int | None = None
    since: str | None = None
    until: str | None = None
    budget: int | None = None

    @property
    def most(self) -> int:
        """How many texts are looked for."""
        return self.k or (_MOST if self.budget is None else _MOST_QUOTED)


async def search_memory(settings: Settings, asked: SearchQuestion) -> Answer:
    """The texts that fit best, each with what its score is made of, or quoted. Raises
    InvalidEntry."""
    _demand_kinds(asked.kinds)
    since, until = _times(asked)
    # As texts are kept; an answer tells the question again.
    asked = replace(asked, query=without_secrets(asked.query))
    async with opened(settings) as memory:
        chosen = await agents_named(memory, list(asked.agents))
        began = time.perf_counter()
        more: dict[str, Any] = {"kinds": asked.kinds} if asked.kinds else {}
        found = await memory.search.find(
            asked.query,
            k=asked.most,
            agent_ids=[agent.id for agent in chosen] if chosen else None,
            labels=asked.labels,
            tags=asked.tags,
            since=since,
            until=until,
            **more,
        )
        took_ms = (time.perf_counter() - began) * 1e3
        agents = await names_of(memory)
        for project, citations in (await logged_among(memory, found)).items():
            await note_read(settings, project, citations)
    by_meaning = any(one.similarity is not None for one in found)
    about = {
        "query": asked.query,
        "took_ms": round(took_ms, 1),
        "by_meaning": by_meaning,
    }
    if asked.budget is not None:
        return _quoted(quote(found, asked.budget), asked.budget, about)
    entries = [{**found_entry(one), "agent": agents.get(one.agent_id or "")} for one in found]
    fields = {**about, "found": entries}
    show: list[Any] = [line for one in found for line in _lines(one, agents)]
    if words(asked.query) and not by_meaning and found and settings.embedder != "none":
        show.append(Text("By words alone: `dcf memory doctor` says why.", "yellow"))
    count = counted(len(found), "text", "texts")
    show.append(f"{count}; {_SCORE}" if found else "Nothing was found.")
    return Answer(fields, show)


def _quoted(pack: Pack, budget: int, about: dict[str, Any]) -> Answer:
    quoted = [
        {"uri": one.offer.uri, "tokens": one.tokens, "why": one.offer.why} for one in pack.items
    ]
    fields = {
        **about,
        "budget": budget,
        "tokens": pack.tokens,
        "quoted": quoted,
        "left_out": pack.left_out,
        "text": pack.text,
    }
    texts = counted(len(quoted), "text", "texts")
    left = f"; {pack.left_out} more did not fit" if pack.left_out else ""
    end = f"{texts} in {pack.tokens:,} tokens of {budget:,} at most{left}"
    return Answer(fields, [*([Text(pack.text)] if pack.text else []), Text(end, "dim")])


def _demand_kinds(kinds: tuple[str, ...]) -> None:
    """Raises BadInput with every kind that there is not."""
    problems = []
    for kind in kinds:
        if kind not in get_args(Kind):
            close = get_close_matches(kind, get_args(Kind), n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            hint = f"{meant}one of {', '.join(get_args(Kind))}"
            message = f"there is no kind {kind!r}"
            problems.append(Problem("CLI_SEARCH_KIND", message, hint=hint, file="--kind"))
    if problems:
        raise BadInput(problems)


def _times(asked: SearchQuestion) -> tuple[int | None, int | None]:
    """From when and until when, in ms. Raises BadInput with every time that is none."""
    now = now_ms()
    given = {"--since": asked.since, "--until": asked.until}
    spans = {option: span_of(text, now) for option, text in given.items() if text is not None}
    problems = [
        Problem(
            "CLI_SEARCH_TIME",
            f"{given[option]!r} is no time",
            hint=f"one such as {TIME_EXAMPLES}",
            file=option,
        )
        for option, span in spans.items()
        if span is None
    ]
    if problems:
        raise BadInput(problems)
    since, until = spans.get("--since"), spans.get("--until")
    return None if since is None else since.first, None if until is None else until.last


def _lines(found: Found, agents: dict[str, str]) -> list[Text]:
    owner = found.project or agents.get(found.agent_id or "", "nobody")
    places = {"block": f"/{found.label}", "message": f" message {found.seq}"}
    places["thread"] = f" dcf://thread/{found.ref.replace('/', '/turn/')}"
    if found.citation is not None:
        places[found.kind] = f" {found.citation}"
    place = places.get(found.kind)
    return [
        Text.assemble(
            (f"{owner}{place or f' {found.ref}'}", "bold"),
            f"  score {found.score:.2f}",
            (f"  {_why(found)}, {moment(found.at)}", "dim"),
        ),
        Text(f"  {one_line(found.text, _EXCERPT)}"),
    ]


def _why(found: Found) -> str:
    parts = [f"{found.kind}: words {found.words:.2f}"]
    if found.near:
        parts.append(f"near {found.near:.2f}")
    if found.similarity is not None:
        parts.append(f"meaning {found.similarity:.2f}")
    return ", ".join(parts)
