"""Models: their names and settings, what they cost, what may be spent, and how they are asked.

``Models(environment).of("openai:gpt-5-mini", allowance)`` is a model of pydantic-ai whose requests
are reserved before they are sent, timed, repeated where that may help, and settled after.
``model_problems(environment)`` says what is wrong with the settings before any work begins. The
library and the providers' clients are loaded by the first model that is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.models.allowance import NANO, Allowance, Bound, Unlimited, Used, nano_of
    from dcf.agents.models.call_settings import CallSettings, read_call_settings
    from dcf.agents.models.checks import model_problems, name_problems
    from dcf.agents.models.choice import MODEL, ROLES, NamedModel, model_settings, named_model
    from dcf.agents.models.failure import (
        ModelBudgetExhausted,
        ModelDenied,
        ModelFailure,
        ModelForbidden,
        ModelNotConfigured,
        ModelRefused,
        ModelTimeout,
        ModelUnavailable,
        PriceUnknown,
    )
    from dcf.agents.models.library import Models
    from dcf.agents.models.name import REHEARSAL, ModelName, parse_name
    from dcf.agents.models.pace import Pace
    from dcf.agents.models.price import Price, PriceTable, read_prices
    from dcf.agents.models.tally import Tally
else:
    export_late(__name__)

__all__ = [
    "MODEL",
    "NANO",
    "REHEARSAL",
    "ROLES",
    "Allowance",
    "Bound",
    "CallSettings",
    "ModelBudgetExhausted",
    "ModelDenied",
    "ModelFailure",
    "ModelForbidden",
    "ModelName",
    "ModelNotConfigured",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "Models",
    "NamedModel",
    "Pace",
    "Price",
    "PriceTable",
    "PriceUnknown",
    "Tally",
    "Unlimited",
    "Used",
    "model_problems",
    "model_settings",
    "name_problems",
    "named_model",
    "nano_of",
    "parse_name",
    "read_call_settings",
    "read_prices",
]
