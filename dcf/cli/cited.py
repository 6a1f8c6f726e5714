"""``dcf open``: what a citation ``dcf://…`` names, on the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.text import Text

from control_plane import Store, UnknownState
from dcf.citation import TEMPLATES, Citation, InvalidCitation, parse_citation
from dcf.cli.answer import Answer
from dcf.cli.documents.showing import DocumentQuestion, show_document
from dcf.cli.explain import explain_run
from dcf.cli.memory.observations import ObservationsQuestion, get_observations, list_observations
from dcf.cli.memory.show import show_block, show_entry, show_message
from dcf.cli.memory.threads import TurnsQuestion, thread_shown
from dcf.cli.memory.wording import moment
from dcf.cli.project_folder import project_folder
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.retrieval.asking import show_logged
from dcf.cli.retrieval.opening import memory_settings, note_read, store_of
from dcf.cli.retrieval.playbooks import show_playbook
from dcf.cli.screen import Screen
from dcf.cli.session.explaining import explain_session
from dcf.cli.session.listing import list_companions
from dcf.cli.session.opening import open_desk
from dcf.cli.session.task import show_task
from dcf.cli.settings import Settings
from dcf.cli.skills_show import show_skill
from dcf.cli.trouble import BadInput, NoSuch, NotSo
from dcf.cli.wording import counted
from dcf.memory import ObservationChoice

SHOWN = tuple(template for template in TEMPLATES if template.partition("/")[0] != "node")
"""The forms of citations that are shown here."""


async def show_cited(uri: str, settings: Settings, screen: Screen) -> Answer:
    """What stands at an address. Raises BadInput for one that is none, NotSo for one of a kind that
    is shown elsewhere, and what the rooms raise that have it."""
    try:
        cited = parse_citation(uri, "URI")
    except InvalidCitation as invalid:
        raise BadInput(invalid.problems) from invalid
    answer = await _shown(cited, uri, settings, screen)
    if cited.kind not in ("document", "playbook"):  # that is noted where it is shown
        await note_read(settings, str(project_folder(Path.cwd()).resolve()), [str(cited)])
    return answer


async def _shown(cited: Citation, uri: str, settings: Settings, screen: Screen) -> Answer:
    match cited.kind, cited.part:
        case "observation", _:
            return await get_observations(settings, [cited.id])
        case "thread", "observation":
            return await get_observations(settings, [cited.part_id or ""])
        case (("thread" | "issue"), _):
            return await thread_shown(settings, TurnsQuestion(cited.id, cited.number, whole=True))
        case "attempt", _:
            return await _attempt(cited, settings)
        case "run", "state":
            return await _state(cited.id, cited.part_id or "", settings, screen)
        case "session", "task":
            return await show_task(cited.id, cited.part_id or "", settings, screen)
        case "session", "turn":
            return await _session_turn(cited.id, cited.number or 0, settings, screen)
        case "session", "companion":
            return await list_companions(cited.id, settings, screen, former=True)
        case "session", _:
            return await explain_session(cited.id, settings, screen)
        case "run", _:
            return await explain_run(cited.id, settings, screen)
        case "skill", _:
            ref = cited.id if cited.part_id is None else f"{cited.id}@{cited.part_id}"
            return show_skill(settings.generated, ref)
        case "agent", "message":
            return await show_message(settings, cited.id, cited.part_id or "")
        case "memory", _ if cited.id.startswith("entry-"):
            return await show_entry(settings, cited.id)
        case "memory", _:
            return await show_logged(settings, cited.id)
        case "document", _:
            return await _document(cited, settings)
        case "playbook", _:
            return await show_playbook(memory_settings(settings, store_of(settings)), cited.id)
        case "code", _:
            return await _code(cited)
        case "agent", "block":
            return await show_block(settings, cited.id, cited.part_id or "", None)
    message = f"{uri} is of a kind that is not shown here"
    raise NotSo("cli_open_kind", message, f"shown are: {', '.join(SHOWN)}")


async def _document(cited: Citation, settings: Settings) -> Answer:
    """A document, a page or some lines of it. Raises UnknownDocument, UnknownPlace."""
    page = cited.number if cited.part == "page" else None
    lines = None
    if cited.part == "line" and cited.number is not None:
        lines = cited.number, cited.last or cited.number
    return await show_document(settings, DocumentQuestion(cited.id, page, lines))


async def _code(cited: Citation) -> Answer:
    """Lines of a file of the project that the current folder is in. Raises CodeProblem."""
    from dcf.code import excerpt_of

    first = cited.number or 1
    root = project_folder(Path.cwd())
    shown = await excerpt_of(root, cited.id, first, cited.last or first)
    last = first + len(shown.lines) - 1
    fields = {**asdict(shown), "lines": list(shown.lines), "last_line": last, "root": str(root)}
    width = len(str(last))
    show = [Text.assemble((f"{cited.id}:{first}-{last}", "bold"), f"  {root}")]
    for number, line in enumerate(shown.lines, first):
        show.append(Text.assemble((f"{number:>{width}}  ", "dim"), line))
    return Answer(fields, show)


async def _attempt(cited: Citation, settings: Settings) -> Answer:
    """What was observed of an attempt, or of one step of it. Raises NoSuch."""
    of_it = ObservationChoice(
        sources=("attempt",), source_ids=(cited.id,), turn=cited.number, days=None
    )
    answer = await list_observations(settings, ObservationsQuestion(of_it, "full"))
    if not answer.fields["observations"]:
        step = "" if cited.number is None else f"step {cited.number} of "
        message = f"there is no observation of {step}the attempt {cited.id}"
        hint = "`dcf memory observations list --source attempt` lists those of all attempts"
        raise NoSuch("cli_open_attempt", message, hint)
    return answer


async def _session_turn(session_id: str, number: int, settings: Settings, screen: Screen) -> Answer:
    """A turn of a session's conversation. Raises NoSuch, BadName, CorruptHistory, NotSo."""
    from dcf.worker import spoken_turns

    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        turns = await spoken_turns(desk.sessions.store, session_id)
    if number > len(turns):
        had = counted(len(turns), "turn", "turns")
        message = f"session {session_id} has no turn {number}: it has {had}"
        raise NotSo("session_turn", message, f"`dcf session archive {session_id}` writes them all")
    turn = turns[number - 1]
    said = [{"role": role, "text": text} for role, text in turn.said]
    fields = {"session_id": session_id, "turn": number, "said": said, "tasks": [*turn.tasks]}
    show: list[Any] = [Text(f"{session_id} turn {number}  {moment(turn.at)}", "bold")]
    for role, text in turn.said:
        show += [Text(f"{role}:"), Text(text)]
    show += [Text(f"task {one}", "dim") for one in turn.tasks]
    return Answer(fields, show)


