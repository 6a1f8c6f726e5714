"""``dcf reflect``."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.table import Table as Shown
from rich.text import Text

from control_plane import Outbox
from dcf.age_form import read_age
from dcf.cli.answer import Answer
from dcf.cli.graph.access import open_graph
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.output_file import check_outputs
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run_files import file_meant, shelved
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble, NotSo
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.advisors import GuidelinesBoard, Reflection, Report, Section, Table
    from dcf.knowledge import RunFact, ToldRun

Write: TypeAlias = Callable[[str], Awaitable[str]]

_TOKENS = 600
"""For a model's sentences."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for. ``workflow_id`` is the id of a run or the name of a file that holds one;
    ``planner`` the name or id of who is told, None for nobody; ``phrase`` says that a model is to
    sum it up."""

    workflow_id: str | None
    since: str
    out: Path | None
    html: Path | None
    planner: str | None
    phrase: bool = False


async def reflect_on_runs(order: Order, settings: Settings, screen: Screen) -> Answer:
    """Reflect, publish, and show or write the report. Raises BadInput and BadRunFile for a file
    that holds no run."""
    from dcf.advisors import html_of, markdown_of, report_of, run_section

    check_outputs({"--out": order.out, "--html": order.html}, {})
    write = _writer(settings) if order.phrase else None
    run: ToldRun | None
    named = order.workflow_id
    file = None if named is None else await file_meant(named, settings, screen)
    if file is not None:
        reflection, run = await _of_file(order, file, settings, screen)
    else:
        reflection, run = await _of_graph(order, settings, screen)
    reflection = await _with_playbooks(reflection, run.end if run else None, settings, screen)
    report = report_of(reflection)
    if run is not None:
        report = report.opening_with(run_section(run.end, run.outcomes, reflection.analysis))
    if write is not None:
        report = await _phrased(report, reflection, write, screen)
    _write(order.out, markdown_of(report))
    _write(order.html, html_of(report))
    for warning in reflection.warnings:
        screen.warn(warning)
    fields = {**reflection.to_json(), "out": _named(order.out), "html": _named(order.html)}
    return Answer(fields, _shown(report, order, reflection))


async def _of_graph(
    order: Order, settings: Settings, screen: Screen
) -> tuple[Reflection, ToldRun | None]:
    """The reflection on what the graph knows, published, and the run that was asked for."""
    from dcf.advisors import reflect
    from dcf.knowledge import tell_known

    now, run = _now_ms(), None
    since = now - since_ms(order.since)
    async with open_graph(settings, screen) as (knowledge, _):
        if order.workflow_id is not None:
            run = await tell_known(knowledge, order.workflow_id)
            if run is None:
                hint = "`dcf runs` lists runs; only finished ones can be reflected on"
                message = f"the graph knows no finished run {order.workflow_id}"
                raise NotSo("run_not_over", message, hint)
            since = min(since, run.end.started_at)
        address = await find_redis(settings, screen)
        with screen.working("reflecting …"):
            async with open_store(address) as store, _board(order, settings) as board:
                sink = Outbox(store.backend)
                return await reflect(knowledge, since=since, now=now, board=board, sink=sink), run


async def _of_file(
    order: Order, file: Path, settings: Settings, screen: Screen
) -> tuple[Reflection, ToldRun]:
    """The reflection on the run in ``file`` beside what the graph knows, if there is to be one.
    Nothing of it is published: anybody can make a file."""
    from dcf.advisors import reflect_on_file
    from dcf.knowledge import GraphSetting, Privacy, tell_shelved

    store, workflow_id = await shelved(file)
    told = await tell_shelved(store, await store.run(workflow_id), Privacy.from_env(settings.env))
    now = _now_ms()
    since = now - since_ms(order.since)
    if GraphSetting.from_env(settings.env).mode == "off":
        return await reflect_on_file(told, None, since=since, now=now), told
    async with open_graph(settings, screen) as (knowledge, _):
        with screen.working("reflecting …"):
            return await reflect_on_file(told, knowledge, since=since, now=now), told


async def _with_playbooks(
    reflection: Reflection, end: RunFact | None, settings: Settings, screen: Screen
) -> Reflection:
    """The reflection with what is known of its failures. What keeps the memory from being read
    keeps nobody from the rest."""
    from dcf.advisors import with_playbooks
    from dcf.memory import MemoryProblem, project_of_runs

    if not source_in(settings).path.exists():
        return reflection
    try:
        async with opened(settings) as memory:
            project = project_of_runs(settings.generated)
            return await with_playbooks(reflection, end, memory, project)
    except MemoryProblem as problem:
        screen.warn(f"playbooks were not looked at: {problem}")
        return reflection


def _writer(settings: Settings) -> Write:
    """Asks the reflector's model. Raises EnvironmentTrouble where none is set."""
    from dcf.agents import consolidation_writer
    from dcf.agents.models import Models

    writer = consolidation_writer(Models(settings.env), settings.env)
    if writer is None:
        hint = "DCF_MODEL names one; without --phrase none is needed"
        raise EnvironmentTrouble("no_model", "there is no model to phrase with", hint)

    async def write(prompt: str) -> str:
        return (await writer(prompt, _TOKENS)).text

    return write


