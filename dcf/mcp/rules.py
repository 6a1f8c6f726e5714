"""What decides on calls of tools, all from one folder of generated skills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcf.skills import SkillCatalog
from dcf.tools import Gate, Grant, Policy, Registry, SchemaPin
from dcf.worker import SkillGates, declared_by, schemas_of

Parts = tuple[SkillCatalog, Registry, Policy, Mapping[str, SchemaPin]]


class Rules:
    """Gates of skills and of grants. ``declared`` are the tools of the whole catalog."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        catalog, self._servers, self.policy, self._pins = parts
        self.skills = SkillGates(catalog, self._servers, self.policy, self._pins)
        self.declared = declared_by(catalog)
        self._schemas = schemas_of(catalog)

    def made_of(self, parts: Parts) -> bool:
        """Whether these are the parts that it was made of."""
        return all(mine is other for mine, other in zip(self._parts, parts, strict=True))

    def gate(self, grants: Iterable[Grant]) -> Gate:
        """What lets calls pass that ``grants`` allow, as far as the policy does."""
        return Gate(
            grants,
            servers=self._servers,
            policy=self.policy,
            declared=self.declared,
            pins=self._pins,
            schemas=self._schemas,
        )
