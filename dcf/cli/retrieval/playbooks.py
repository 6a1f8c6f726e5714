"""``dcf retrieval playbooks``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import now_ms, opened, person
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.retrieval.opening import memory_settings, note_read, open_audit
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import (
    STALE_DAYS,
    Memory,
    NewPlaybook,
    Playbook,
    PlaybookProposal,
    UnknownPlaybook,
    pattern_words,
    proposal_of,
)
from dcf.problem import Problem
from dcf.retrieval import Caller

_BEGIN = "`dcf retrieval playbooks add` keeps one; `… propose` lists what was seen repeatedly."


@dataclass(frozen=True, slots=True)
class Given:
    """What a person says of a playbook; None: nothing."""

    pattern: str | None
    resolution: str | None
    owner: str | None


@dataclass(frozen=True, slots=True)
class PlaybookPage:
    """Which playbooks are listed: of all projects with ``everything``."""

    limit: int
    offset: int
    stale_after: int
    everything: bool = False
    stale_only: bool = False


async def add_playbook(
    settings: Settings, setting: RetrievalSetting, given: Given, source: str | None
) -> Answer:
    """Keep a playbook. Raises BadInput, a MemoryProblem."""
    async with opened(memory_settings(settings, setting.store), make=True) as memory:
        proposal = None if source is None else await _proposal(memory, source)
        new = _new(setting, given, proposal)
        made = await memory.playbooks.add(new, by=person("`dcf retrieval playbooks add`"))
    return _made(made)


async def accept_proposal(
    settings: Settings, setting: RetrievalSetting, given: Given, source: str
) -> Answer:
    """Keep the playbook that an observation could be. Raises BadInput, a MemoryProblem."""
    if given.owner is None:
        hint = "`--owner NAME` says who answers for what it tells others to do"
        problem = Problem("cli_playbook_owner", "nobody is named as its owner", hint=hint)
        raise BadInput([problem.at(file="--owner")])
    return await add_playbook(settings, setting, given, source)


async def list_proposals(settings: Settings, setting: RetrievalSetting, times: int) -> Answer:
    """What was seen so many times and could be a playbook. Raises a MemoryProblem."""
    project = setting.projects.chosen(None, None)
    async with opened(memory_settings(settings, setting.store)) as memory:
        found = await memory.playbooks.proposals(project, times=times)
    show: list[Any] = []
    for one in found:
        show.append(Text.assemble((one.observation_id, "bold"), f"  {one.times} times"))
        show += [Text(f"  pattern: {one.pattern}"), Text(f"  {one_line(one.resolution)}", "dim")]
    if found:
        show.append("`--accept OBSERVATION --owner NAME` makes a playbook of one.")
    nothing = f"No error was got over {times} times that has no playbook yet."
    return Answer({"proposals": [asdict(one) for one in found]}, show or [nothing])


async def list_playbooks(
    settings: Settings, setting: RetrievalSetting, page: PlaybookPage
) -> Answer:
    """Playbooks, the newest first. Raises a MemoryProblem."""
    project = None if page.everything else setting.projects.chosen(None, None)
    now = now_ms()
    async with opened(memory_settings(settings, setting.store)) as memory:
        # What is stale is not a question of SQL; a person made each, so there are not many.
        most = 1_000_000 if page.stale_only else page.offset + page.limit + 1
        found = await memory.playbooks.list(project, limit=most)
    if page.stale_only:
        found = tuple(one for one in found if one.stale(now, page.stale_after))
    shown = found[page.offset : page.offset + page.limit]
    more = len(found) > page.offset + page.limit
    entries = [playbook_entry(one, now, page.stale_after) for one in shown]
    fields = {"playbooks": entries, "more": more}
    if not shown:
        return Answer(fields, [f"There are no such playbooks. {_BEGIN}"])
    show: list[Any] = [line for one in shown for line in _row(one, now, page.stale_after)]
    end = counted(len(shown), "playbook", "playbooks")
    after = page.offset + page.limit
    return Answer(fields, [*show, f"{end}; --offset {after} shows more" if more else end])


async def show_playbook(
    settings: Settings, playbook_id: str, stale_after: int = STALE_DAYS
) -> Answer:
    """All of a playbook. Raises UnknownPlaybook."""
    async with opened(settings) as memory:
        one = await memory.playbooks.get(_id(playbook_id))
    await note_read(settings, one.project, [one.citation])
    compared = _compared(one)
    now = now_ms()
    show = [
        Text.assemble((one.citation, "bold"), f"  {one.project}"),
        Text(f"Pattern: {one.pattern}"),
        Text(f"Compared: {', '.join(compared)}", "dim"),
        Text(f"Resolution: {one.resolution}"),
        Text(f"Owner: {one.owner}; {one.counted}; confirmed {moment(one.confirmed_at)}"),
        *(Text(f"Made from: dcf://observation/{source}") for source in one.sources),
        *(
            Text(f"  {moment(use.at)}  {'helped' if use.helped else 'failed'}  {use.by}", "dim")
            for use in one.uses
        ),
        *_stale(one.stale(now, stale_after)),
    ]
    return Answer(
        {"playbook": {**playbook_entry(one, now, stale_after), "compared": compared}}, show
    )


async def match_playbooks(
    settings: Settings, setting: RetrievalSetting, error: str, limit: int, stale_after: int
) -> Answer:
    """The playbooks that fit an error. Raises a MemoryProblem."""
    project = setting.projects.chosen(None, None)
    async with opened(memory_settings(settings, setting.store)) as memory:
        found = await memory.playbooks.match(project, error, limit=limit, stale_days=stale_after)
    await note_read(settings, project, [one.playbook.citation for one in found])
    now = now_ms()
    entries = [
        {
            **playbook_entry(one.playbook, now, stale_after),
            "score": one.score,
            "why": one.reason,
        }
        for one in found
    ]
    show: list[Any] = []
    for one in found:
        show.append(Text.assemble((one.playbook.citation, "bold"), f"  {one.score:.2f}"))
        show += [Text(f"  {line}") for line in one.text.splitlines()]
        show.append(Text(f"  {one.reason}", "dim"))
    return Answer({"matches": entries}, show or ["No playbook fits this error."])


async def count_use(
    settings: Settings,
    setting: RetrievalSetting,
    playbook_id: str,
    run: str | None,
    *,
    helped: bool,
) -> Answer:
    """Count a use by a person, or in a run. Raises UnknownPlaybook."""
    by = person(f"`dcf retrieval playbooks {'helped' if helped else 'failed'}`")
    used_by = by.name if run is None else _run(run)
    async with opened(memory_settings(settings, setting.store)) as memory:
        counted_one = await memory.playbooks.count(
            _id(playbook_id), helped=helped, used_by=used_by, by=by
        )
    return _changed(counted_one, "counted", f"{counted_one.citation}: {counted_one.counted}")


async def edit_playbook(
    settings: Settings, setting: RetrievalSetting, playbook_id: str, given: Given
) -> Answer:
    """Have a playbook say something else. Raises UnknownPlaybook, InvalidEntry."""
    by = person("`dcf retrieval playbooks edit`")
    async with opened(memory_settings(settings, setting.store)) as memory:
        edited = await memory.playbooks.edit(
            _id(playbook_id), by=by, **asdict(_without_personal(setting, given))
        )
    return _changed(edited, "changed", f"Changed and confirmed {edited.citation}")


async def remove_playbooks(
    settings: Settings, setting: RetrievalSetting, names: Sequence[str]
) -> Answer:
    """Give playbooks up, all of them or none. Raises BadInput with all that are not there."""
    by = person("`dcf retrieval playbooks remove`")
    problems = []
    async with opened(memory_settings(settings, setting.store)) as memory:
        ids = list(dict.fromkeys(map(_id, names)))
        for playbook_id in ids:
            try:
                await memory.playbooks.get(playbook_id)
            except UnknownPlaybook as error:
                problems.append(error.problem)
        if problems:
            raise BadInput(problems)
        removed = []
        async with open_audit(settings) as audit:
            for playbook_id in ids:
                one = await memory.playbooks.remove(playbook_id, by=by)
                await audit.keep("delete", Caller(by.name), one.project, [one.citation], 1)
                removed.append(one)
    now = now_ms()
    fields = {"removed": [playbook_entry(one, now) for one in removed]}
    return Answer(fields, [f"Removed {one.citation}" for one in removed], "removed")


def playbook_entry(one: Playbook, now: int, stale_after: int = STALE_DAYS) -> dict[str, Any]:
    """A playbook, for scripts; ``stale`` is empty, or says why it is."""
    return {**asdict(one), "citation": one.citation, "stale": one.stale(now, stale_after)}


async def _proposal(memory: Memory, source: str) -> PlaybookProposal:
    """What an observation could be. Raises UnknownObservation, AmbiguousObservation."""
    return proposal_of(await memory.observations.get(source.rpartition("/")[2]))


def _new(setting: RetrievalSetting, given: Given, proposal: PlaybookProposal | None) -> NewPlaybook:
    """What is to be kept. Raises BadInput for what neither a person nor an observation says."""
    pattern = given.pattern if given.pattern is not None or proposal is None else proposal.pattern
    resolution = given.resolution
    if resolution is None and proposal is not None:
        resolution = proposal.resolution
    missing = {"PATTERN": pattern, "--resolution": resolution}
    problems = [
        Problem(
            "cli_playbook_missing",
            f"{name} is missing",
            hint="give it, or the observation that says it: --from OBSERVATION",
            file=name,
        )
        for name, text in missing.items()
        if text is None
    ]
    if pattern is None or resolution is None:
        raise BadInput(problems)
    told = _without_personal(setting, Given(pattern, resolution, given.owner))
    return NewPlaybook(
        pattern=told.pattern or "",
        resolution=told.resolution or "",
        owner=person("").name if given.owner is None else given.owner,
        project=setting.projects.chosen(None, None),
        sources=() if proposal is None else (proposal.observation_id,),
    )


def _without_personal(setting: RetrievalSetting, given: Given) -> Given:
    """Without what ``DCF_PII`` names; an owner is there to be asked."""
    clean = setting.personal.without
    return replace(
        given,
        pattern=None if given.pattern is None else clean(given.pattern),
        resolution=None if given.resolution is None else clean(given.resolution),
    )


def _made(one: Playbook) -> Answer:
    show = [f"Kept as {one.citation}", Text(f"Compared: {', '.join(_compared(one))}", "dim")]
    fields = {"playbook": {**playbook_entry(one, now_ms()), "compared": _compared(one)}}
    return Answer(fields, show, "added")


def _changed(one: Playbook, status: str, line: str) -> Answer:
    now = now_ms()
    fields = {"playbook": playbook_entry(one, now)}
    return Answer(fields, [line, *_stale(one.stale(now))], status)


def _compared(one: Playbook) -> list[str]:
    """The words and codes by which it is known."""
    found = pattern_words(one.pattern)
    return [*dict.fromkeys(found.words), *sorted(found.codes)]


def _row(one: Playbook, now: int, stale_after: int) -> list[Text]:
    about = f"  {one.citation}  {one.owner}; {one.counted}"
    stale = _stale(one.stale(now, stale_after), "  ")
    return [Text(one_line(one.pattern), "bold"), Text(about, "dim"), *stale]


def _stale(why: str, indent: str = "") -> list[Text]:
    return [Text(f"{indent}Stale: {why}", "yellow")] if why else []


def _run(name: str) -> str:
    return name if name.startswith("dcf://") else f"dcf://run/{name}"


def _id(name: str) -> str:
    return name.rpartition("/")[2]
