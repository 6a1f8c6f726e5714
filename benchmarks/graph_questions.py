"""How plain questions to the graph are understood: ``python -m benchmarks.graph_questions``.

``graph_questions.txt`` has forms, each with paraphrases and the declared question that answers
them, and questions that the graph cannot answer; it was written before the grammar. Half of the
paraphrases, by a digest of their words, were for building; ``--show`` lists what is not right of
those. The other half is left out: it is only counted.

``graph_questions_strangers.txt`` has questions of other voices, written before their author had
read the grammar; every second one is left out.

Right is the declared question with all of its slots and no other. Wrong is any other answer; of
what cannot be answered every answer is wrong. No graph is needed: the names are those of ``WORLD``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dcf.knowledge.asking import Matched, Names, match

QUESTIONS_FILE = Path(__file__).with_suffix(".txt")
STRANGERS_FILE = QUESTIONS_FILE.with_name("graph_questions_strangers.txt")
NOW = datetime(2026, 11, 25, 15, 30, tzinfo=UTC)
"""A Wednesday."""
_BOTH = frozenset({"task_type", "skill"})
_VERSION, _SKILL = frozenset({"skill"}), frozenset({"skill"})
WORLD = Names(
    {
        **dict.fromkeys(("orders.charge_payment", "orders.reserve_inventory"), _BOTH),
        "mail.send_receipt": _BOTH,
        **{
            f"skill.{name}": _SKILL
            for name in ("orders.charge_payment", "orders.reserve_inventory", "mail.send_receipt")
        },
        "skill.orders.charge_payment@1.0.0": _VERSION,
        "skill.orders.charge_payment@1.1.0": _VERSION,
        "skill.orders.reserve_inventory@2.0.0": _VERSION,
        "skill.mail.send_receipt@1.0.0": _VERSION,
        **{name: frozenset({"workflow"}) for name in ("order-processing", "refund-flow")},
        "claude-worker": frozenset({"agent"}),
        "ann": frozenset({"agent", "approver"}),
        "bob": frozenset({"approver"}),
        **dict.fromkeys(("Bash", "payment_gateway", "search_orders"), frozenset({"tool"})),
        **{name: frozenset({"error"}) for name in ("States.Timeout", "CardDeclined")},
        "billing": frozenset({"specialization"}),
    }
)
RUNS, SESSIONS = ("order-7f3a", "order-9b21"), ("helpdesk-1",)
_DAY = timedelta(days=1)
_TODAY = NOW.replace(hour=0, minute=0)
_TIMES: Mapping[str, tuple[datetime, datetime | None]] = {
    "yesterday": (_TODAY - _DAY, _TODAY),
    "since-monday": (_TODAY - 2 * _DAY, None),
    "last-week": (_TODAY - 9 * _DAY, _TODAY - 2 * _DAY),
    "7d": (NOW - 7 * _DAY, None),
    "24h": (NOW - _DAY, None),
    "today": (_TODAY, None),
    "since-yesterday": (_TODAY - _DAY, None),
    "this-month": (_TODAY.replace(day=1), None),
}
Slots = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A paraphrase, and the declared questions that answer it with their slots (a slot's ``|``
    separates values that are all right, ``-`` is none); none where nothing answers it. What
    ``is_left_out`` is only counted."""

    words: str
    answers: tuple[tuple[str, Slots], ...] = field(hash=False)
    is_left_out: bool

    def verdict(self, matched: Matched) -> str:
        if matched.question is None:
            return "refused"
        found = slots_of(matched)
        same = any(
            matched.question.name == name
            and all(
                found.get(slot, "-") in slots.get(slot, "-").split("|") for slot in {*found, *slots}
            )
            for name, slots in self.answers
        )
        return "right" if same else "wrong"


def asked_in(text: str) -> Iterator[Asked]:
    """The paraphrases of ``text``, which is like ``graph_questions.txt``."""
    answers: tuple[tuple[str, Slots], ...] = ()
    for line in filter(None, text.splitlines()):
        if line.startswith("= "):
            answers = _answers(line[2:])
        elif not line.startswith("#"):
            yield Asked(line, answers, hashlib.sha256(line.encode()).digest()[0] % 2 == 1)


def strangers_in(text: str) -> Iterator[Asked]:
    """The questions of ``text``, which is like ``graph_questions_strangers.txt``."""
    lines = [line for line in text.splitlines() if " => " in line and line[0] != "#"]
    for number, line in enumerate(lines, 1):
        words, *_, answers = line.split(" => ")
        yield Asked(words, _answers(answers), number % 2 == 0)


def _answers(said: str) -> tuple[tuple[str, Slots], ...]:
    found = []
    for one in said.split(" or "):
        name, *given = one.split()
        if name != "none":
            found.append((name, dict(slot.split("=", 1) for slot in given)))
    return tuple(found)


def slots_of(matched: Matched) -> dict[str, str]:
    """The slots of ``matched`` as ``graph_questions.txt`` writes them."""
    slots = {name: ",".join(sorted(found)) for name, found in matched.arguments.items()}
    things = {slots.get("task_type"), slots.get("skill")} - {None}
    if not any("@" in str(one) for one in things) and things:
        slots["thing"] = ",".join(sorted({str(one).removeprefix("skill.") for one in things}))
        slots.pop("skill", None)
    slots.pop("task_type", None)
    slots |= matched.choices
    if matched.by:
        slots["by"] = ",".join(sorted(matched.by))
    if matched.order:
        slots["order"] = matched.order
    for slot, period in (("when", matched.period), ("against", matched.against)):
        if period:
            span = period.since, period.until
            named = (name for name, found in _TIMES.items() if span == tuple(map(_ms, found)))
            slots[slot] = next(named, period.said)
    return slots


def understood(words: str) -> Matched:
    """What ``words`` are understood as in ``WORLD``."""
    tokens = re.findall(r"[\w.@-]+", words)
    names = {**WORLD.within(words), "session": [one for one in SESSIONS if one in tokens]}
    return match(words, names, [one for one in RUNS if one in tokens], NOW)


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--show", action="store_true", help="what is not right of the built half")
    show = parser.parse_args().show
    screen = Console(soft_wrap=True)
    for name, asked in (
        ("the first set", asked_in(QUESTIONS_FILE.read_text())),
        ("strangers", strangers_in(STRANGERS_FILE.read_text())),
    ):
        screen.print(_table(name, list(asked), screen if show else None))


def _table(name: str, all_asked: Sequence[Asked], shown_on: Console | None) -> Table:
    """The verdicts of ``all_asked``; ``shown_on`` gets what is not right of the built half."""
    counted: Counter[tuple[str, str]] = Counter()
    for asked in all_asked:
        matched = understood(asked.words)
        verdict = asked.verdict(matched)
        half = "left out" if asked.is_left_out else "built with"
        counted[f"{half}, {'answerable' if asked.answers else 'none'}", verdict] += 1
        fine = "right" if asked.answers else "refused"
        if shown_on and not asked.is_left_out and verdict != fine:
            found = matched.question.name if matched.question else f"- {matched.why_not}"
            shown_on.print(f"{verdict}: {asked.words} -> {found} {slots_of(matched)}", markup=False)
            shown_on.print(f"    should be {asked.answers}", markup=False)
    table = Table(name, "n", "right", "refused", "wrong", box=None)
    for half in sorted({half for half, _ in counted}):
        row = [counted[half, verdict] for verdict in ("right", "refused", "wrong")]
        table.add_row(half, str(sum(row)), *(f"{n} ({n / sum(row):.1%})" for n in row))
    return table


if __name__ == "__main__":
    main()
