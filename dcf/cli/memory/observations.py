"""``dcf memory observations``: what was seen, as an index, in full, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import now_ms, opened, source_in
from dcf.cli.memory.wording import moment
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import (
    EXTRACTED,
    ICONS,
    BadChoice,
    Filter,
    Observation,
    ObservationChoice,
    ObservationDesk,
    Occurrence,
    short_id,
)
from dcf.problem import Problem
from dcf.secret_form import without_secrets

Format = Literal["index", "full"]
FORMATS: tuple[Format, ...] = ("index", "full")
BEGIN = "Every run that ends leaves some: `dcf run workflows/order-processing.json --input …`."
PINNED = "\N{PUSHPIN}"
"""Stands before what is pinned."""


_OPTIONS = {
    "/types": "--type",
    "/concepts": "--concept",
    "/since": "--since",
    "/until": "--until",
    "/point": "POINT",
}
"""What the fields of a choice are called here."""


@dataclass(frozen=True, slots=True)
class ObservationsQuestion:
    """Which observations, and how many of them from behind which one in what ``format``."""

    choice: ObservationChoice = field(default_factory=ObservationChoice)
    format: str = "index"
    before: str | None = None
    limit: int = 50

    def filter(self) -> Filter:
        """The choice for the memory. Raises BadInput with all that is wrong."""
        problems = []
        if self.format not in FORMATS:
            hint = f"one of {', '.join(FORMATS)}"
            message = f"there is no format {self.format!r}"
            problems.append(Problem("CLI_OBSERVATIONS", message, hint=hint, file="--format"))
        which = Filter()
        try:
            which = self.choice.filter(now_ms())
        except BadChoice as wrong:
            problems += _at_options(wrong)
        if problems:
            raise BadInput(problems)
        return which


def _at_options(wrong: BadChoice) -> list[Problem]:
    """What is wrong, at what its field is called here."""
    return [replace(one, path="", file=_OPTIONS[one.path or ""]) for one in wrong.problems]


async def list_observations(settings: Settings, asked: ObservationsQuestion) -> Answer:
    """A page of observations, the newest first. Raises BadInput, UnknownObservation."""
    asked.filter()
    if not source_in(settings).path.exists():
        return _empty("No observations yet.")
    async with opened(settings) as memory:
        page = await ObservationDesk(memory).newest(
            asked.choice, limit=asked.limit, before=asked.before
        )
        there = bool(page.observations or await memory.observations.list(limit=1))
    shown = page.observations
    if not shown:
        return _empty("None of these." if there else "No observations yet.")
    fields = {"observations": [observation_entry(one) for one in shown], "more": page.more}
    show: list[Any] = [observations_table(shown)] if asked.format == "index" else []
    if asked.format == "full":
        show = [line for one in shown for line in [*in_full(one), ""]]
    show.append(
        counted(len(shown), "observation", "observations")
        + (f"; --before {short(shown[-1])} shows older ones" if page.more else "")
    )
    return Answer(fields, show)


async def search_observations(
    settings: Settings, query: str, asked: ObservationsQuestion
) -> Answer:
    """The observations that fit a query best. Raises BadInput, InvalidEntry."""
    asked.filter()
    if not source_in(settings).path.exists():
        return _empty("No observations yet.")
    # As they are kept; an answer tells the question again.
    query = without_secrets(query)
    async with opened(settings) as memory:
        page = await ObservationDesk(memory).search(query, asked.choice, limit=asked.limit)
    seen, scores = page.observations, page.scores
    entries = [
        {**observation_entry(one), "score": score} for one, score in zip(seen, scores, strict=True)
    ]
    fields = {"query": query, "observations": entries}
    return Answer(fields, [observations_table(seen, scores)] if seen else ["Nothing was found."])


async def show_timeline(
    settings: Settings, point: str, asked: ObservationsQuestion, each: int
) -> Answer:
    """What was seen around an observation or a moment, the oldest first. Raises BadInput,
    AmbiguousObservation."""
    asked.filter()
    async with opened(settings) as memory:
        try:
            seen = await ObservationDesk(memory).timeline(point, asked.choice, each=each)
        except BadChoice as wrong:
            raise BadInput(_at_options(wrong)) from wrong
    fields = {"at": seen.at, "observations": [observation_entry(one) for one in seen.observations]}
    middle = None if seen.middle is None else seen.middle.id
    lines = [
        Text(
            f"{'▶' if one.id == middle else ' '} {moment(one.at)}  "
            f"{short(one)}  {ICONS[one.type]} {one.title}",
            "bold" if one.id == middle else "",
        )
        for one in seen.observations
    ]
    return Answer(fields, lines or ["Nothing was seen around that."])


async def get_observations(settings: Settings, ids: Sequence[str]) -> Answer:
    """All of some observations, with each time that they were seen. Raises UnknownObservation,
    AmbiguousObservation."""
    async with opened(settings) as memory:
        found = await ObservationDesk(memory).details(ids)
    entries = [
        {
            **observation_entry(one.observation),
            "seen": [occurrence_entry(it) for it in one.seen],
        }
        for one in found
    ]
    show = [line for one in found for line in [*in_full(one.observation), *_seen(one.seen), ""]]
    return Answer({"observations": entries}, show)


def observation_entry(one: Observation) -> dict[str, Any]:
    """An observation, as ``--json`` has it."""
    entry = asdict(one)
    return {**entry, "uri": str(one.citation), "source": str(one.origin.citation)}


def occurrence_entry(one: Occurrence) -> dict[str, Any]:
    """One time that it was seen."""
    return {**asdict(one), "source": str(one.origin.citation)}


def short(one: Observation) -> str:
    """What a row calls an observation."""
    return short_id(one.id)


def _empty(message: str) -> Answer:
    hint = BEGIN if message.startswith("No ") else "Without the filters there are some."
    return Answer({"observations": [], "more": False}, [message, hint])


def observations_table(shown: Sequence[Observation], scores: Sequence[float] = ()) -> Table:
    """A row for each."""
    several = len({one.workflow for one in shown}) > 1
    table = Table(title="Observations", title_justify="left")
    table.add_column("id", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column("title", overflow="fold", min_width=32)
    if several:
        table.add_column("workflow", overflow="fold")
    table.add_column("source", overflow="ellipsis", max_width=24, no_wrap=True)
    table.add_column("seen", justify="right")
    table.add_column("last", no_wrap=True)
    table.add_column("tokens", justify="right")
    if scores:
        table.add_column("score", justify="right")
    for number, one in enumerate(shown):
        table.add_row(
            short(one),
            f"{ICONS[one.type]} {one.type}",
            Text(f"{PINNED} {one.title}" if one.pinned else one.title),
            *([Text(one.workflow)] if several else []),
            Text(_source(one)),
            str(one.times),
            moment(one.at)[5:16],
            str(one.tokens),
            *([f"{scores[number]:.2f}"] if scores else []),
        )
    return table


def _source(one: Observation) -> str:
    source = f"{one.origin.source_type} {one.origin.source_id}"
    return f"{EXTRACTED}, {source}" if one.extracted else source


def in_full(one: Observation) -> list[Text]:
    """All that it says, in lines."""
    of = f"{one.workflow}, " if one.workflow else ""
    head = f"{ICONS[one.type]} {short(one)}  {one.title}"
    times = "once" if one.times == 1 else f"{one.times} times"
    about = f"   {one.type}, {of}seen {times}, last {moment(one.at)}, {one.tokens} tokens"
    about += f", used by {counted(one.used, 'answer', 'answers')}" if one.used else ""
    about += f", {PINNED} pinned" if one.pinned else ""
    about += ", found by a model" if one.extracted else ""
    lines = [Text(head, "bold"), Text(about, "dim")]
    lines += [Text(f"   {one.subtitle}")] if one.subtitle else []
    lines += [Text(f"   - {fact}") for fact in one.facts]
    lines += [Text(f"   {line}") for line in one.narrative.splitlines()]
    if one.artifacts:
        lines.append(Text(f"   files: {', '.join(artifact.path for artifact in one.artifacts)}"))
    if one.concepts:
        lines.append(Text(f"   concepts: {', '.join(one.concepts)}", "dim"))
    return [*lines, Text(f"   {one.origin.citation}", "dim")]


def _seen(seen: Sequence[Occurrence]) -> list[Text]:
    lines = []
    for one in seen:
        lines.append(Text(f"   {moment(one.at)}  {one.origin.citation}"))
        lines += [Text(f"     {line}") for line in one.note.splitlines()]
    return lines
