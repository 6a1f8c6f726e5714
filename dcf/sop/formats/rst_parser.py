"""docutils' parser of reStructuredText, which takes what Sphinx and its extensions add for text.

It reads no other file, passes nothing through raw, and applies no transforms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.states import Inliner
from docutils.utils import new_document

_CODE = frozenset(
    {"code", "code-block", "sourcecode", "prompt", "parsed-literal", "testcode", "testoutput"}
    | {"ipython", "jupyter-execute", "console", "bash", "mermaid", "graphviz", "uml", "digraph"}
    | {"productionlist", "doctest", "highlight-code", "termynal", "tikz", "raw"}
)
_LANGUAGES = {"mermaid": "mermaid", "prompt": "bash", "bash": "bash", "console": "console"}
"""Of directives that name none."""
_UNREAD = frozenset({"toctree", "include", "literalinclude", "meta", "index", "highlight"})
"""What names other files, or is about the page: its lines stay as they are written."""
_REPLACING = Lock()
_SILENT = 5
"""Nothing is reported, and nothing ends the parsing: what is wrong is read as text."""


def parsed(text: str) -> nodes.document:
    """The document tree of ``text``. Raises RecursionError for one that nests too deep."""
    settings = get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = settings.halt_level = _SILENT
    settings.warning_stream = ""
    settings.syntax_highlight = "none"
    settings.smart_quotes = False
    settings.line_length_limit = len(text) + 1
    document = new_document("runbook", settings)
    with _all_names():
        Parser().parse(text, document)
    return document


def _in_role(
    role: str, rawtext: str, text: str, line: int, inliner: Inliner
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Text in a role that docutils does not know: an ``inline`` with its ``role``."""
    node = nodes.inline(rawtext, nodes.unescape(text))
    node["role"] = role.rpartition(":")[2].lower()
    return [node], []


class _AnyOption(dict[str, Any]):
    """Takes every option of a directive as it is written."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _Written(Directive):
    """A directive that docutils does not know: what stands in it, below its argument."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption()

    def run(self) -> list[nodes.Node]:
        name = self.name.rpartition(":")[2].lower()
        if name in _CODE:
            return [self._code()]
        if name in _UNREAD or not self.content:
            return []
        inside = nodes.container("\n".join(self.content))
        inside["directive"] = name
        if self.arguments:
            said = self.arguments[0]
            inner, _ = self.state.inline_text(said, self.lineno)
            inside += nodes.paragraph(said, "", *inner)
            inside[0].line = self.lineno
        self.state.nested_parse(self.content, self.content_offset, inside)
        return [inside]

    def _code(self) -> nodes.Node:
        text = "\n".join(self.content)
        block = nodes.literal_block(text, text)
        said = " ".join(self.arguments).split()
        named = said[0] if said else ""
        block["language"] = named or _LANGUAGES.get(self.name, "")
        block["first"], block["content"] = self.lineno, self.content_offset + 1
        block["caption"] = self.options.get("caption", "")
        return block


@contextmanager
def _all_names() -> Iterator[None]:
    """Let docutils know each name of a directive or role; it asks functions of its modules, which
    Sphinx replaces in the same way (``sphinx.util.docutils.CustomReSTDispatcher``)."""
    find_directive, find_role = directives.directive, roles.role

    def directive(name: str, language: Any, document: nodes.document) -> Any:
        short = name.rpartition(":")[2].lower()
        if short in _CODE or short in _UNREAD:
            return _Written, []
        known, messages = find_directive(name, language, document)
        return (_Written, []) if known is None else (known, messages)

    def role(name: str, language: Any, line: int, reporter: Any) -> Any:
        if name in ("code", "raw"):
            return _in_role, []
        known, messages = find_role(name, language, line, reporter)
        return (_in_role, []) if known is None else (known, messages)

    replaced = ((directives, "directive", directive), (roles, "role", role))
    with _REPLACING:
        for module, name, function in replaced:
            setattr(module, name, function)
        try:
            yield
        finally:
            directives.directive, roles.role = find_directive, find_role
