"""The models that agents ask, each built once."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from dcf.agents.models.allowance import Allowance, Unlimited
from dcf.agents.models.build import build_model
from dcf.agents.models.call_settings import read_call_settings
from dcf.agents.models.name import REHEARSAL, ModelName, parse_name
from dcf.agents.models.pace import Pace
from dcf.agents.models.price import Price, read_prices
from dcf.agents.models.transcript import secrets_of
from dcf.tools import Redactor

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.models.metered import Sleep


class Models:
    """Models by name, as ``environment`` has their keys and addresses.

    ``clock`` counts seconds and never goes back; ``sleep`` and ``random`` are for the waits between
    repetitions.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._environment = dict(environment or {})
        self._settings, _ = read_call_settings(self._environment)
        self._prices, _ = read_prices(self._settings.prices)
        self._pace = pace or Pace()
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._built: dict[str, Model] = {}

    def of(
        self,
        name: str,
        allowance: Allowance | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Model:
        """The model ``name`` for one piece of work, which spends ``allowance`` and takes at most
        ``timeout_s`` from now. The rehearsal costs nothing and is not counted. Raises
        ModelNotConfigured."""
        parsed = parse_name(name)
        if isinstance(parsed, ModelName) and parsed.is_rehearsal:
            return self._rehearsal()
        asked = str(parsed) if isinstance(parsed, ModelName) else name
        model = self._built.get(asked) or self._build(asked)
        return self.metered(model, asked, allowance, timeout_s=timeout_s)

    def metered(
        self,
        model: Model,
        name: str,
        allowance: Allowance | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Model:
        """``model`` on the terms of a model called ``name``."""
        from dcf.agents.models.metered import MeteredModel, Terms

        return MeteredModel(
            model,
            Terms(
                name=name,
                price=self.price(name),
                settings=self._settings,
                allowance=allowance or Unlimited(),
                deadline=None if timeout_s is None else self._clock() + timeout_s,
                pace=self._pace,
                clock=self._clock,
                sleep=self._sleep,
                random=self._random,
                redactor=Redactor(secrets_of(self._environment)),
            ),
        )

    def price(self, name: str) -> Price | None:
        """What ``provider:model`` costs, None when it is not known."""
        return self._prices.of(name)

    def _build(self, name: str) -> Model:
        model = build_model(name, self._environment, self._settings)
        if self._settings.record is not None:
            from dcf.agents.models.recorded import RecordedModel

            secrets = secrets_of(self._environment)
            model = RecordedModel(model, self._settings.record, name, secrets)
        if self._settings.tools != "native":
            from dcf.agents.models.guided import GuidedModel, Style

            model = GuidedModel(model, cast("Style", self._settings.tools))
        self._built[name] = model
        return model

    def _rehearsal(self) -> Model:
        model = self._built.get(REHEARSAL)
        if model is None:
            from dcf.agents.rehearsal import rehearsal_model

            model = self._built[REHEARSAL] = rehearsal_model()
        return model
