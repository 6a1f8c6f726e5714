"""``dcf tasks``: what waits for a person to do it, and the answer."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from control_plane import JSON, Store, encode_name
from dcf.cli.answer import Answer
from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.board import now_ms
from dcf.cli.board_table import seconds_text
from dcf.cli.input_source import read_input
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.workflow import ManualAnswer, WaitingTask, answer_task, find_task, waiting_tasks

_LONGEST_LINE = 100


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """The command line of ``dcf tasks done`` and ``failed``. ``digest`` and ``question`` are those
    of the task that somebody saw; without them somebody at a terminal has to be shown it and asked.
    With ``sure`` nobody is. ``result`` is a file, JSON or ``-``; ``note`` of a failure is why."""

    workflow_id: str
    state: str
    decision: Literal["done", "failed"]
    name: str
    choice: str | None
    result: str | None
    note: str
    digest: str | None
    question: str | None
    sure: bool


async def list_tasks(
    workflow_id: str | None, by: str | None, settings: Settings, screen: Screen
) -> Answer:
    """What waits for a person to do it in one run or in all, for those ``by`` alone if given."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        waiting = await waiting_tasks(store, workflow_id)
        now = await now_ms(store)
    found = [one for one in waiting if by is None or one.is_for(by)]
    fields = {"tasks": [one.to_json() for one in found]}
    if not found:
        where = f" in {workflow_id}" if workflow_id else ""
        whom = f" for {by}" if by else ""
        return Answer(fields, [f"No task waits{whom}{where}."])
    return Answer(fields, [line for one in found for line in _lines(one, now)])


