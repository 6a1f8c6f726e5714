"""Templates: what agents of each role are made from, with their prompts, in versions."""

from __future__ import annotations

from dcf.agents.templates.errors import InvalidTemplate, UnknownTemplate
from dcf.agents.templates.library import template_named, templates
from dcf.agents.templates.template import Prompt, Template, TemplateTools

__all__ = [
    "InvalidTemplate",
    "Prompt",
    "Template",
    "TemplateTools",
    "UnknownTemplate",
    "template_named",
    "templates",
]
