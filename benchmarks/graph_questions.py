"""How plain questions to the graph are understood: ``python -m benchmarks.graph_questions``.

``graph_questions.txt`` has forms, each with paraphrases and the declared question that answers
them, and questions that the graph cannot answer; it was written before the grammar. Half of the
paraphrases, by a digest of their words, were for building; ``--show`` lists what is not right of
those. The other half is left out: it is only counted.

Right is the declared question with all of its slots and no other. Wrong is any other answer; of
what cannot be answered every answer is wrong. No graph is needed: the names are those of ``WORLD``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dcf.knowledge.asking import Matched, Names, match

QUESTIONS_FILE = Path(__file__).with_suffix(".txt")
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
        **{name: frozenset({"agent"}) for name in ("claude-worker", "ann")},
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
}
Slots = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A paraphrase, and the declared question that answers it with its slots (a slot's ``|``
    separates values that are all right, ``-`` is none); None where nothing answers it."""

    words: str
    question: str | None
    slots: Slots = field(hash=False)

    @property
    def is_left_out(self) -> bool:
        return hashlib.sha256(self.words.encode()).digest()[0] % 2 == 1

    def verdict(self, matched: Matched) -> str:
        if matched.question is None:
            return "refused"
        found = slots_of(matched)
        same = matched.question.name == self.question and all(
            found.get(name, "-") in self.slots.get(name, "-").split("|")
            for name in {*found, *self.slots}
        )
        return "right" if same else "wrong"


def asked_in(text: str) -> Iterator[Asked]:
    """The paraphrases of ``text``, which is like ``graph_questions.txt``."""
    question: str | None = None
    slots: dict[str, str] = {}
    for line in filter(None, text.splitlines()):
        if line.startswith("= "):
            name, *given = line[2:].split()
            question = None if name == "none" else name
            slots = dict(one.split("=", 1) for one in given)
        elif not line.startswith("#"):
            yield Asked(line, question, slots)


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
    if matched.period:
        span = matched.period.since, matched.period.until
        named = (name for name, found in _TIMES.items() if span == tuple(map(_ms, found)))
        slots["when"] = next(named, matched.period.said)
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
    counted: Counter[tuple[str, str]] = Counter()
    for asked in asked_in(QUESTIONS_FILE.read_text()):
        matched = understood(asked.words)
        verdict = asked.verdict(matched)
        half = "left out" if asked.is_left_out else "built with"
        counted[f"{half}, {'none' if asked.question is None else 'answerable'}", verdict] += 1
        fine = ("refused",) if asked.question is None else ("right",)
        if show and not asked.is_left_out and verdict not in fine:
            found = matched.question.name if matched.question else f"- {matched.why_not}"
            screen.print(f"{verdict}: {asked.words} -> {found} {slots_of(matched)}", markup=False)
            screen.print(f"    should be {asked.question} {dict(asked.slots)}", markup=False)
    table = Table("half", "n", "right", "refused", "wrong", box=None)
    for half in sorted({half for half, _ in counted}):
        row = [counted[half, verdict] for verdict in ("right", "refused", "wrong")]
        table.add_row(half, str(sum(row)), *(f"{n} ({n / sum(row):.1%})" for n in row))
    screen.print(table)


if __name__ == "__main__":
    main()
