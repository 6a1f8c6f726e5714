"""How a model fails a task: errors by name, and what an exception of the library comes to."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.agents.task_error import TaskError

MODEL_UNAVAILABLE = "DCF.ModelUnavailable"
MODEL_TIMEOUT = "DCF.ModelTimeout"
MODEL_REFUSED = "DCF.ModelRefused"
MODEL_NOT_CONFIGURED = "DCF.ModelNotConfigured"
PRICE_UNKNOWN = "DCF.PriceUnknown"
BUDGET_EXHAUSTED = "DCF.BudgetExhausted"
_LONGEST_CAUSE = 600
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading an answer of another form raises in the library."""


class ModelFailure(TaskError):
    """A model could not be asked, or gave nothing. ``retry_after_s`` is how long the provider asks
    not to be asked, where it said so."""

    name = ""
    retry_after_s: float | None = None

    def __init__(self, cause: str) -> None:
        super().__init__(self.name, cause)

    def __reduce__(self) -> tuple[type[ModelFailure], tuple[str]]:  # type: ignore[override]
        return type(self), (self.cause,)


class ModelUnavailable(ModelFailure):
    """The provider could not be reached, or was too busy, for as long as was tried."""

    name = MODEL_UNAVAILABLE


class ModelTimeout(ModelFailure):
    """The provider did not answer in time, for as long as was tried."""

    name = MODEL_TIMEOUT


class ModelRefused(ModelFailure):
    """The provider refused the request; the same again would be refused again."""

    name = MODEL_REFUSED


class ModelDenied(ModelRefused):
    """The provider refuses whoever asks, for the key, the account, or the name of the model: any
    other request would be refused too."""


class ModelForbidden(ModelDenied):
    """The provider refuses by 403: it forbids who asks, or what is asked. Few say which."""


class ModelNotConfigured(ModelFailure):
    """The settings name a model that cannot be asked."""

    name = MODEL_NOT_CONFIGURED


class PriceUnknown(ModelFailure):
    """A budget limits money, and nobody knows what the model costs."""

    name = PRICE_UNKNOWN


class ModelBudgetExhausted(ModelFailure):
    """A budget has not enough left for another request."""

    name = BUDGET_EXHAUSTED


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that failed. ``again``: it may work when it is repeated, not before
    ``retry_after_s`` where the provider said so. ``unbilled``: the provider surely did no work."""

    error: type[ModelFailure]
    cause: str
    again: bool
    unbilled: bool
    retry_after_s: float | None = None

    def failure(self, tries: int) -> ModelFailure:
        """The failure of the task, after so many tries."""
        after = f" ({tries} tries)" if tries > 1 else ""
        failure = self.error(self.cause + after)
        failure.retry_after_s = self.retry_after_s
        return failure


def attempt_of(error: Exception, model: str, timeout_s: float) -> Attempt | None:
    """What ``error``, raised by a request to ``model``, comes to; None when it is not about the
    provider."""
    from pydantic_ai import exceptions as raised

    if isinstance(error, TimeoutError | raised.ModelTimeoutError | raised.ModelRequestTimeout):
        cause = f"{model} did not answer within {timeout_s:g} s"
        return Attempt(ModelTimeout, cause, again=True, unbilled=False)
    if isinstance(error, raised.ContentFilterError):
        cause = f"{model} refused for its content: {_said(error)}"
        return Attempt(ModelRefused, cause, again=False, unbilled=False)
    if isinstance(error, raised.UnexpectedModelBehavior):
        cause = f"{model} answered what is no answer: {_said(error)}"
        return Attempt(ModelUnavailable, cause, again=True, unbilled=False)
    if isinstance(error, UnicodeEncodeError):
        cause = f"{model} cannot be told a text with half a surrogate pair"
        return Attempt(ModelRefused, cause, again=False, unbilled=True)
    if isinstance(error, UNREADABLE):
        cause = f"{model} answered what is no answer: {type(error).__name__}: {_said(error)}"
        return Attempt(ModelUnavailable, cause, again=True, unbilled=False)
    if not isinstance(error, raised.ModelAPIError):
        return None
    if isinstance(error, raised.ModelConnectionError):
        cause = f"{model} cannot be reached: {_said(error)}"
        unbilled = error.phase in ("pool", "connect")
        return Attempt(ModelUnavailable, cause, again=True, unbilled=unbilled)
    if isinstance(error, raised.ModelHTTPError):
        return _answered(error, model)
    # An answer that is no JSON, an error inside a stream: something was done.
    return Attempt(ModelUnavailable, f"{model}: {_said(error)}", again=True, unbilled=False)


def _answered(error: object, model: str) -> Attempt:
    from pydantic_ai import exceptions as raised

    assert isinstance(error, raised.ModelHTTPError)
    status = error.status_code
    # A gateway may have given up on a request that the model went on with.
    unbilled = status < 500 or status in (503, 529)
    again = status in (408, 409, 425, 429) or status >= 500
    cause = f"{model} answered {status}: {_said(error)}"
    if isinstance(error, raised.ModelQuotaExceededError):
        return Attempt(ModelDenied, f"{cause}; the account has nothing left", False, True)
    if isinstance(error, raised.ModelAuthenticationError):
        denied = ModelForbidden if status == 403 else ModelDenied
        return Attempt(denied, f"{cause}; check its key", False, True)
    if isinstance(error, raised.ModelNotFoundError):
        return Attempt(
            ModelDenied, f"{cause}; check the model's name, and the address", False, True
        )
    if again:
        return Attempt(ModelUnavailable, cause, True, unbilled, error.retry_after)
    return Attempt(ModelRefused, cause, False, True)


def _said(error: BaseException) -> str:
    """What the provider said, without the wrapping; never a request's headers."""
    body = getattr(error, "body", None)
    text = ""
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        text = str(said or "")
    elif isinstance(body, str):
        text = body
    cause = error.__cause__
    text = text or str(error) or (type(cause).__name__ if cause else type(error).__name__)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_CAUSE else text[:_LONGEST_CAUSE] + " …"
