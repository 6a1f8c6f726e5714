"""What finds observations for the memory: the role's model, its price and the budgets."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from dcf.agents.library_lock import LOADING
from dcf.agents.models import (
    Bound,
    ModelDenied,
    ModelForbidden,
    ModelNotConfigured,
    Models,
    ModelTimeout,
    ModelUnavailable,
    Used,
    named_model,
    nano_of,
    parse_name,
)
from dcf.agents.models.checks import key_of, url_of
from dcf.agents.models.name import TRANSCRIPT, ModelName
from dcf.agents.models.provider import PROVIDERS
from dcf.agents.task_error import TaskError
from dcf.memory.extraction import (
    Answer,
    AskDenied,
    AskFailed,
    AskPostponed,
    BudgetUsedUp,
    Prompt,
    RateReached,
    Spending,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

ROLE = "reflector"
Once: TypeAlias = "Callable[..., Awaitable[ModelResponse]]"
_HARMLESS = "Answer with the word yes."


def extraction_asker(
    models: Models, environment: Mapping[str, str], spending: Spending
) -> ModelAsker | None:
    """What asks the model that ``environment`` names for the reflector, within ``spending``. None
    where that is the rehearsal, which finds nothing, or a recording: no question is asked twice."""
    name = parse_name(named_model(environment, role=ROLE).name)
    if not isinstance(name, ModelName) or name.is_rehearsal or name.provider == TRANSCRIPT:
        return None
    return ModelAsker(models, name, _identity(name, environment), spending)


class ModelAsker:
    """Asks one model of the settings. ``identity`` is another one as soon as its name, its address
    or its key is."""

    def __init__(self, models: Models, name: ModelName, identity: str, spending: Spending) -> None:
        self._models = models
        self._name = str(name)
        self._allowance = _Allowance(spending)
        self.identity = identity

    async def ask(self, prompt: Prompt) -> Answer:
        """Raises AskFailed, AskPostponed, AskDenied, BudgetUsedUp, RateReached."""
        # In a thread: the library takes a second to load, and others go on meanwhile.
        once = await asyncio.to_thread(_loaded)
        try:
            with _told():
                model = self._models.of(self._name, self._allowance)
                response = await once(model, prompt.user, system=prompt.system)
        except ModelForbidden as failure:
            raise await self._which(once, model, failure) from failure
        return Answer(response.text or "", self._name)

    async def _which(self, once: Once, model: Model, failure: ModelForbidden) -> Exception:
        """What a 403 is about: whoever asks, if something harmless is refused as well; else the
        text, as filters of content do."""
        try:
            with _told():
                await once(model, _HARMLESS)
        except (ModelForbidden, AskDenied):
            return AskDenied(failure.cause)
        except (AskPostponed, BudgetUsedUp, RateReached):
            return AskPostponed(f"{failure.cause}; whether that is for the text is not known yet")
        except AskFailed:
            pass
        return AskFailed(f"{failure.cause}; it refuses this text, and takes others")


@contextmanager
def _told() -> Iterator[None]:
    """Failures of models as the extraction knows them, but for a 403."""
    try:
        yield
    except ModelForbidden:
        raise
    except (ModelDenied, ModelNotConfigured) as failure:
        raise AskDenied(failure.cause) from failure
    except (ModelUnavailable, ModelTimeout) as failure:
        raise AskPostponed(failure.cause, failure.retry_after_s) from failure
    except TaskError as failure:
        raise AskFailed(failure.cause) from failure


class _Allowance:
    """The budgets of the extraction, as models spend them."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    async def reserve(self, bound: Bound) -> str:
        nano = nano_of(bound.cost_usd)
        return str(await self._spending.reserve(bound.model, bound.tokens, nano))

    async def settle(self, reservation: str, used: Used) -> None:
        await self._spending.settle(int(reservation), used.tokens, nano_of(used.cost_usd))


def _identity(name: ModelName, environment: Mapping[str, str]) -> str:
    """A digest of what a provider may refuse as a whole; the key cannot be got back from it."""
    provider = PROVIDERS[name.provider]
    parts = (str(name), url_of(provider, environment), key_of(provider, environment))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _loaded() -> Once:
    with LOADING:
        from dcf.agents.local.asking import ask_once

    return ask_once
