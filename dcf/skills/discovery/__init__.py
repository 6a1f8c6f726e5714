"""Skills found by what somebody wants to do.

``SkillSearch`` ranks the skills of a catalog and says why and at what price; ``get_skillset`` and
``get_skillset_from_catalog`` list what a folder or a catalog offers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skills.discovery.filters import EGRESS, RISKS, Filters, InvalidFilter
    from dcf.skills.discovery.form import SKILL_SHAPE, skill_document
    from dcf.skills.discovery.price import Price, price_of
    from dcf.skills.discovery.skill_search import SkillHit, SkillSearch, index_path
    from dcf.skills.discovery.skillset import Wanted, get_skillset, get_skillset_from_catalog
else:
    export_late(__name__)

__all__ = [
    "EGRESS",
    "RISKS",
    "SKILL_SHAPE",
    "Filters",
    "InvalidFilter",
    "Price",
    "SkillHit",
    "SkillSearch",
    "Wanted",
    "get_skillset",
    "get_skillset_from_catalog",
    "index_path",
    "price_of",
    "skill_document",
]
