"""How models are called: time, retries, how much they may answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcf.problem import Problem

TIMEOUT = "DCF_MODEL_TIMEOUT"
RETRIES = "DCF_MODEL_RETRIES"
MAX_TOKENS = "DCF_MODEL_MAX_TOKENS"
PRICES = "DCF_MODEL_PRICES"
RECORD = "DCF_MODEL_RECORD"
TOOLS = "DCF_MODEL_TOOLS"
TOOL_STYLES = ("native", "json_schema", "json_object")


@dataclass(frozen=True, slots=True)
class CallSettings:
    """``timeout_s`` is for one request, ``retries`` for those after the first of a call,
    ``max_tokens`` for one answer. ``prices`` is a file beside the table of ours, ``record`` one
    that every request and answer is appended to. ``tools`` says how tools are offered: as the
    provider's own, or in words with answers held to a schema (told as OpenAI documents it, or as
    llama.cpp takes it)."""

    timeout_s: float = 120.0
    retries: int = 4
    max_tokens: int = 4096
    prices: Path | None = None
    record: Path | None = None
    tools: str = TOOL_STYLES[0]


def read_call_settings(environment: Mapping[str, str]) -> tuple[CallSettings, list[Problem]]:
    """The settings in ``environment``; what cannot be used is a problem, and its default holds."""
    usual = CallSettings()
    problems: list[Problem] = []

    def number(name: str, default: float, least: float) -> float:
        text = environment.get(name, "").strip()
        try:
            value = float(text) if text else default
        except ValueError:
            value = least - 1
        if least <= value < 1e9:
            return value
        message = f"{text!r} is no number from {least:g}"
        hint = f"the default is {default:g}"
        problems.append(Problem("MODEL_SETTING", message, hint=hint, file=name))
        return default

    def file(name: str) -> Path | None:
        text = environment.get(name, "").strip()
        return Path(text) if text else None

    style = environment.get(TOOLS, "").strip() or usual.tools
    if style not in TOOL_STYLES:
        hint = f"one of {', '.join(TOOL_STYLES)}"
        message = f"{style!r} is no way to offer tools"
        problems.append(Problem("MODEL_SETTING", message, hint=hint, file=TOOLS))
        style = usual.tools
    settings = CallSettings(
        timeout_s=number(TIMEOUT, usual.timeout_s, 0.1),
        retries=int(number(RETRIES, usual.retries, 0)),
        max_tokens=int(number(MAX_TOKENS, usual.max_tokens, 1)),
        prices=file(PRICES),
        record=file(RECORD),
        tools=style,
    )
    return settings, problems
