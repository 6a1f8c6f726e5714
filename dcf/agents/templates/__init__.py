"""Templates: what agents of each role are made from, with their prompts, in versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.templates.errors import InvalidTemplate, UnknownTemplate
    from dcf.agents.templates.library import template_named, templates
    from dcf.agents.templates.template import Prompt, Template, TemplateTools
else:
    export_late(__name__)

__all__ = [
    "InvalidTemplate",
    "Prompt",
    "Template",
    "TemplateTools",
    "UnknownTemplate",
    "template_named",
    "templates",
]
