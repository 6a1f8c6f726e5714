"""Doing what was planned, in one transaction, where nothing came in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.writing import write_block
from dcf.memory.consolidation.compressing import changes_of, write_packed
from dcf.memory.consolidation.conversation import Farewell
from dcf.memory.consolidation.drafts import Draft
from dcf.memory.consolidation.keeping import keep
from dcf.memory.consolidation.passages import PassageMerge
from dcf.memory.consolidation.plan import Plan, passage_change
from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.consolidation.snapshot import untouched
from dcf.memory.entities import BLOCK, HOLDER, MESSAGE, PASSAGE
from dcf.memory.message import NewMessage
from dcf.memory.messages.fields import columns_of
from dcf.memory.messages.finding import last_seq, live_rows
from dcf.memory.messages.pricing import priced
from dcf.memory.messages.summaries import range_problems

Outcome = tuple[list[ConsolidationChange], list[LeftOut]]


def apply(journal: Journal, agent_id: str, plan: Plan) -> Outcome:
    """Do what ``plan`` says; what was done, and what was left out because somebody changed it since
    the plan was made."""
    done: list[ConsolidationChange] = []
    left_out: list[LeftOut] = []
    for draft in plan.drafts:
        if not draft.edits:
            continue
        stands_in_the_way = _block_changed(journal, agent_id, draft)
        if stands_in_the_way is None:
            _write(journal, agent_id, draft)
            done += [edit.change for edit in draft.edits]
        else:
            left_out += [
                LeftOut(strategy, draft.label, stands_in_the_way)
                for strategy in dict.fromkeys(edit.change.strategy for edit in draft.edits)
            ]
    for merge in plan.passages:
        if _merged(journal, agent_id, merge):
            done.append(passage_change(merge))
        else:
            reason = f"passage {merge.kept['id']} or one like it was changed meanwhile"
            left_out.append(LeftOut("merge", None, reason))
    if plan.farewell is not None:
        if _put_away(journal, agent_id, plan.farewell):
            done.append(plan.farewell.change)
        else:
            reason = "its conversation was shortened by somebody else meanwhile"
            left_out.append(LeftOut("archive", None, reason))
    done += changes_of(write_packed(journal.connection, plan.events))
    return done, left_out


def _because(journal: Journal, change: ConsolidationChange) -> Journal:
    """The same transaction, for this reason."""
    return replace(journal, by=journal.by.because(f"{change.strategy}: {change.reason}"))


def _block_changed(journal: Journal, agent_id: str, draft: Draft) -> str | None:
    connection, seen = journal.connection, draft.held.row
    holder = HOLDER.find(connection, f"{agent_id}/{draft.label}")
    row = BLOCK.find(connection, seen["id"])
    if row is None or holder is None or holder["block_id"] != row["id"]:
        return "it was deleted or detached meanwhile"
    if row["revision"] != seen["revision"]:
        return (
            f"it was changed meanwhile: revision {seen['revision']} was read, it is now"
            f" {row['revision']}"
        )
    now = untouched(connection, row)
    if now is not None:
        return f"meanwhile {now}"
    hard = row["hard_limit"]
    if hard is not None and draft.size > hard:
        return f"even so it would be over its limit of {hard:,} bytes"
    return None


def _write(journal: Journal, agent_id: str, draft: Draft) -> None:
    for edit in draft.edits:
        reasoned = _because(journal, edit.change)
        keep(reasoned, agent_id, draft.label, edit.keep)
        row = BLOCK.find(journal.connection, draft.held.row["id"]) or {}
        write_block(reasoned, row, edit.text, agent_id=agent_id, label=draft.label)


def _merged(journal: Journal, agent_id: str, merge: PassageMerge) -> bool:
    now = [PASSAGE.find(journal.connection, row["id"]) for row in (merge.kept, *merge.gone)]
    if not all(map(_is_same_passage, now, (merge.kept, *merge.gone))):
        return False
    reasoned = _because(journal, passage_change(merge))
    kept, *gone = (row or {} for row in now)
    reasoned.update(PASSAGE, kept, {**kept, **merge.columns}, agent_id=agent_id)
    for row in gone:
        reasoned.delete(PASSAGE, row, agent_id=agent_id)
    return True


def _is_same_passage(now: dict[str, Any] | None, seen: Row) -> bool:
    return now is not None and all(
        now[column] == seen[column] for column in seen if column not in PASSAGE.own
    )


def _put_away(journal: Journal, agent_id: str, farewell: Farewell) -> bool:
    connection = journal.connection
    live = {row["seq"]: row for row in live_rows(connection, agent_id)}
    seq = last_seq(connection, agent_id) + 1
    span = (farewell.first, farewell.last)
    if not live.keys() >= set(farewell.seqs) or any(
        range_problems(connection, "", agent_id, seq, span)
    ):
        return False
    reasoned = _because(journal, farewell.change)
    (summary,) = priced([NewMessage("summary", farewell.summary, replaces=span)])
    row = {
        "id": journal.new_id("message"),
        "agent_id": agent_id,
        "seq": seq,
        **columns_of(summary.new, summary.tokens),
        "created_at": journal.at,
    }
    # With an event, unlike other messages: a rollback takes the summary away.
    reasoned.create(MESSAGE, row, agent_id=agent_id)
    _archive(reasoned, agent_id, [live[seq] for seq in farewell.seqs])
    return True


def _archive(journal: Journal, agent_id: str, rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        journal.update(MESSAGE, row, {**row, "archived_at": journal.at}, agent_id=agent_id)
