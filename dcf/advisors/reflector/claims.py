"""What agents and clients say of guidelines: kept as their word, never as something measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dcf.guidelines import Item, Rules


def claims(items: Iterable[Item], rules: Rules) -> tuple[list[Item], list[str]]:
    """``items`` as the word of an agent, whatever they say of themselves, and what there is to say
    of it. What is by its own account not sure enough is left out.

    Nobody looked at the runs that such evidence names: it stands under ``claimed``, and no
    confidence takes the item before what was measured (``Item.rank``). It ages from now on.
    """
    kept: list[Item] = []
    warnings: list[str] = []
    for item in items:
        if item.confidence is not None and item.confidence <= rules.min_confidence:
            warnings.append(
                f"{item.LIST}: {item.said[0]!r} is {item.confidence:.2f} sure; guidelines are more "
                f"than {rules.min_confidence:.2f} sure"
            )
            continue
        if item.evidence is not None:
            warnings.append(
                f"{item.LIST}: the evidence of {item.said[0]!r} is not verified and counts as a "
                "claim; only a reflection measures"
            )
        kept.append(
            replace(
                item,
                evidence=_claimed(item.evidence),
                insight=None,
                written_by="agent",
                last_evidence_at=None,
            )
        )
    return kept, warnings


def claimed_insight(insight: Any) -> Any:
    """An insight that somebody tells of, so that it is not taken for one of an analysis."""
    return {**insight, "written_by": "agent"} if isinstance(insight, Mapping) else insight


def _claimed(evidence: Any) -> Any:
    if evidence is None or (isinstance(evidence, Mapping) and evidence.get("verified") is False):
        return evidence
    return {"verified": False, "claimed": evidence}
