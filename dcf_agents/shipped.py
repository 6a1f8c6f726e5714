"""What comes with DCF beside its code: prompts, example workflows with their skills, and the
documentation. In a clone it is what lies there; in a wheel, a copy of that."""

from __future__ import annotations

from pathlib import Path

from dcf_agents.installation import clone

EXAMPLES = ("workflows", "skills_src", "generated")
"""The folders that the example workflows need, as they lie beside each other."""

_IN_THE_WHEEL = Path(__file__).resolve().parent / "shipped"


class NotShipped(Exception):
    """A part of this installation is missing."""


def shipped(name: str) -> Path:
    """The file or folder ``name``, as in ``"prompts"`` or ``"workflows/inputs/order-demo.json"``.

    Raises NotShipped where this installation is not whole.
    """
    there = (clone() or _IN_THE_WHEEL) / name
    if not there.exists():
        raise NotShipped(f"{there} is not there: this installation of DCF is not whole")
    return there


def docs_page(name: str) -> str:
    """Where a reader of this installation finds a page of the documentation, ``name`` as in
    ``"how-to/models.md"``: for hints. Short where the folder is the clone."""
    there = (clone() or _IN_THE_WHEEL) / "docs" / name
    here = Path.cwd()
    return str(there.relative_to(here)) if there.is_relative_to(here) else str(there)
