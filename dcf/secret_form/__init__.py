"""Secrets in free text, known by what they look like or by the name that they are given to.

The one set of rules: what is recorded, what is written to the graph, what memory keeps and what the
source of a skill may hold are all judged by it. Prose about tokens, keys and passwords is no
secret. Texts of others are of any length: no pattern here reads the same characters again from
each place where it might begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.secret_form.json_text import in_json, is_json
    from dcf.secret_form.taking_out import (
        GOES_ON,
        Put,
        is_credential,
        marked,
        path_without_secrets,
        value_without_secrets,
        without_credentials,
        without_secrets,
    )
else:
    export_late(__name__)

__all__ = [
    "GOES_ON",
    "Put",
    "in_json",
    "is_credential",
    "is_json",
    "marked",
    "path_without_secrets",
    "value_without_secrets",
    "without_credentials",
    "without_secrets",
]
