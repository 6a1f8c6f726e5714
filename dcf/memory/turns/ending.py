"""Beginning and ending turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import AGENT, TURN
from dcf.memory.letter import Letter
from dcf.memory.letters import end_letter
from dcf.memory.message import Message, NewMessage
from dcf.memory.messages import Priced, append
from dcf.memory.observations.citing import count_uses
from dcf.memory.scratch_pads import end_task
from dcf.memory.turn_record import TurnFence, TurnRecord, TurnState, Usage
from dcf.memory.turns.errors import TurnLost
from dcf.memory.turns.holding import is_held, refuse_second, running_row

_USAGE = tuple(field.name for field in fields(Usage))


def turn_of(row: Row) -> TurnRecord:
    """The turn in a row."""
    known = {field.name: row[field.name] for field in fields(TurnRecord) if field.name != "usage"}
    return TurnRecord(**known, usage=Usage(**{name: row[name] for name in _USAGE}))


def begin_turn(
    journal: Journal,
    agent_id: str,
    question: Priced,
    letter: Letter | None,
    *,
    lease_ms: int | None = None,
    fence: TurnFence | None = None,
) -> TurnRecord:
    """Keep the question, and that it is worked on. A letter that was delivered before is not added
    again: its turn goes on. Raises TurnUnderWay, TurnFenced, TurnLost, UnknownAgent,
    InvalidEntry."""
    known = None if letter is None else _of_letter(journal, letter)
    if lease_ms is not None:
        refuse_second(journal, agent_id, known, lease_ms=lease_ms, fence=fence)
    if known is not None and letter is not None:
        return _gone_on_with(journal, known, letter)
    (asked,) = append(journal, agent_id, [question])
    row: dict[str, Any] = {
        "id": journal.new_id("turn"),
        "agent_id": agent_id,
        "correlation_id": question.new.correlation_id or "",
        "letter_id": None if letter is None else letter.id,
        "state": "running",
        "first": asked.seq,
        "last": None,
        "model": "",
        **asdict(Usage()),
        "error": None,
        "cause": None,
        "created_at": journal.at,
        "updated_at": journal.at,
        **_authority(letter, fence),
    }
    # Without an event: turns are a log, as messages are.
    return turn_of(TURN.insert(journal.connection, row))


def _authority(letter: Letter | None, fence: TurnFence | None) -> dict[str, Any]:
    """The columns ``holder`` and ``fence``. Each try of a letter has a higher number."""
    if letter is not None:
        return {"holder": None, "fence": letter.tries}
    if fence is None:
        return {"holder": None, "fence": 0}
    return {"holder": fence.holder, "fence": fence.number}


def _gone_on_with(journal: Journal, row: Row, letter: Letter) -> TurnRecord:
    """The turn that an earlier try of the letter began, now of this one. Raises TurnLost."""
    if row["state"] == "running":
        if row["fence"] > letter.tries:
            raise TurnLost(agent_id=letter.agent_id, turn_id=row["id"])
        held = {**row, "updated_at": journal.at, "fence": letter.tries}
        row = TURN.replace(journal.connection, held, row)
    return turn_of(row)


def _of_letter(journal: Journal, letter: Letter) -> dict[str, Any] | None:
    row = journal.connection.execute(
        "SELECT * FROM turns WHERE letter_id = ?", (letter.id,)
    ).fetchone()
    return None if row is None else dict(row)


def answer_turn(
    journal: Journal,
    turn: TurnRecord,
    answer: Priced,
    *,
    model: str,
    usage: Usage,
    letter: Letter | None,
    shown: Sequence[str],
    part: str,
) -> tuple[TurnRecord, Message]:
    """Keep the answer and what it took; answer the letter, and tell its sender if that is an agent.
    Observations that the answer cites count as used, if the texts ``shown`` to the agent tell them.

    Raises UnknownAgent, LetterLost, TurnLost: then nothing of it is kept.
    """
    row = running_row(journal.connection, turn)
    (said,) = append(journal, turn.agent_id, [answer])
    if row is not None:
        # A visit of a state whose worker died is done in another turn, of the same holder.
        work = f"{row['holder']}/{part}" if row["holder"] and part else row["holder"]
        count_uses(journal, said.content, work or turn.id, shown)
    ended = _end(journal, turn, "answered", usage, last=said.seq, model=model)
    if letter is not None:
        _answer_letter(journal, ended, answer, letter)
    return ended, said


def _answer_letter(journal: Journal, turn: TurnRecord, answer: Priced, letter: Letter) -> None:
    """The letter is answered with what its turn said. Raises LetterLost."""
    text = answer.new.content
    end_letter(journal, letter, "answered", reply={"text": text, "turn": turn.id})
    if AGENT.find(journal.connection, letter.sender) is not None:
        said = NewMessage(
            "user", text, sender=letter.agent_id, correlation_id=letter.correlation_id
        )
        append(journal, letter.sender, [replace(answer, new=said, parts=0)])


def fail_turn(
    journal: Journal,
    turn: TurnRecord,
    *,
    error: str,
    cause: str,
    model: str,
    usage: Usage,
    letter: Letter | None,
) -> TurnRecord:
    """The turn failed; what was said and done by then stays. Raises LetterLost."""
    last = journal.connection.execute(
        "SELECT max(seq) FROM messages WHERE agent_id = ?", (turn.agent_id,)
    ).fetchone()[0]
    if letter is not None:
        end_letter(journal, letter, "failed", error=error, cause=cause)
    return _end(
        journal,
        turn,
        "failed",
        usage,
        last=last or turn.first,
        model=model,
        error=error,
        cause=cause,
    )


def _end(
    journal: Journal, turn: TurnRecord, state: TurnState, usage: Usage, **columns: Any
) -> TurnRecord:
    row = TURN.find(journal.connection, turn.id)
    if row is None:
        # The agent was deleted meanwhile, or what it remembers was rolled back.
        return turn
    if not is_held(row, turn):
        # Whoever went on with the agent says how it ends.
        return turn_of(row)
    end_task(journal, turn.agent_id, turn.id, "done" if state == "answered" else "failed")
    ended = row | {"state": state, **asdict(usage), **columns, "updated_at": journal.at}
    return turn_of(TURN.replace(journal.connection, ended, row))
