"""Retrieval over HTTP: ``create_app`` makes the application. Importing it loads an HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.retrieval.serving.answerers import LENGTH, READY, STATUS, Answerers
    from dcf.retrieval.serving.answers import context_answer, refusal
    from dcf.retrieval.serving.app import create_app
    from dcf.retrieval.serving.gate import AccessLimits, networks_of
    from dcf.retrieval.serving.openapi import openapi
else:
    export_late(__name__)

__all__ = [
    "LENGTH",
    "READY",
    "STATUS",
    "AccessLimits",
    "Answerers",
    "context_answer",
    "create_app",
    "networks_of",
    "openapi",
    "refusal",
]
