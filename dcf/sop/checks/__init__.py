"""What is wrong with a procedure as a whole, whichever way it was written."""

from __future__ import annotations

from dcf.sop.checks.conditions import check_conditions
from dcf.sop.checks.frame import check_frame
from dcf.sop.checks.joins import check_joins
from dcf.sop.checks.jumps import check_jumps
from dcf.sop.checks.kinds import check_kinds
from dcf.sop.checks.names import check_names
from dcf.sop.checks.types import check_types
from dcf.sop.checks.values import check_values
from dcf.sop.findings import Findings
from dcf.sop.procedure import Sop

__all__ = ["check_all"]


def check_all(sop: Sop, findings: Findings) -> None:
    """Every check, each adding its problems to ``findings``."""
    if not check_frame(sop, findings):
        return
    check_values(sop, findings)
    check_kinds(sop, findings)
    check_jumps(sop, findings)
    check_names(sop, findings)
    check_joins(sop, findings)
    check_conditions(sop, findings)
    check_types(sop, findings)