async def show_task(workflow_id: str, state: str, settings: Settings, screen: Screen) -> Answer:
    """One of them in full. Raises UnknownRun and NoManualTask."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        waiting = await find_task(store, workflow_id, _path(state))
        now = await now_ms(store)
    show = [*_description(waiting), _asked(waiting, now), *_commands(waiting)]
    return Answer({"task": waiting.to_json()}, show)


async def finish_task(order: TaskOrder, settings: Settings, screen: Screen) -> Answer:
    """Show the task, and answer it. Raises what ``find_task`` and ``answer_task`` do, BadInput for
    a result that is no JSON, and NotSo where nobody can have seen the task."""
    given = read_input(order.result, "--result")
    if given.problems:
        raise BadInput(given.problems)
    asks = not order.sure and at_terminal(screen)
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        waiting = await find_task(store, order.workflow_id, _path(order.state))
        if not asks:
            _check_seen(order)
        said = ManualAnswer(
            order.decision, order.name, order.choice, given.value, order.note, via="cli"
        )
        if asks:
            said = _asked_for(waiting, said, screen)
        await _answer(store, waiting, said, order)
    done = "done" if order.decision == "done" else "could not be done"
    chosen = f": {said.answer}" if said.answer is not None else ""
    fields = {
        "decision": said.decision,
        "by": said.by,
        "answer": said.answer,
        "result": said.result,
        "note": said.note,
        "task": waiting.to_json(),
    }
    asked = waiting.asked
    show = [f"{asked.path} of {asked.workflow_id}: {done}, says {said.by}{chosen}."]
    return Answer(fields, show, said.decision)


async def _answer(store: Store, waiting: WaitingTask, said: ManualAnswer, order: TaskOrder) -> None:
    await answer_task(store, waiting, said, digest=order.digest, question=order.question)


def _check_seen(order: TaskOrder) -> None:
    """Raise NotSo unless ``order`` says by itself which task is meant: a later try of the state
    asks for the same again."""
    if None in (order.digest, order.question):
        message = "nobody is asked here, so --digest and --question have to say which task is meant"
        hint = "`dcf tasks show` prints the whole command; without --yes a terminal is asked"
        raise NotSo("digest_required", message, hint)


# -- at a terminal --------------------------------------------------------------------------------


def _asked_for(waiting: WaitingTask, said: ManualAnswer, screen: Screen) -> ManualAnswer:
    """``said``, with what the command line leaves open, as the person at the terminal says it.
    Raises NotSo where they do not agree in the end."""
    for line in _description(waiting):
        screen.say(line)
    answer, result, note = said.answer, said.result, said.note
    if said.decision == "done":
        if waiting.manual.choices and answer is None:
            answer = _chosen(waiting.manual.choices)
        result = {**result, **_reported(waiting, result)} if isinstance(result, dict) else result
    elif not note:
        note = answer_to(input, "why could it not be done? ").strip()
    given = answer_to(input, f"{said.decision} as {said.by}? [y/N] ").strip().lower()
    if given not in ("y", "yes"):
        hint = "answer y, or pass --digest and --question with --yes"
        raise NotSo("not_confirmed", "nothing was answered", hint)
    return ManualAnswer(said.decision, said.by, answer, result, note, said.via)


def _chosen(choices: tuple[str, ...]) -> str:
    """A choice, by its number or its text."""
    numbered = {str(number): one for number, one in enumerate(choices, start=1)}
    offered = ", ".join(f"{number} {one}" for number, one in numbered.items())
    given = answer_to(input, f"which? {offered}: ").strip()
    return given if given in choices else numbered.get(given, given)


def _reported(waiting: WaitingTask, given: dict[str, Any]) -> dict[str, Any]:
    """What is to be reported and was not ``given``, asked for one by one."""
    schema = waiting.manual.result or {}
    found = {}
    for name, member in schema.get("properties", {}).items():
        if name in given:
            continue
        may = "" if name in schema.get("required", ()) else ", may be empty"
        kind = member.get("type", "JSON or text") if isinstance(member, dict) else "JSON or text"
        text = answer_to(input, f"{name} ({kind}{may}): ").strip()
        if text or not may:
            found[name] = text if kind == "string" else _json_or_text(text)
    return found


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# -- for people -----------------------------------------------------------------------------------


def _description(waiting: WaitingTask) -> Iterator[str]:
    """All that whoever does it has to know."""
    asked, manual = waiting.asked, waiting.manual
    yield f"{asked.path} of {asked.workflow_id} ({asked.workflow_name}), for {_whom(waiting)}"
    yield ""
    yield from (f"  {line}" for line in waiting.instruction.splitlines())
    yield ""
    yield from _given(waiting.input)
    if manual.choices:
        yield f"choices: {', '.join(manual.choices)}"
    if manual.result is not None:
        required = manual.result.get("required", ())
        names = [
            name if name in required else f"{name} (may be left out)"
            for name in manual.result.get("properties", {})
        ]
        yield f"to be reported: {', '.join(names) or 'an object'}"


def _given(value: JSON) -> Iterator[str]:
    members = value if isinstance(value, dict) else {}
    blank = sorted(name for name, one in members.items() if one is None)
    if blank:
        value = {name: one for name, one in members.items() if one is not None}
    if value not in (None, {}):
        yield "given:"
        given = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
        yield from (f"  {line}" for line in given.splitlines())
    if blank:
        yield f"not given: {', '.join(blank)}"


def _lines(waiting: WaitingTask, now: int) -> Iterator[str]:
    """A line on what is to be done, and one on whom it waits for and how to see more."""
    asked = waiting.asked
    first = next(iter(waiting.instruction.splitlines()), "")
    if len(first) > _LONGEST_LINE:
        first = f"{first[:_LONGEST_LINE]}…"
    yield f"{asked.workflow_id}  {asked.path}  {first}"
    yield f"  {_asked(waiting, now)}"
    yield f"  dcf tasks show {asked.workflow_id} {shlex.quote(asked.path)}"


def _asked(waiting: WaitingTask, now: int) -> str:
    asked = waiting.asked
    since = seconds_text((now - asked.asked_at_ms) / 1000)
    left = ""
    if asked.until_ms is not None:
        left = f", {seconds_text(max((asked.until_ms - now) / 1000, 0.0))} left"
    return f"waits for {_whom(waiting)} since {since}{left}"


def _whom(waiting: WaitingTask) -> str:
    """``dba (ana, ben)``: those who are named, and who they are where that is known."""
    request = waiting.asked.request
    people = ", ".join(request.people)
    named = set(waiting.manual.by) == set(request.people) or people == request.approver
    return request.approver if named else f"{request.approver} ({people})"


def _commands(waiting: WaitingTask) -> Iterator[str]:
    """The commands that answer this very task, with what is to be filled in."""
    asked, manual = waiting.asked, waiting.manual
    person = asked.request.people[0] if asked.request.people else "operator"
    place = f"{asked.workflow_id} {shlex.quote(asked.path)} --as {shlex.quote(person)}"
    seen = f"--digest {asked.request.digest} --question {asked.question}"
    choice = " --choice '…'" if manual.choices else ""
    needed = (manual.result or {}).get("required", ())
    sample = json.dumps(dict.fromkeys(needed, "…"), ensure_ascii=False)
    result = f" --result {shlex.quote(sample)}" if needed else ""
    yield f"dcf tasks done {place}{choice}{result} {seen}"
    yield f"dcf tasks failed {place} --reason '…' {seen}"


def _path(state: str) -> str:
    """A state may be named as it is, or as it stands in a path."""
    return state if "/" in state or "[" in state else encode_name(state)
