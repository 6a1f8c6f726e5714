"""Random procedures that are right: every name is read where each way to it has written it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from dcf.sop import (
    CONTINUE,
    AllOf,
    Approval,
    Branch,
    Comparison,
    Condition,
    Constant,
    Direction,
    Finish,
    GoTo,
    Handler,
    Join,
    Keep,
    Lane,
    Loop,
    Name,
    Presence,
    Retry,
    Sop,
    Step,
    Stop,
    Transfer,
    Value,
    ValueType,
    Wait,
    clashes,
)

REPORTED: tuple[ValueType | None, ...] = (None, "string", "integer", "boolean", "array")
KEEPS: tuple[Keep, ...] = ("first", "last", "every")

TASKS = (
    ("shop.check", ("valid", "reason")),
    ("shop.price", ("amount_cents",)),
    ("shop.charge@^1", ("payment_id",)),
    ("shop.list", ("lines", "count")),
    ("post.tell", ("channel",)),
)
_TITLES = ("Check it", "Look at the `order_id`", "Charge the card!", "3 x tell", "Ça va? Oui", "…")


class Maker:
    """Makes one procedure of ``rng``."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.made = 0

    def sop(self) -> Sop:
        inputs = (
            Value("order_id"),
            Value("amount_cents", "integer", default=5, required=False),
            Value("note", required=False),
            Value("parts", "array", items="object", members=(Value("sku"),)),
        )
        steps, known = self.steps("", {"order_id", "amount_cents", "note", "parts"}, depth=2)
        written = sorted(known - {one.name for one in inputs})
        outputs = tuple(Value(name) for name in written[:2])
        return Sop("Random procedure", "It is done.", steps, inputs, outputs)

    def steps(self, within: str, known: set[str], depth: int) -> tuple[tuple[Step, ...], set[str]]:
        """A list of steps, and what is surely known behind it."""
        count = self.rng.randint(1, 4)
        numbers = [f"{within}.{at}" if within else str(at) for at in range(1, count + 1)]
        steps: list[Step] = []
        known = set(known)
        ends: list[set[str]] = []
        skipped_until = -1
        before_skip: set[str] = set()
        for at, number in enumerate(numbers):
            if at == skipped_until:
                known = before_skip  # some way came here past the steps between
            target = self.jump(at, count) if skipped_until < at else None
            if target is not None:
                skipped_until, before_skip = target, set(known)
            goal: Direction | None = GoTo(numbers[target]) if target is not None else None
            step, written = self.step(number, known, depth, goal)
            steps.append(step)
            if any(isinstance(handler.then, Finish) for handler in step.handlers):
                ends.append(set(known))
            known |= written
        return tuple(steps), set.intersection(known, *ends)

    def jump(self, at: int, count: int) -> int | None:
        """A step further on to jump to."""
        if at + 2 >= count or self.rng.random() < 0.6:
            return None
        return self.rng.randint(at + 2, count - 1)

    def step(
        self, number: str, known: set[str], depth: int, goal: Direction | None
    ) -> tuple[Step, set[str]]:
        kinds = ["task"] * 4 + ["decision", "wait", "approval", "manual"]
        if depth:
            kinds += ["loop", "parallel"] * 2
        kind = self.rng.choice(kinds)
        branches = (Branch(self.condition(known), goal),) if goal else ()
        if kind == "task":
            return self.task(number, known, branches)
        title = self.rng.choice(_TITLES)
        if kind == "wait":
            wait = Wait(seconds=self.rng.choice([3, Name("amount_cents")]))
            return Step(number, title, "wait", wait=wait, branches=branches), set()
        if kind == "approval":
            refused = Handler(("DCF.ApprovalRejected",), Stop("Refused", "`order_id` was refused"))
            return Step(
                number,
                title,
                "approval",
                approval=Approval(("ana", "bo")[: self.rng.randint(0, 2)]),
                handlers=(refused,),
                branches=branches,
            ), set()
        if kind == "manual":
            return self.manual(number, known, branches)
        if kind == "loop":
            return self.loop(number, known, depth, branches)
        if kind == "parallel":
            return self.parallel(number, known, depth, branches)
        then = Stop("Odd", "it is `note`") if self.rng.random() < 0.3 else goal or CONTINUE
        return Step(
            number, title, "decision", branches=(Branch(self.condition(known), then),)
        ), set()

    def task(
        self, number: str, known: set[str], branches: tuple[Branch, ...]
    ) -> tuple[Step, set[str]]:
        skill, gives = self.rng.choice(TASKS)
        self.made += 1
        writes = tuple(
            Transfer(name, self.rng.choice([name, f"{name}_{self.made}"])) for name in gives
        )
        reads = tuple(Transfer(name, name) for name in sorted(known) if self.rng.random() < 0.3)
        handlers = (Handler((), Finish()),) if self.rng.random() < 0.2 else ()
        retries = (Retry(2, 1, 2.0),) if self.rng.random() < 0.3 else ()
        step = Step(
            number,
            self.rng.choice(_TITLES),
            text=self.rng.choice(["", "Do it well."]),
            skills=(skill,),
            reads=reads,
            writes=writes,
            branches=branches,
            handlers=handlers,
            retries=retries,
            deadline=self.rng.choice([None, 60]),
        )
        return step, {write.target for write in writes}

    def manual(
        self, number: str, known: set[str], branches: tuple[Branch, ...]
    ) -> tuple[Step, set[str]]:
        self.made += 1
        choices = self.rng.choice([(), ("yes", "no"), ("done", "left, or given up")])
        names = [f"answer_{self.made}", f"ticket_{self.made}"][: self.rng.randint(0, 2)]
        failed = Handler(("DCF.ManualTaskFailed",), Stop("NotDone", "`order_id` was left"))
        step = Step(
            number,
            self.rng.choice(_TITLES),
            "manual",
            role=self.rng.choice([None, "dba", "dba or sre"]),
            reads=tuple(Transfer(name, name) for name in sorted(known) if self.rng.random() < 0.3),
            choices=choices,
            writes=tuple(
                # The first is the choice, where there are any.
                Transfer(name, name, type=None if choices and not at else self.rng.choice(REPORTED))
                for at, name in enumerate(names)
            ),
            deadline=self.rng.choice([None, 3600]),
            handlers=(failed,),
            branches=branches,
        )
        return step, set(names)

    def loop(
        self, number: str, known: set[str], depth: int, branches: tuple[Branch, ...]
    ) -> tuple[Step, set[str]]:
        item = f"item_{number.replace('.', '_')}"
        steps, inside = self.steps(number, known | {item}, depth - 1)
        left = sorted(inside - known - {item})[: self.rng.randint(0, 2)]
        writes = tuple(Transfer(name, f"all_{name}_{self.made}") for name in left)
        loop = Loop("parts", item, self.rng.choice([None, 1, 2]))
        step = Step(
            number, "Each", "loop", loop=loop, steps=steps, writes=writes, branches=branches
        )
        return step, {write.target for write in writes}

    def parallel(
        self, number: str, known: set[str], depth: int, branches: tuple[Branch, ...]
    ) -> tuple[Step, set[str]]:
        lanes: list[Lane] = []
        sure: set[str] = set()
        for at in range(1, 3):
            title = self.rng.choice(["", f"Lane {at}"])
            steps, inside = self.steps(f"{number}.{at}", known, depth - 1)
            if not title:
                steps, inside = self._one(f"{number}.{at}", known)
            lanes.append(Lane(steps, title))
            sure |= inside - known
        step = Step(number, "Both", "parallel", lanes=tuple(lanes), branches=branches)
        return replace(step, joins=tuple(map(self.join, clashes(step)))), sure

    def join(self, name: str) -> Join:
        """A rule for what two lanes write; amounts stay numbers."""
        amount = name.startswith("amount")
        return Join(name, self.rng.choice(("first", "last") if amount else KEEPS))

    def _one(self, number: str, known: set[str]) -> tuple[tuple[Step, ...], set[str]]:
        step, written = self.task(number, known, ())
        return (step,), written if not step.handlers else set()

    def condition(self, known: set[str]) -> Condition:
        asked = Comparison(Name("amount_cents"), ">", Constant(self.rng.randint(0, 9)))
        if self.rng.random() < 0.3:
            return AllOf((Presence(Name("note")), asked))
        return asked
