"""How it stands with observations by a model: in the command's ``--status`` and in `dcf doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.text import Text

from control_plane.embedded import Check
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.memory.wording import moment
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory import Memory, MemoryProblem
from dcf.memory.extraction import (
    DAY_MS,
    HOUR_MS,
    ExtractionQueue,
    ExtractionSetting,
    Spending,
    Spent,
    Standing,
)

MOST_SHOWN = 20
"""Events that were set aside, of those that people see."""
_MOST = 1_000
_NEARLY = 0.9
"""Of a budget: of the rest, there may be too little for a request."""
_ENDS = "`dcf memory observations extract --resume` ends that"
_RESUME = "mend it: `dcf memory observations extract` tries another key or model; else --resume"


async def standing_fields(memory: Memory, setting: ExtractionSetting) -> dict[str, Any]:
    """All that is known, as ``--json`` has it."""
    queue, spending = ExtractionQueue(memory.ledger), Spending(memory.ledger, setting.limits)
    limits, now = setting.limits, await queue.standing()
    counts = asdict(await queue.counts())
    del counts["due"]
    is_paused = now.is_paused(memory.ledger.clock())
    return {
        **counts,
        "events_set_aside": [asdict(one) for one in await queue.set_aside(limit=_MOST)],
        "queue_limit": setting.most,
        "refused": now.refused,
        "refused_at": now.refused_at,
        "hour": _budget(await spending.within(HOUR_MS), limits.hour_tokens),
        "day": _budget(await spending.within(DAY_MS), limits.day_tokens),
        "requests_per_minute": limits.minute_requests,
        "by_workers": setting.is_on,
        "stopped": _stop(now),
        "paused": {"reason": now.paused_reason, "until": now.paused_until} if is_paused else None,
        "ahead_until": await spending.ahead_until(),
    }


def standing_lines(fields: dict[str, Any]) -> list[Any]:
    """The same for people."""
    lines: list[Any] = [
        f"{fields['waiting']:,} waiting, {fields['claimed']:,} being worked on, {fields['done']:,}"
        f" done with {counted(fields['found'], 'observation', 'observations')},"
        f" {fields['set_aside']:,} set aside",
        *(_spent_line(name, fields[name]) for name in ("hour", "day")),
        f"By workers: {'on' if fields['by_workers'] else 'off (DCF_EXTRACT=on turns it on)'}",
    ]
    if fields["refused"]:
        times = counted(fields["refused"], "time", "times")
        lines.append(_warning(f"{times} the queue was full, and an event was refused"))
    if fields["stopped"]:
        lines.append(_warning(f"Stopped: {fields['stopped']['reason']}"))
    if fields["paused"]:
        until = moment(fields["paused"]["until"])
        lines.append(_warning(f"Paused until {until}: {fields['paused']['reason']}"))
    if fields["ahead_until"]:
        lines.append(_warning(_ahead(fields["ahead_until"])))
    for one in fields["events_set_aside"][:MOST_SHOWN]:
        place = f"{one['source_type']} {one['source_id']} {one['event']}"
        lines.append(Text(f"set aside: {place}: {one['reason']}", "yellow"))
    left = fields["set_aside"] - MOST_SHOWN
    if left > 0:
        lines.append(f"… and {left:,} more; --json has all")
    return lines


async def extraction_checks(settings: Settings) -> list[Check]:
    """What `dcf doctor` says of it; nothing where no model was ever asked."""
    name = "observations by a model"
    if not source_in(settings).path.exists():
        return []
    try:
        async with opened(settings) as memory:
            setting = ExtractionSetting.from_env(settings.env)
            queue = ExtractionQueue(memory.ledger)
            now, counts = await queue.standing(), await queue.counts()
            waits = await _waits(memory, setting, now)
    except MemoryProblem as problem:
        return [Check(name, False, str(problem), "`dcf memory doctor` says more", required=False)]
    if now.is_stopped:
        found = f"stopped: {now.stopped_reason}"
        return [Check(name, False, found, _RESUME, required=False)]
    if not (setting.is_on or counts.waiting or counts.done or counts.set_aside or now.refused):
        return []
    found = f"{counts.waiting:,} events wait, {counts.done:,} done, {counts.set_aside:,} set aside"
    if now.refused:
        found += f"; refused {now.refused:,} times for a full queue"
    hints = ["`dcf memory observations extract --status`", *dict.fromkeys(waits.values())]
    found = "; ".join([found, *waits])
    return [Check(name, not counts.set_aside, found, "; ".join(hints), required=False)]


async def _waits(memory: Memory, setting: ExtractionSetting, now: Standing) -> dict[str, str]:
    """What keeps models from being asked, now or later, each with what ends it."""
    waits, limits = dict[str, str](), setting.limits
    spending = Spending(memory.ledger, limits)
    if now.is_paused(memory.ledger.clock()):
        waits[f"paused until {moment(now.paused_until)}: {now.paused_reason}"] = _ENDS
    for name, span_ms, limit in (
        ("HOUR", HOUR_MS, limits.hour_tokens),
        ("DAY", DAY_MS, limits.day_tokens),
    ):
        used = (await spending.within(span_ms)).tokens
        if used >= _NEARLY * limit:
            text = f"{used:,} of {limit:,} tokens of the last {name.lower()} are used"
            waits[text] = f"DCF_EXTRACT_{name} sets how many may be"
    until = await spending.ahead_until()
    if until is not None:
        waits[_ahead(until)] = _ENDS
    return waits


def _ahead(until: int) -> str:
    counts = "what was asked then counts once more when it gets there"
    return f"the clock was ahead, at {moment(until)} last: {counts}"


def _budget(spent: Spent, limit: int) -> dict[str, Any]:
    left = max(limit - spent.tokens, 0)
    used = {"requests": spent.requests, "cost_usd": spent.cost_usd}
    return {"limit": limit, "used": spent.tokens, "left": left, **used}


def _spent_line(name: str, budget: dict[str, Any]) -> str:
    cost = budget["cost_usd"]
    price = "a price that is not known" if cost is None else f"{cost:.4f} US dollars"
    requests = counted(budget["requests"], "request", "requests")
    used = f"{budget['used']:,} of {budget['limit']:,} tokens"
    return f"Of the last {name}: {used}, {requests}, {price}"


def _stop(now: Standing) -> dict[str, Any] | None:
    if not now.is_stopped:
        return None
    return {"reason": now.stopped_reason, "at": now.stopped_at}


def _warning(text: str) -> Text:
    return Text(text, "yellow")
