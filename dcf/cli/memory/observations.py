"""``dcf memory observations``: what was seen, as an index, in full, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import now_ms, opened, source_in
from dcf.cli.memory.wording import moment
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import CONCEPTS, ICONS, TYPES, Filter, Memory, Observation, Occurrence
from dcf.problem import Problem

Format = Literal["index", "full"]
FORMATS: tuple[Format, ...] = ("index", "full")
BEGIN = "Every run that ends leaves some: `dcf run workflows/order-processing.json --input …`."
PINNED = "\N{PUSHPIN}"
"""Stands before what is pinned."""
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class ObservationsQuestion:
    """Which observations, as the command line says: empty is all of them. ``since`` and ``until``
    are dates or moments; without ``since`` the last ``days`` count (None: all days)."""

    format: str = "index"
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    turn: int | None = None
    since: str | None = None
    until: str | None = None
    days: int | None = 90
    projects: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    before: str | None = None
    limit: int = 50
    topic: str | None = None
    pinned: bool | None = None

    def filter(self) -> Filter:
        """The same for the memory. Raises BadInput with all that is wrong."""
        problems = [
            *_unknown("--format", (self.format,), FORMATS),
            *_unknown("--type", self.types, TYPES),
            *_unknown("--concept", self.concepts, CONCEPTS),
        ]
        since = _moment("--since", self.since, problems, end=False)
        until = _moment("--until", self.until, problems, end=True)
        if problems:
            raise BadInput(problems)
        return Filter(
            projects=[str(Path(one).expanduser().resolve()) for one in self.projects],
            workflows=self.workflows,
            types=[one for one in TYPES if one in self.types],
            concepts=[one for one in CONCEPTS if one in self.concepts],
            source_types=self.sources,
            source_ids=self.source_ids,
            turn=self.turn,
            since=self._since() if since is None else since,
            until=until,
            topic=self.topic,
            pinned=self.pinned,
        )

    def _since(self) -> int | None:
        return None if self.days is None else now_ms() - self.days * _DAY_MS


async def list_observations(settings: Settings, asked: ObservationsQuestion) -> Answer:
    """A page of observations, the newest first. Raises BadInput, UnknownObservation."""
    which = asked.filter()
    if not source_in(settings).path.exists():
        return _empty("No observations yet.")
    async with opened(settings) as memory:
        found = await memory.observations.list(
            which, limit=asked.limit + 1, before=await _id_of(memory, asked.before)
        )
        there = bool(found or await memory.observations.list(limit=1))
    shown, more = found[: asked.limit], len(found) > asked.limit
    if not shown:
        return _empty("None of these." if there else "No observations yet.")
    fields = {"observations": [observation_entry(one) for one in shown], "more": more}
    show: list[Any] = [observations_table(shown)] if asked.format == "index" else []
    if asked.format == "full":
        show = [line for one in shown for line in [*in_full(one), ""]]
    show.append(
        counted(len(shown), "observation", "observations")
        + (f"; --before {short(shown[-1])} shows older ones" if more else "")
    )
    return Answer(fields, show)


async def search_observations(
    settings: Settings, query: str, asked: ObservationsQuestion
) -> Answer:
    """The observations that fit a query best. Raises BadInput, InvalidEntry."""
    which = asked.filter()
    if not source_in(settings).path.exists():
        return _empty("No observations yet.")
    async with opened(settings) as memory:
        found = await memory.search.find(
            query,
            k=asked.limit,
            kinds=["observation"],
            projects=which.projects or None,
            types=which.types,
            concepts=which.concepts,
            source_types=which.source_types,
            source_ids=which.source_ids,
            workflows=which.workflows,
            since=which.since,
            until=which.until,
        )
        seen = [await memory.observations.get(one.ref) for one in found]
    scores = [one.score for one in found]
    entries = [
        {**observation_entry(one), "score": score} for one, score in zip(seen, scores, strict=True)
    ]
    fields = {"query": query, "observations": entries}
    return Answer(fields, [observations_table(seen, scores)] if seen else ["Nothing was found."])


async def show_timeline(
    settings: Settings, point: str, asked: ObservationsQuestion, each: int
) -> Answer:
    """What was seen around an observation or a moment, the oldest first. Raises BadInput,
    UnknownObservation, AmbiguousObservation."""
    which = replace(asked.filter(), since=None)
    problems: list[Problem] = []
    at = _moment("POINT", point, problems, end=False)
    async with opened(settings) as memory:
        middle = None if at is not None else await memory.observations.get(id_in(point))
        at = middle.at if middle is not None else at or 0
        seen = await memory.observations.around(at, which, each=each)
    fields = {"at": at, "observations": [observation_entry(one) for one in seen]}
    lines = [
        Text(
            f"{'▶' if middle is not None and one.id == middle.id else ' '} {moment(one.at)}  "
            f"{short(one)}  {ICONS[one.type]} {one.title}",
            "bold" if middle is not None and one.id == middle.id else "",
        )
        for one in seen
    ]
    return Answer(fields, lines or ["Nothing was seen around that."])


async def get_observations(settings: Settings, ids: Sequence[str]) -> Answer:
    """All of some observations, with each time that they were seen. Raises UnknownObservation,
    AmbiguousObservation."""
    entries: list[dict[str, Any]] = []
    show: list[Any] = []
    async with opened(settings) as memory:
        for name in ids:
            one = await memory.observations.get(id_in(name))
            seen = await memory.observations.occurrences(one.id)
            entries.append(
                {**observation_entry(one), "seen": [occurrence_entry(it) for it in seen]}
            )
            show += [*in_full(one), *_seen(seen), ""]
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
    return one.id.removeprefix("observation-")[:8]


def _empty(message: str) -> Answer:
    hint = BEGIN if message.startswith("No ") else "Without the filters there are some."
    return Answer({"observations": [], "more": False}, [message, hint])


def id_in(name: str) -> str:
    """The id of an observation, or its beginning, also in an address."""
    return name.rpartition("/")[2]


async def _id_of(memory: Memory, name: str | None) -> str | None:
    return None if name is None else (await memory.observations.get(name)).id


def _unknown(option: str, given: Sequence[str], known: Sequence[str]) -> list[Problem]:
    problems = []
    for one in given:
        if one not in known:
            close = get_close_matches(one, known, n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            hint = f"{meant}one of {', '.join(known)}"
            message = f"there is no {option.removeprefix('--')} {one!r}"
            problems.append(Problem("CLI_OBSERVATIONS", message, hint=hint, file=option))
    return problems


def _moment(option: str, given: str | None, problems: list[Problem], *, end: bool) -> int | None:
    """The moment in ms; of a date, its beginning or its ``end``, here."""
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        hint = "as in 2026-11-27 or 2026-11-27T18:30:00+01:00"
        message = f"{given!r} is no date and no moment"
        problems.append(Problem("CLI_OBSERVATIONS_TIME", message, hint=hint, file=option))
        return None
    local = at if at.tzinfo else at.astimezone()
    whole_day = end and _is_date(given)
    return round(local.timestamp() * 1000) + (_DAY_MS - 1 if whole_day else 0)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


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
            Text(f"{one.origin.source_type} {one.origin.source_id}"),
            str(one.times),
            moment(one.at)[5:16],
            str(one.tokens),
            *([f"{scores[number]:.2f}"] if scores else []),
        )
    return table


def in_full(one: Observation) -> list[Text]:
    """All that it says, in lines."""
    of = f"{one.workflow}, " if one.workflow else ""
    head = f"{ICONS[one.type]} {short(one)}  {one.title}"
    times = "once" if one.times == 1 else f"{one.times} times"
    about = f"   {one.type}, {of}seen {times}, last {moment(one.at)}, {one.tokens} tokens"
    about += f", {PINNED} pinned" if one.pinned else ""
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
