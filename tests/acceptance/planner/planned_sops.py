"""The procedures of ``workflows/sops`` and what was compiled of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.planner import Market, Plan, compile_sop
from dcf.sop import Sop, parse

ROOT = Path(__file__).parents[3]
GENERATED = ROOT / "generated"
SOPS = sorted((ROOT / "workflows" / "sops").glob("*.*"))


@dataclass(frozen=True, slots=True)
class Planned:
    """A procedure and its plan."""

    sop: Sop
    plan: Plan

    @property
    def document(self) -> dict[str, Any]:
        assert self.plan.document is not None, self.plan.problems
        return self.plan.document


def plan_of(text: str, name: str, market: Market) -> Planned:
    reading = parse(text, name)
    assert reading.sop is not None, reading.problems
    return Planned(reading.sop, compile_sop(reading.sop, market))
