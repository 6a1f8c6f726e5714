"""What models cost: a table as data, which a file of the user's extends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml

from dcf.problem import Problem

_OURS = Path(__file__).with_name("prices.json")
_MILLION = Decimal(1_000_000)
_DEAREST = Decimal(1_000_000)
"""US dollars for a million tokens; more is a slip."""
_MEMBERS = ("input", "cached_input", "cache_write", "output")
_NEEDED = ("input", "output")


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a million tokens; ``cached_input`` were read from the provider's cache,
    ``cache_write`` written to it."""

    input: Decimal
    cached_input: Decimal
    cache_write: Decimal
    output: Decimal

    @property
    def dearest_input(self) -> Decimal:
        return max(self.input, self.cached_input, self.cache_write)


@dataclass(frozen=True, slots=True)
class Price:
    """``rates``, or ``long_rates`` for requests with more than ``long_above`` tokens of input."""

    rates: Rates
    long_rates: Rates | None = None
    long_above: int = 0

    def cost(self, input_: int, output: int, cached: int = 0, written: int = 0) -> Decimal:
        """US dollars for one request; ``cached`` and ``written`` are parts of ``input_``."""
        rates = self._rates(input_)
        plain = max(input_ - cached - written, 0)
        return (
            plain * rates.input
            + cached * rates.cached_input
            + written * rates.cache_write
            + output * rates.output
        ) / _MILLION

    def most(self, input_: int, output: int) -> Decimal:
        """What a request of at most so many tokens can cost."""
        return max(
            (input_ * rates.dearest_input + output * rates.output) / _MILLION
            for rates in {self.rates, self._rates(input_)}
        )

    def _rates(self, input_: int) -> Rates:
        return self.long_rates if self.long_rates and input_ > self.long_above else self.rates


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by ``provider:model``; ``provider:*`` is for all of its models that are not named."""

    prices: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str) -> Price | None:
        """The price of ``model`` (``provider:model``), None when it is not known."""
        provider = model.partition(":")[0]
        return self.prices.get(model) or self.prices.get(f"{provider}:*")


def read_prices(own: Path | None = None) -> tuple[PriceTable, list[Problem]]:
    """Our table, with the prices of the file ``own`` (YAML or JSON, of the same form) in front, and
    what is wrong with that file."""
    prices, problems = _table(json.loads(_OURS.read_text(encoding="utf-8")), str(_OURS))
    if own is not None:
        try:
            document = yaml.safe_load(own.read_text(encoding="utf-8"))
        # A date that there is not, or a number of thousands of digits, is a ValueError.
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            reason = " ".join(str(error).split())
            problem = Problem("MODEL_PRICES", f"prices cannot be read: {reason}", file=str(own))
            return PriceTable(prices), [problem]
        more, problems = _table(document, str(own))
        prices.update(more)
    return PriceTable(prices), problems


def _table(document: Any, file: str) -> tuple[dict[str, Price], list[Problem]]:
    problems: list[Problem] = []

    def wrong(path: str, message: str, hint: str = "") -> None:
        problems.append(Problem("MODEL_PRICES", message, path=path, hint=hint, file=file))

    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, dict):
        wrong("/models", "no object of models", 'as in {"models": {"openai:x": {"input": 1, …}}}')
        return {}, problems
    if document.get("currency", "USD") != "USD" or document.get("per_tokens", 10**6) != 10**6:
        wrong("", "prices are in USD for 1000000 tokens", "leave currency and per_tokens out")
    found = {}
    for name, entry in models.items():
        path = f"/models/{name}"
        before = len(problems)
        if not isinstance(entry, dict):
            wrong(path, "no object", "members: input, output; cached_input, cache_write, above")
            continue
        for member in entry.keys() - {*_MEMBERS, "above"}:
            wrong(f"{path}/{member}", "an unknown member", f"known: {', '.join(_MEMBERS)}, above")
        rates = {one: _number(entry, one, path, wrong) for one in _MEMBERS}
        for one in _NEEDED:
            if one not in entry:
                wrong(f"{path}/{one}", "is missing", "0 where it is free")
        above = entry.get("above")
        longer: dict[str, Decimal | None] = {}
        if above is not None:
            tokens = above.get("tokens") if isinstance(above, dict) else None
            if not isinstance(above, dict) or type(tokens) is not int or tokens < 0:
                wrong(f"{path}/above", "needs tokens, a whole number from 0")
            else:
                for member in above.keys() - {*_MEMBERS, "tokens"}:
                    wrong(f"{path}/above/{member}", "an unknown member")
                longer = {one: _number(above, one, f"{path}/above", wrong) for one in _MEMBERS}
        if len(problems) == before:
            long_rates = _rates({**rates, **_known(longer)}) if longer else None
            found[str(name)] = Price(_rates(rates), long_rates, above["tokens"] if above else 0)
    return found, problems


def _number(entry: Mapping[str, Any], member: str, path: str, wrong: Any) -> Decimal | None:
    if member not in entry:
        return None
    value = entry[member]
    try:
        number = Decimal(str(value)) if not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and 0 <= number <= _DEAREST:
        return number
    wrong(f"{path}/{member}", f"{value!r} is no price", "US dollars for a million tokens")
    return None


def _known(rates: Mapping[str, Decimal | None]) -> dict[str, Decimal]:
    return {name: rate for name, rate in rates.items() if rate is not None}


def _rates(rates: Mapping[str, Decimal | None]) -> Rates:
    known = _known(rates)
    plain = known["input"]
    return Rates(
        input=plain,
        cached_input=known.get("cached_input", plain),
        cache_write=known.get("cache_write", plain),
        output=known["output"],
    )
