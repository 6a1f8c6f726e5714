"""What stands behind the name of a secret where mostly something is said of it, as its type or
another name: it must look like a secret.
"""

from __future__ import annotations

import re

from dcf.secret_form.naming import small
from dcf.secret_form.randomness import is_drawn
from dcf.secret_form.said import is_example, is_reference, is_said, is_variable

SIGN = r"[^\s()<>{}\[\]\"'`|]"
"""A sign of it; it has six of them at least."""
_NO_VALUE = re.compile(
    r"(?i:(?:base|md|sha|utf|aes|rsa|argon|bcrypt|pbkdf|scrypt|oauth|u?int|float|str|varchar)-?\d"
    # An option, a variable, a path, an address, a date.
    r"|[-/~:$%=<]|\.[/.]|\w{1,20}://|www\.|\d{4}-\d\d)"
)
_SHORTEST_MADE = 12
_SHORTEST_MIXED = 8
_SIGNS = frozenset("!@#$%&*?^+=")
_KINDS = (str.islower, str.isupper, str.isdigit, _SIGNS.__contains__)


def is_given(value: str, name: re.Match[str], *, titled: bool = False) -> bool:
    """Whether ``value`` is that of ``name``, which NAME or FOREIGN_NAME matched. Where it is
    ``titled``, a title may stand there."""
    if _NO_VALUE.match(value) or not any(map(str.isalpha, value)):
        return False
    lower = small(value)
    if is_said(lower, 0, quoted=False) or is_reference(lower, 0) or is_variable(value, lower, 0):
        return False
    if titled or name[0].endswith("secret"):
        return _is_mixed(value)
    if name["chosen"]:
        return any(one.isdigit() or one in _SIGNS for one in value)
    return len(value) >= _SHORTEST_MADE and is_drawn(value) and not is_example(value, 0)


def _is_mixed(value: str) -> bool:
    """Whether three kinds of signs are in it: ``Pq5!jHx9kM2v``, no title as ``OAuth2``."""
    kinds = sum(any(map(kind, value)) for kind in _KINDS)
    return len(value) >= _SHORTEST_MIXED and kinds >= 3
