"""Random valid state machines: all eight types, nested, with loops, retries, catches and limits, in
both query languages, with variables, callbacks and tolerated failures.

What children of one Parallel or Map do at once never decides the result by who is faster: at most
one branch may fail, and the iterations of a Map fail with one and the same error. So the result is
the same in any order of events, and the pure interpreter can say what it must be.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from control_plane import JSON
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.task_maker import make_task
from dcf.simulation.variable_shapes import assigning, reading

_ODD_NAMES = ("Fan[2]/Fetch", "50 %", "a@b", "naïve ☃", 'say "{x}"')


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chain stands: how deep, and with what errors it may fail.

    ``errors`` empty: it must not fail; ``uniform``: only with the first of them. ``own`` are the
    variables of its frame, assigned at its start, the first a number; ``outer`` those around it.
    """

    depth: int
    errors: tuple[str, ...]
    uniform: bool
    own: tuple[str, ...] = ()
    outer: tuple[str, ...] = ()

    def inside(self, errors: tuple[str, ...], uniform: bool, *, alone: bool = False) -> Place:
        """The place of a child; one that is ``alone`` sees nothing of what is around it."""
        outer = () if alone else self.own + self.outer
        return Place(self.depth + 1, errors, uniform, outer=outer)


@dataclass(slots=True)
class MachineMaker:
    """Makes one machine; ``sites`` says how its Tasks behave, by ``Resource``."""

    rng: random.Random
    sites: dict[str, Behaviour] = field(default_factory=dict)
    _names: int = 0
    _budget: int = 14

    def make(self) -> dict[str, Any]:
        """A definition; its input comes from ``make_input``."""
        rng = self.rng
        errors = ("Sim.Broken", "Sim.Refused") if rng.random() < 0.7 else ()
        definition = self._chain(Place(0, errors, uniform=False), rng.randint(2, 5))
        if rng.random() < 0.1:
            definition["TimeoutSeconds"] = rng.randint(10, 90)
        return definition

    def make_input(self, depth: int = 0) -> JSON:
        """``{"n", "items"}``, where each item has that shape again."""
        count = self.rng.choice((0, 1, 2, 3, 4)) if depth == 0 else self.rng.choice((0, 1, 2))
        items = [self.make_input(depth + 1) for _ in range(count)] if depth < 2 else []
        return {"n": self.rng.randint(0, 5), "items": items}

    def _chain(self, place: Place, length: int) -> dict[str, Any]:
        """States built from the last to the first, each knowing its successor."""
        states: dict[str, Any] = {}
        following: str | None = None
        if self.rng.random() < 0.6:
            place = replace(place, own=(f"count{place.depth}", f"kept{place.depth}"))
        if self.rng.random() < 0.3:
            following = self._add(states, "End", {"Type": "Succeed"})
        for _ in range(length):
            following = self._segment(states, place, following)
        if place.own:
            count, kept = place.own
            assign: dict[str, JSON] = {count: 0, f"{kept}.$": "$.n"}
            start: dict[str, Any] = {"Type": "Pass", "Assign": assign, **_to(following)}
            following = self._add(states, "Init", start)
        return {"StartAt": following, "States": states}

    def _segment(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        """One to five states that lead to ``following``; the name of the first."""
        makers: list[tuple[int, Callable[[dict[str, Any], Place, str | None], str]]] = [
            (6, self._task),
            (2, self._pass),
            (2, self._wait),
            (2, self._choice),
        ]
        if place.depth < 2 and self._budget > 0:
            makers += [(3, self._parallel), (4, self._map), (2, self._loop)]
        if place.errors:
            makers.append((2, self._fail))
        if place.errors and place.depth == 0:
            # Its States.Runtime passes by every Catch of States.ALL.
            makers.append((1, self._fragile))
        self._budget -= 1
        weights = [weight for weight, _ in makers]
        return self.rng.choices([maker for _, maker in makers], weights)[0](
            states, place, following
        )

    # -- single states --------------------------------------------------------------------------

    def _task(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        site = f"site:{len(self.sites)}"
        if self.rng.random() < 0.25:
            site += ".waitForTaskToken"
        following = following or self._add(states, "End", {"Type": "Succeed"})
        task, self.sites[site] = make_task(
            self.rng, site, following, place.errors[:1] if place.uniform else place.errors
        )
        return self._add(states, "Work", task)

    def _pass(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        shapes: list[dict[str, Any]] = [
            {"Result": {"empty": [], "big": 2**53 + 1, "none": None}, "ResultPath": "$.given"},
            {"Parameters": {"twice.$": "States.Array($.n, $.n)"}, "ResultPath": "$.made"},
            {},
            {
                "QueryLanguage": "JSONata",
                "Output": "{% $merge([$states.input, {'sum': $sum($states.input.items.n)}]) %}",
            },
        ]
        if place.own:
            shapes += assigning(*place.own)
        shapes += [reading(name) for name in (place.own + place.outer)[:3]]
        shape = self.rng.choice(shapes)
        return self._add(states, "Pass", {"Type": "Pass", **shape, **_to(following)})

    def _wait(self, states: dict[str, Any], _: Place, following: str | None) -> str:
        shape: dict[str, Any] = self.rng.choice(
            (
                {"Seconds": self.rng.randint(0, 4)},
                {"SecondsPath": "$.n"},
                {"Timestamp": f"2023-11-14T22:13:{self.rng.randint(20, 59)}Z"},
            )
        )
        return self._add(states, "Wait", {"Type": "Wait", **shape, **_to(following)})

    def _choice(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        following = following or self._add(states, "End", {"Type": "Succeed"})
        left = self._task(states, place, following)
        right = self._pass(states, place, following)
        limit = self.rng.randint(0, 4)
        if self.rng.random() < 0.3:
            rule = {"Condition": f"{{% $states.input.n > {limit} %}}", "Next": left}
            choice: dict[str, Any] = {"Type": "Choice", "QueryLanguage": "JSONata"}
            return self._add(states, "Choose", {**choice, "Choices": [rule], "Default": right})
        tested = f"${place.own[0]}" if place.own and self.rng.random() < 0.4 else "$.n"
        compared = {"Variable": tested, "NumericGreaterThan": limit, "Next": left}
        choice = {"Type": "Choice", "Choices": [compared], "Default": right}
        return self._add(states, "Choose", choice)

    def _fail(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        """A Fail that some inputs reach."""
        error = place.errors[0] if place.uniform else self.rng.choice(place.errors)
        broken = self._add(states, "Fail", {"Type": "Fail", "Error": error, "Cause": "as planned"})
        following = following or self._add(states, "End", {"Type": "Succeed"})
        rule = {"Variable": "$.n", "NumericGreaterThan": self.rng.randint(1, 4), "Next": broken}
        return self._add(
            states, "Check", {"Type": "Choice", "Choices": [rule], "Default": following}
        )

    def _fragile(self, states: dict[str, Any], _: Place, following: str | None) -> str:
        """Fails when it is evaluated."""
        shape = {"Type": "Pass", "Parameters": {"x.$": "$.nowhere.at.all"}, **_to(following)}
        return self._add(states, "Fragile", shape)

    # -- states around states -------------------------------------------------------------------

    def _loop(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        """A body that runs two or three times, counted in the data."""
        following = following or self._add(states, "End", {"Type": "Succeed"})
        counter = f"$.count{self._names}"
        test = self._name("Again")
        step = {"value.$": f"States.MathAdd({counter}.value, 1)"}
        count = self._add(
            states,
            "Count",
            {"Type": "Pass", "Parameters": step, "ResultPath": counter, "Next": test},
        )
        body = self._segment(states, place, count)
        more = {"Variable": f"{counter}.value", "NumericLessThan": self.rng.randint(2, 3)}
        states[test] = {
            "Type": "Choice",
            "Choices": [{**more, "Next": body}],
            "Default": following,
        }
        start = {"Type": "Pass", "Result": {"value": 0}, "ResultPath": counter, "Next": body}
        return self._add(states, "Start", start)

    def _parallel(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        count = self.rng.choice((1, 2, 3, 3))
        culprit = self.rng.randrange(count) if self.rng.random() < 0.8 else -1
        caught = self._caught(states, place, following)
        errors = place.errors or (("Sim.Inner",) if caught else ())
        inner = [
            place.inside(errors if number == culprit else (), place.uniform)
            for number in range(count)
        ]
        branches = [self._chain(chosen, self.rng.randint(1, 2)) for chosen in inner]
        shape = {"Type": "Parallel", "Branches": branches, "ResultPath": "$.both"}
        return self._add(states, "Both", {**shape, **caught, **self._again(), **_to(following)})

    def _map(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        if self.rng.random() < 0.35:
            return self._distributed(states, place, following)
        caught = self._caught(states, place, following)
        errors = place.errors[:1] or (("Sim.Inner",) if caught else ())
        inner = place.inside(errors if self.rng.random() < 0.7 else (), uniform=True)
        shape: dict[str, Any] = {
            "Type": "Map",
            "ItemsPath": "$.items",
            "ItemProcessor": self._chain(inner, self.rng.randint(1, 2)),
            "ResultPath": "$.each",
        }
        if self.rng.random() < 0.5:
            shape["MaxConcurrency"] = self.rng.randint(1, 3)
        if self.rng.random() < 0.5:
            shape["ItemSelector"] = {
                "n.$": "$$.Map.Item.Value.n",
                "items.$": "$$.Map.Item.Value.items",
                "index.$": "$$.Map.Item.Index",
                "outer.$": "$.n",
            }
        return self._add(states, "Each", {**shape, **caught, **self._again(), **_to(following)})

    def _distributed(self, states: dict[str, Any], place: Place, following: str | None) -> str:
        """A Map of which some iterations may fail; too many of them are one and the same error."""
        caught = self._caught(states, place, following)
        inner = place.inside(("Sim.Broken", "Sim.Inner"), uniform=False, alone=True)
        processor = self._chain(inner, self.rng.randint(1, 2))
        processor["ProcessorConfig"] = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
        shape: dict[str, Any] = {
            "Type": "Map",
            "ItemsPath": "$.items",
            "ItemProcessor": processor,
            # Records of failed iterations have names that depend on when the Map was entered.
            "ResultSelector": {"failed.$": "$[*].Error", "fine.$": "$[*].n"},
            "ResultPath": "$.each",
            "ToleratedFailurePercentage": 100,
        }
        if caught or (place.errors and not place.uniform):
            del shape["ToleratedFailurePercentage"]
            shape["ToleratedFailureCount"] = self.rng.randint(0, 2)
        if self.rng.random() < 0.5:
            shape["MaxConcurrency"] = self.rng.randint(1, 3)
        return self._add(states, "Spread", {**shape, **caught, **_to(following)})

    def _caught(
        self, states: dict[str, Any], place: Place, following: str | None
    ) -> dict[str, Any]:
        if self.rng.random() < 0.5:
            return {}
        target = self._add(
            states,
            "Mend",
            {"Type": "Pass", "Result": 1, "ResultPath": "$.mended", **_to(following)},
        )
        catcher: dict[str, Any]
        catcher = {"ErrorEquals": ["States.ALL"], "ResultPath": "$.problem", "Next": target}
        if place.own and self.rng.random() < 0.5:
            catcher["Assign"] = {f"{place.own[1]}.$": "$.Error"}
        return {"Catch": [catcher]}

    def _again(self) -> dict[str, Any]:
        if self.rng.random() < 0.7:
            return {}
        return {"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}]}

    # -- names ----------------------------------------------------------------------------------

    def _name(self, kind: str) -> str:
        self._names += 1
        odd = self.rng.choice(_ODD_NAMES) + " " if self.rng.random() < 0.05 else ""
        return f"{odd}{kind}{self._names}"

    def _add(self, states: dict[str, Any], kind: str, state: dict[str, Any]) -> str:
        name = self._name(kind)
        states[name] = state
        return name


def _to(following: str | None) -> dict[str, Any]:
    return {"End": True} if following is None else {"Next": following}