async def _state(workflow_id: str, path: str, settings: Settings, screen: Screen) -> Answer:
    """A state of a run: how it stands, what it was given and what it put out. Raises UnknownRun,
    UnknownState."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        await store.run(workflow_id)
        found = (await store.states(workflow_id, [path])).get(path)
        if found is None:
            raise UnknownState(workflow_id=workflow_id, path=path)
        given = await store.value(workflow_id, found.raw.get("effective_input", found.input))
        output = await _output(store, workflow_id, path)
    fields = {
        "workflow_id": workflow_id,
        "path": path,
        "state_type": found.type,
        "state_status": found.status,
        "visit": found.visit,
        "tries": found.try_,
        "state_error": None if found.error is None else found.error.to_json(),
        "input": given,
        "output": output,
    }
    head = f"{workflow_id} {path}: {found.type}, {found.status}, try {found.try_}"
    show: list[Any] = [Text(head, "bold")]
    if found.error is not None:
        show.append(Text(f"error: {found.error}", "red"))
    show += ["input", Text(_pretty(given))]
    if output is not None:
        show += ["output", Text(_pretty(output["data"]))]
    return Answer(fields, show)


async def _output(store: Store, workflow_id: str, path: str) -> Mapping[str, Any] | None:
    found = (await store.outputs(workflow_id, [path])).get(path)
    if found is None:
        return None
    return {**found, "data": await store.value(workflow_id, found["data"])}


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
