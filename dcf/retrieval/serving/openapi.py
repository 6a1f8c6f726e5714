"""The service as OpenAPI 3.1 describes it, and as a page for people."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from dcf.retrieval.serving.requests import ContextBody, LogBody

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}, "hint": {"type": "string"}},
}
_ITEM = {
    "type": "object",
    "required": ["id", "text", "tags", "timestamp"],
    "properties": {
        "id": {"type": "string"},
        "text": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "source": {"type": "string"},
        "filePath": {"type": "string"},
        "timestamp": {"type": "integer", "description": "ms since the epoch"},
        "citation": {"type": "string", "description": "dcf://…, which `dcf open` follows"},
    },
}
_CONTEXT_ITEM = {
    "type": "object",
    "required": ["type", "score", "text", "citation", "why"],
    "properties": {
        **_ITEM["properties"],  # type: ignore[dict-item]
        "type": {
            "enum": [
                *("memory", "observation", "thread", "playbook"),
                *("code_snippet", "document", "fact"),
            ]
        },
        "score": {"type": "number"},
        "relevance": {"type": "number", "description": "0 to 1: how well it answers"},
        "wholeTokens": {"type": "integer", "description": "what a text that is cut costs whole"},
        "why": {"type": "array", "items": {"type": "string"}},
        "times": {"type": "integer", "description": "how often the same was logged"},
        "also": {
            "type": "array",
            "items": {"type": "string"},
            "description": "citations of where else it stands",
        },
        "role": {"type": "string", "description": "who said it in a thread"},
        "turns": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "the turns of a thread that the text has",
        },
        "firstLine": {"type": "integer"},
        "lastLine": {"type": "integer"},
        "symbol": {"type": "string"},
        "page": {"type": "integer"},
        "support": {"type": "integer", "description": "what a fact is known from"},
        "title": {"type": "string"},
        "headings": {"type": "array", "items": {"type": "string"}},
    },
}
_STORED = {
    "type": "object",
    "properties": {
        "ok": {"const": True},
        "stored": {"$ref": "#/components/schemas/Item"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}
_DELETED = {
    "type": "object",
    "properties": {"ok": {"const": True}, "deleted": {"type": "string"}},
}
_CONTEXT = {
    "type": "object",
    "required": ["query", "context"],
    "properties": {
        "query": {"type": "string"},
        "context": {"type": "array", "items": {"$ref": "#/components/schemas/ContextItem"}},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}
_EXAMPLES = {
    "/log": {
        "text": "Tests failing: TypeError: this.parser.on is not a function",
        "tags": ["error", "runlog"],
        "source": "pytest",
        "filePath": "data_loader/json_data_loader.ts",
    },
    "/augmented-context": {
        "query": "this.parser.on is not a function in json_data_loader.ts",
        "filePath": "data_loader/json_data_loader.ts",
        "limit": 8,
    },
}
_REFUSED = {
    "400": "The reason, for malformed or missing input.",
    "401": "No token, or not the service's.",
    "403": "An address or a project that is not for whoever asks.",
    "429": "Too many requests; Retry-After says when to ask again.",
}


def openapi(version: str) -> dict[str, Any]:
    """The document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "DCF augmented retrieval", "version": version},
        "paths": {
            "/log": {"post": _operation("Keep an artifact.", _STORED, LogBody, "/log")},
            "/log/{id}": {"delete": _deletion()},
            "/augmented-context": {
                "post": _operation(
                    "Memory and code that answer a question, ranked.",
                    _CONTEXT,
                    ContextBody,
                    "/augmented-context",
                )
            },
            "/healthz": {"get": _operation("Whether it works; needs no token.", {})},
            "/metrics": {"get": _operation("Counters, as text for Prometheus.", None)},
        },
        "components": {
            "schemas": {"Item": _ITEM, "ContextItem": _CONTEXT_ITEM, "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def page(spec: dict[str, Any]) -> str:
    """``spec`` for people: no script, nothing from elsewhere."""
    info = spec["info"]
    parts = [
        f"<h2>{verb.upper()} {escape(path)}</h2><p>{escape(operation['summary'])}</p>"
        f"<pre>{escape(json.dumps(operation, indent=2, ensure_ascii=False))}</pre>"
        for path, operations in spec["paths"].items()
        for verb, operation in operations.items()
    ]
    title = f"{escape(info['title'])} {escape(info['version'])}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<h1>{title}</h1><p><a href="/openapi.json">openapi.json</a></p>{"".join(parts)}</html>'
    )


def _operation(
    summary: str,
    answer: dict[str, Any] | None,
    body: type[LogBody] | type[ContextBody] | None = None,
    example: str = "",
) -> dict[str, Any]:
    content: dict[str, Any] = (
        {"text/plain": {}} if answer is None else {"application/json": {"schema": answer}}
    )
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {"200": {"description": "Done.", "content": content}, **_refusals()},
    }
    if body is not None:
        schema = body.model_json_schema(ref_template="#/components/schemas/{model}")
        content = {"application/json": {"schema": schema, "example": _EXAMPLES[example]}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _deletion() -> dict[str, Any]:
    operation = _operation("Give an artifact up.", _DELETED)
    operation["parameters"] = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "root", "in": "query", "schema": {"type": "string"}},
    ]
    return operation


def _refusals() -> dict[str, Any]:
    schema = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {
        status: {"description": text, "content": {"application/json": schema}}
        for status, text in _REFUSED.items()
    }
