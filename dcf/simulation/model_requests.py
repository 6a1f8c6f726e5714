"""What simulated work asks of models: requests that are reserved, and mostly billed."""

from __future__ import annotations

from typing import Any

from control_plane import Budget, ControlPlaneError, Lease, Store

_TRY = Budget(wall_ms=60_000, model_calls=2, tokens=90, nano_usd=3_000_000)
_RUN = Budget(wall_ms=90_000, model_calls=9, tokens=300, nano_usd=9_000_000)
_UNPRICED = Budget(model_calls=2, tokens=90)


async def ask_models(store: Store, lease: Lease) -> None:
    """Two requests under ``lease``; what they take depends on its fence alone."""
    if lease.fence % 4 == 0:
        # As where the limits of the work are known only when it begins.
        await _renew(store, lease)
    about: dict[str, Any] = {"path": lease.path, "visit": lease.visit, "try": lease.try_}
    for number in range(2):
        odds = (lease.fence + number) % 7
        call, tokens = f"{lease.path}/{lease.fence}/{number}", 20 + 10 * odds
        nano = None if odds == 3 else 400_000 * odds
        limits = {"try_budget": _UNPRICED if odds == 3 else _TRY}
        if odds not in (3, 5):
            limits["run_budget"] = _RUN
        try:
            for _ in range(1 + odds % 2):
                refused = {"type": "ModelRefused", **about}
                await store.reserve(lease, call, refused, tokens=tokens, nano_usd=nano, **limits)
            # Whoever dies over a request never bills it.
            for _ in range((0, 1, 1, 2, 1, 1, 2)[odds]):
                billed = {"type": "ModelCalled", **about, "number": number}
                used = None if nano is None else nano - 100_000 * (odds % 3)
                await store.bill(lease, call, billed, tokens=tokens - 7, nano_usd=used)
        except ControlPlaneError:
            # No write is taken now.
            return


async def _renew(store: Store, lease: Lease) -> None:
    try:
        await store.renew(lease, limits=lease.limits)
    except ControlPlaneError:
        # No write is taken now.
        return
