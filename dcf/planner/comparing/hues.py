"""The colours by which a step is known on both sides, taken from those of the diagrams."""

from __future__ import annotations

from dcf.diagram import Theme

_KINDS = ("Task", "Choice", "Wait", "Succeed", "Parallel", "Map")
HUES = len(_KINDS)


def colours(theme: Theme) -> list[tuple[str, str]]:
    """Ground and border of each hue."""
    return [theme.kinds[kind] for kind in _KINDS]


def hue_by_step(steps: list[str]) -> dict[str, int]:
    """A hue for each of ``steps``, so that neighbours differ."""
    return {step: at % HUES for at, step in enumerate(dict.fromkeys(steps))}
