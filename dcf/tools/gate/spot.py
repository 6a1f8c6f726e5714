"""A place in a document that is being read, where problems can be noted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from dcf.problem import Problem
from dcf.tools.document import pointer
from dcf.tools.gate.glob import LONGEST
from dcf_agents.shipped import docs_page

_ABSENT = object()


class Spot:
    """The value at ``path`` of a document; what is wrong with it goes to ``problems``.

    A reading that fails notes a problem and gives a harmless value, so that the rest is read too.
    """

    def __init__(self, value: Any, path: str, problems: list[Problem]) -> None:
        self.value = value
        self._path = path
        self._problems = problems

    @property
    def given(self) -> bool:
        """Whether the document has this member."""
        return self.value is not _ABSENT

    def problem(self, code: str, message: str, hint: str = "") -> None:
        """Note that something is wrong here."""
        self._problems.append(Problem(code, message, self._path, hint))

    def get(self, name: str) -> Spot:
        """The member ``name``, given or not."""
        held = self.value if isinstance(self.value, Mapping) else {}
        return Spot(held.get(name, _ABSENT), self._path + pointer([name]), self._problems)

    def items(self) -> Iterator[tuple[str, Spot]]:
        """The members of an object that is given."""
        if self.given and self._is(Mapping, "an object"):
            for name in self.value:
                yield (
                    str(name),
                    Spot(self.value[name], self._path + pointer([name]), self._problems),
                )

    def elements(self, least: int = 0) -> Iterator[Spot]:
        """The elements of a list that is given, of at least ``least``."""
        if not self.given and not least:
            return
        if self._is(list, "a list"):
            if len(self.value) < least:
                self._must_be("a list with an element at least")
            for index, element in enumerate(self.value):
                yield Spot(element, self._path + pointer([index]), self._problems)

    def members(self, known: set[str]) -> None:
        """Note members that nobody reads."""
        for name, spot in self.items():
            if name not in known:
                near = get_close_matches(name, known, n=1)
                listing = f"known are {', '.join(sorted(known))}"
                hint = f"did you mean {near[0]!r}?" if near else listing
                spot.problem("POLICY_UNKNOWN_KEY", f"there is no member {name!r} here", hint)

    def constant(self, name: str, text: str) -> None:
        """Note when the member ``name`` is not ``text``."""
        spot = self.get(name)
        if spot.value != text:
            spot.problem("POLICY_SHAPE", f"{name} must be {text}", f"write {name}: {text}")

    def text(self, default: str, *, among: Sequence[str] = (), required: bool = False) -> str:
        """A text that is not empty, one of ``among`` when that is given."""
        if not self.given and not required:
            return default
        wanted = f"one of {', '.join(among)}" if among else "a text"
        value = self.value
        if not isinstance(value, str) or not value or (among and value not in among):
            self._must_be(wanted)
            return default
        return value

    def glob(self) -> str:
        """A text that is short enough for a glob."""
        text = self.text("")
        if len(text) > LONGEST:
            self._must_be(f"at most {LONGEST} characters")
            return ""
        return text

    def globs(self) -> tuple[str, ...]:
        """A glob, or a list of globs."""
        if isinstance(self.value, str):
            return (self.glob(),)
        return tuple(element.glob() for element in self.elements())

    def texts(self, *, among: Sequence[str] = (), least: int = 0) -> tuple[str, ...]:
        """A text, or a list of texts."""
        if isinstance(self.value, str):
            return (self.text("", among=among),)
        return tuple(element.text("", among=among) for element in self.elements(least))

    def number(self, default: float, *, above: float = -math.inf, most: float = math.inf) -> float:
        """A finite number above ``above``, at most ``most``."""
        if not self.given:
            return default
        value = self.value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not above < value <= most:
            limits = [f"above {above:g}"] * math.isfinite(above)
            limits += [f"at most {most:g}"] * math.isfinite(most)
            self._must_be(" ".join(["a number", " and ".join(limits)]).rstrip())
            return default
        return float(value)

    def whole(self) -> int:
        """A whole number from 0 on."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self._must_be("a whole number, 0 or more")
            return 0
        return value

    def flag(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            self._must_be("true or false")
        return self.value is True

    def _must_be(self, wanted: str) -> None:
        hint = f"see {docs_page('how-to/permissions.md')} for the form of a policy"
        self.problem("POLICY_SHAPE", f"{self._name} must be {wanted}", hint)

    @property
    def _name(self) -> str:
        return self._path.rpartition("/")[2] or "the policy"

    def _is(self, kind: type, wanted: str) -> bool:
        if self.given and isinstance(self.value, kind):
            return True
        self._must_be(wanted)
        return False
