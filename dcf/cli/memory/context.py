"""``dcf memory context``: what an agent would be told of what was seen, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.naming import agent_named
from dcf.cli.memory.observations import BEGIN
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.session.opening import open_desk
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.knowledge import TASK_WORKFLOW
from dcf.memory import (
    CONTEXT_MODES,
    Agent,
    ContextMode,
    ContextSetting,
    Filter,
    Memory,
    Pack,
    UnknownSession,
    project_of_runs,
)
from dcf.problem import Problem

WHOSE = ("run", "state", "session", "agent")
CONDUCTOR, RUN, STATE = "role:conductor", "wf:", "state:"
"""Tags that say what an agent is there for."""
_LOOKED_AT = 1_000
"""Observations of this project among which the newest of a workflow is looked for."""


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """Whose context: of something of one of the kinds ``WHOSE`` with an id, of the next run of a
    ``workflow`` in this project, or (both None) of the one that was seen last in it. ``budget`` and
    ``mode`` take the place of the settings."""

    kind: str | None = None
    id: str | None = None
    workflow: str | None = None
    budget: int | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class _Meant:
    """Which observations are told: of a ``project``, and a ``workflow`` (None: none are told), or,
    where it only ``begins`` so, of several; ``words`` for people, and the ``state`` that they are
    told in."""

    project: str
    workflow: str | None
    words: str
    state: str | None = None
    begins: bool = False

    async def pack(self, memory: Memory, setting: ContextSetting) -> Pack:
        """What is told of them."""
        if self.workflow is None:
            return Pack("", 0, (), 0)
        return await memory.contexts.of_work(
            self.project, self.workflow, setting, state=self.state, begins=self.begins
        )


async def show_context(settings: Settings, asked: ContextQuestion, screen: Screen) -> Answer:
    """What would be packed and why, with the tokens of each part. Raises BadInput, UnknownRun,
    UnknownAgent, UnknownSession, BadContextSetting."""
    setting = _setting(settings, asked)
    if not source_in(settings).path.exists():
        return _nothing(setting, None)
    async with opened(settings) as memory:
        meant = await _meant(memory, settings, asked, screen)
        if meant is None:
            return _nothing(setting, None)
        pack = await meant.pack(memory, setting)
    if not pack.items:
        return _nothing(setting, meant, pack.left_out)
    head = f"{meant.words} is told {counted(len(pack.items), 'observation', 'observations')}"
    most = setting.budget.tokens
    show: list[Any] = [
        f"{head} in {pack.tokens} tokens of {most:,} at most (DCF_CONTEXT={setting.mode}):",
        *_parts(pack),
        "",
        Text(pack.text),
    ]
    if pack.left_out:
        show.append(f"{pack.left_out} more did not fit.")
    return Answer(_fields(setting, meant, pack), show)


def _setting(settings: Settings, asked: ContextQuestion) -> ContextSetting:
    """The settings, with what the command line says in their place."""
    problems = []
    if asked.kind is not None and asked.kind not in WHOSE:
        message = f"there is no context for {asked.kind!r}"
        hint = f"one of {', '.join(WHOSE)}, and an id"
        problems.append(Problem("CLI_CONTEXT_FOR", message, hint=hint, file="--for"))
    if asked.mode is not None and asked.mode not in CONTEXT_MODES:
        message = f"there is no mode {asked.mode!r}"
        hint = f"one of {', '.join(CONTEXT_MODES)}"
        problems.append(Problem("CLI_CONTEXT_MODE", message, hint=hint, file="--mode"))
    if problems:
        raise BadInput(problems)
    setting = ContextSetting.from_env(settings.env)
    mode: ContextMode | None = next((one for one in CONTEXT_MODES if one == asked.mode), None)
    setting = replace(setting, mode=mode or setting.mode)
    if asked.budget is None:
        return setting
    index = min(asked.budget, setting.index_tokens) if setting.mode == "full" else asked.budget
    return replace(setting, index_tokens=index, details_tokens=asked.budget - index)


async def _meant(
    memory: Memory, settings: Settings, asked: ContextQuestion, screen: Screen
) -> _Meant | None:
    """None where nothing was seen, and nothing is named."""
    project = project_of_runs(settings.generated)
    if asked.workflow is not None:
        return _of_next_run(project, asked.workflow)
    if asked.id is None:
        here = Filter(projects=[project])
        newest = await memory.observations.list(here, limit=_LOOKED_AT)
        named = next((one.workflow for one in newest if one.workflow), None)
        return None if named is None else _of_next_run(project, named)
    if asked.kind == "agent":
        agent = await agent_named(memory, asked.id)
        return await _of_agent(agent, project, f"The agent {agent.name}", settings, screen)
    if asked.kind == "session":
        return await _of_session(memory, asked.id, project, settings, screen)
    workflow_id, _, state = asked.id.partition("/")
    name = await _workflow_of(workflow_id, settings, screen)
    return _Meant(project, name, f"{state or 'A Task'} of the run {workflow_id}", state or None)


async def _of_session(
    memory: Memory, session_id: str, project: str, settings: Settings, screen: Screen
) -> _Meant:
    """What the agent of a session is told, or its conductor where it is one of ``dcf session``.
    Raises NoSuch."""
    words = f"The session {session_id}"
    try:
        session = await memory.sessions.get(session_id)
    except UnknownSession:
        async with open_desk(settings, screen) as desk:
            await desk.get(session_id)
        return _Meant(project, TASK_WORKFLOW, f"The conductor of {session_id}", begins=True)
    agent = await memory.agents.get(session.agent_id)
    return await _of_agent(agent, project, words, settings, screen)


async def _of_agent(
    agent: Agent, project: str, words: str, settings: Settings, screen: Screen
) -> _Meant:
    """What an agent is told: one that conducts sessions what their tasks showed, one that does a
    Task what runs of its workflow did, any other nothing."""
    if CONDUCTOR in agent.tags:
        return _Meant(project, TASK_WORKFLOW, words, begins=True)
    run = next((tag.removeprefix(RUN) for tag in agent.tags if tag.startswith(RUN)), None)
    if run is None:
        return _Meant(project, None, words)
    state = next((tag.removeprefix(STATE) for tag in agent.tags if tag.startswith(STATE)), None)
    return _Meant(project, await _workflow_of(run, settings, screen), words, state)


async def _workflow_of(workflow_id: str, settings: Settings, screen: Screen) -> str:
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        return (await store.run(workflow_id)).name


def _of_next_run(project: str, workflow: str) -> _Meant:
    return _Meant(project, workflow, f"The next run of {workflow}")


def _nothing(setting: ContextSetting, meant: _Meant | None, left_out: int = 0) -> Answer:
    whose = meant.words if meant else "The next run"
    lines = [f"{whose} is told nothing.", BEGIN]
    if meant is not None and meant.workflow is None:
        lines[1] = "Agents are told some that do Tasks of runs, or conduct sessions."
    if left_out:
        known = counted(left_out, "observation does", "observations do")
        tokens = counted(setting.budget.tokens, "token", "tokens")
        lines = [f"{whose} is told nothing: {known} not fit in {tokens}.", "`--budget` makes room."]
    if setting.mode == "off":
        lines = [f"{whose} is told nothing: DCF_CONTEXT is off.", "`--mode index` shows more."]
    return Answer(_fields(setting, meant, Pack("", 0, (), left_out)), lines)


def _parts(pack: Pack) -> list[Text]:
    return [
        Text(f"  {one.layer:<7} {one.tokens:>5} tokens  {one.offer.uri}  {one.offer.why}", "dim")
        for one in pack.items
    ]


def _fields(setting: ContextSetting, meant: _Meant | None, pack: Pack) -> dict[str, Any]:
    budget = setting.budget
    return {
        "for": meant.words if meant else None,
        "workflows": [meant.workflow] if meant and meant.workflow is not None else [],
        "projects": [meant.project] if meant else [],
        "mode": setting.mode,
        "budget": {"index": budget.index, "details": budget.details, "rows": budget.rows},
        "tokens": pack.tokens,
        "items": [
            {
                "uri": one.offer.uri,
                "layer": one.layer,
                "tokens": one.tokens,
                "why": one.offer.why,
                "row": one.offer.row,
            }
            for one in pack.items
        ],
        "left_out": pack.left_out,
        "text": pack.text,
    }
