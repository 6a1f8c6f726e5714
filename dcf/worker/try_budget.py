"""What the work of one Task may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.tools import Budget, Policy


def budgets_of(
    binding: Mapping[str, Any], of_workflow: Mapping[str, Any], policy: Policy
) -> tuple[Budget, Budget]:
    """The budgets of each try and of the run: what the documents allow, and the policy too."""
    try_ = Budget.from_document(binding.get("budget") or {})
    run = Budget.from_document(of_workflow)
    kept = policy.budgets
    return try_.lowest(kept.get("state", Budget())), run.lowest(kept.get("run", Budget()))
