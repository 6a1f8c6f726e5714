"""``dcf memory threads list`` and ``show``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text

from dcf.citation import Citation
from dcf.cli.answer import Answer
from dcf.cli.memory.opening import opened
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory import Thread, Turn

_TEXT = 300
_TOOL = 120
"""Characters of a turn and of a tool's input or output in a list of turns."""
_MORE_TURNS = "`dcf memory threads show` with --offset"
"""``dcf open`` shows turns, too, and has no such option."""


@dataclass(frozen=True, slots=True)
class ThreadsQuestion:
    """Which threads; None is all."""

    project: str | None = None
    source: str | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TurnsQuestion:
    """Which turns of a thread: one, those that stand at the source now, or ``everything``; of
    several the beginning of each, or the ``whole`` of it."""

    thread: str
    turn: int | None = None
    everything: bool = False
    limit: int = 50
    offset: int = 0
    whole: bool = False


async def threads_listed(settings: Settings, asked: ThreadsQuestion) -> Answer:
    """The threads, those that began last first."""
    async with opened(settings) as memory:
        found = await memory.threads.list(
            project=asked.project,
            source_type=asked.source,
            limit=asked.limit + 1,
            offset=asked.offset,
        )
    shown, more = found[: asked.limit], len(found) > asked.limit
    fields = {"threads": [asdict(thread) for thread in shown], "more": more}
    if not shown:
        return Answer(fields, ["There are no such threads; `dcf memory threads sync` brings some."])
    show: list[Any] = [line for thread in shown for line in _heading(thread)]
    return Answer(fields, [*show, _end(len(shown), "thread", "--offset", asked.offset, more=more)])


async def thread_shown(settings: Settings, asked: TurnsQuestion) -> Answer:
    """A thread with its turns. Raises UnknownThread, UnknownTurn."""
    async with opened(settings) as memory:
        thread = await memory.threads.get(asked.thread)
        if asked.turn is not None:
            turn = await memory.threads.turn(asked.thread, asked.turn)
            fields = {"thread": asdict(thread), "turns": [_entry(thread, turn)], "more": False}
            return Answer(fields, [*_heading(thread), *_lines(turn, whole=True)])
        found = await memory.threads.turns(
            asked.thread, all=asked.everything, limit=asked.limit + 1, offset=asked.offset
        )
    shown, more = found[: asked.limit], len(found) > asked.limit
    fields = {
        "thread": asdict(thread),
        "turns": [_entry(thread, turn) for turn in shown],
        "more": more,
    }
    show = [
        *_heading(thread),
        *(line for turn in shown for line in _lines(turn, whole=asked.whole)),
    ]
    return Answer(fields, [*show, _end(len(shown), "turn", _MORE_TURNS, asked.offset, more=more)])


def _entry(thread: Thread, turn: Turn) -> dict[str, Any]:
    citation = Citation("thread", thread.source_id, "turn", number=turn.number)
    return {**asdict(turn), "citation": str(citation)}


def _heading(thread: Thread) -> list[Text]:
    of = f", {thread.project}" if thread.project else ""
    from_ = f", sent by {thread.parent}" if thread.parent else ""
    passed = thread.turns - thread.current
    turns = counted(thread.current, "turn", "turns") + (f" and {passed} passed" if passed else "")
    return [
        Text.assemble((thread.source_id, "bold"), f"  {one_line(thread.title)}"),
        Text(
            f"  {thread.source_type}{of}{from_}: {thread.status}, {turns},"
            f" begun {moment(thread.started_at)}",
            "dim",
        ),
    ]


def _lines(turn: Turn, *, whole: bool) -> Iterator[Text]:
    standing = "" if turn.standing == "current" else f"  {turn.standing}"
    at = "" if turn.at is None else f"  {moment(turn.at)}"
    yield Text.assemble((f"{turn.number} {turn.role}", "bold"), (f"{standing}{at}", "dim"))
    if turn.text:
        yield Text(turn.text if whole else f"  {one_line(turn.text, _TEXT)}")
    for tool in turn.tools:
        failed = ", failed" if tool.failed else ""
        given = ", ".join(f"{name}: {value}" for name, value in tool.input.items())
        if whole:
            yield Text(f"{tool.name}({given}){failed}")
            yield Text(tool.output)
        else:
            yield Text(f"  {tool.name}({one_line(given, _TOOL)}){failed}")
            yield Text(f"    {one_line(tool.output, _TOOL)}", "dim")


def _end(shown: int, what: str, further: str, offset: int, *, more: bool) -> str:
    told = counted(shown, what, f"{what}s")
    return f"{told}; {further} {offset + shown} shows more" if more else told