async def _phrased(report: Report, reflection: Reflection, write: Write, screen: Screen) -> Report:
    """The report after some sentences by a model, if they add nothing."""
    from dcf.advisors import Section, phrased
    from dcf.memory.consolidation import WriteFailed

    try:
        with screen.working("phrasing …"):
            text, added = await phrased(reflection.insights, write)
    except WriteFailed as failed:
        screen.warn(f"the model did not phrase it: {failed}")
        return report
    if text is None:
        what = ", ".join(added[:5]) or "nothing, or too much"
        screen.warn(f"what the model wrote is not used: it has {what} of its own")
        return report
    note = "A model wrote this; its numbers and names were checked against the findings below."
    return report.opening_with(Section("In short", (text, note)))


def since_ms(text: str) -> int:
    """The length of a time as in 7d, in ms. Raises BadInput."""
    found = read_age(text)
    if not found:
        problem = Problem(
            "CLI_SINCE",
            f"{text!r} is not a length of time",
            hint="a whole number and m, h, d or w, as in 7d",
            file="--since",
        )
        raise BadInput([problem])
    return found


@asynccontextmanager
async def _board(order: Order, settings: Settings) -> AsyncIterator[GuidelinesBoard | None]:
    """The board of the planner that is to be told; None where nobody is."""
    if order.planner is None:
        yield None
        return
    async with planner_board(order.planner, settings) as board:
        yield board


@asynccontextmanager
async def planner_board(planner: str, settings: Settings) -> AsyncIterator[GuidelinesBoard]:
    """The board of the agent of that name or id; the usual planner is made if it is missing."""
    from dcf.advisors import open_board
    from dcf.agents import open_runtime
    from dcf.agents.templates import template_named
    from dcf.memory import SYSTEM, Memory, random_id, source_of

    source = source_of(settings.env, settings.home)
    async with (
        Memory.open(source, clock=_now_ms, new_id=random_id, embedder=settings.embedder) as memory,
        open_runtime(memory, settings.env) as runtime,
    ):
        agent = await runtime.find(planner)
        if agent is None and planner == "planner":
            template = template_named("planner", settings.templates)
            new = template.new_agent("planner")
            agent = await runtime.create(new, template.blocks, by=SYSTEM)
        # An id, or a name that nobody has: then it says which are close.
        planner_id = planner if agent is None else agent.id
        yield await open_board(runtime, planner_id)


def _write(file: Path | None, text: str) -> None:
    if file is None:
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}"
        raise EnvironmentTrouble("cannot_write", message) from error


def _shown(report: Report, order: Order, reflection: Reflection) -> list[Any]:
    written = [f"written: {file}" for file in (order.out, order.html) if file is not None]
    if not written:
        written = [part for section in report.sections for part in _section(section)]
    guidelines = reflection.guidelines
    if guidelines is not None:
        count = len(reflection.published)
        written.append(
            f"Guidelines of {order.planner}: revision {guidelines.revision}, "
            f"{count} of {len(reflection.insights)} insights are sure enough for them."
        )
    return written


def _section(section: Section) -> list[Any]:
    parts: list[Any] = [Text(section.title, "bold"), *section.text]
    parts += [Text(f"  {one.line}: {one.what}") for one in section.commands]
    if section.table is not None:
        parts.append(_table(section.table))
    return [*parts, ""]


def _table(table: Table) -> Shown:
    shown = Shown()
    for at, column in enumerate(table.columns):
        right = at in table.numeric
        shown.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*map(Text, row))
    return shown


def _named(file: Path | None) -> str | None:
    return None if file is None else str(file)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
