"""What follows the name of a secret and is none: what is said of it, references, source code.

All of it is matched in small letters, but for words, which are told from secrets by their letters.
"""

from __future__ import annotations

import re

_NO_PART = r"(?![\w@#$%^&*+=/-])"
_STATED = (
    r"(?:is|are|was|were|be|has|have|had|must|may|can|could|cannot|should|will|would|do|does|did"
    r"|not?|none|nil|null|undefined|unset|true|false|empty|blank|missing|absent|invalid|valid"
    r"|required|requires|optional|expired|expires|expiring|unknown|wrong|incorrect|mismatch|changed|rotated"
    r"|revoked|refused|rejected|denied|failed|failure|pending|redacted|hidden|masked|removed"
    r"|expected|your[-_](?:db[-_])?(?:password|secret|token|(?:api[-_]?)?key)(?:[-_]here)?)"
)
# So may also begin a secret of several words, which is then in quotes.
_WORDS = (
    r"(?:an?|the|yes|to|too|for|from|of|in|on|or|and|with|without|by|at|as|if|when|while|this|that"
    r"|these|it|its|your|our|their|my|please|ok|okay|string|text|str|int|integer|number|bytes|bool"
    r"|boolean|object|value|options?|flag|argument|parameter|enter|use|see|set|get|check|only|token"
    r"|authentication|auth|access|credentials?|await|new|lambda|any|secretstr)"
)
_PLACEHOLDER = (
    # A field of a format too: {token!r}, {self.key}, {key[:4]}.
    r"\$\{|\$\([a-z]|\{\{|\{\w*\}|\{[a-z_][\w.]*[!:.(\[}]|\.{3}|%5b|%s|%\("
    # A colour, as styles give one to tokens.
    r"|#[0-9a-f]{3,8}(?![\w-])"
    r"|%[a-z][a-z_]*%|\$[a-z][a-z_]*\b|\*{3}|<[\w -]+>|</[a-z]|\["
    # The path of a file, as in PWD=/home/ann, of which a part may have been taken out.
    r"|/\[|~?/[a-z][\w.-]*+(?>(?:/[\w.-]++)*)/?+(?![\w+=/])"
)
_BARE = re.compile(rf"(?:{_STATED}|{_WORDS}){_NO_PART}|{_PLACEHOLDER}")
_QUOTED = re.compile(rf"{_STATED}{_NO_PART}|{_WORDS}\\?[\"']|{_PLACEHOLDER}")
_REFERENCE = re.compile(
    # A call or an item, or what is put together.
    r"[(`][a-z_]|[a-z_][a-z_.]*+[(\[]|(?=[a-z]++[._\d])[a-z][\w.]*+\("
    r"|(?:self|cls|this|args|kwargs|config|cfg|conf|settings|options|opts|params|request|req"
    rf"|response|resp|ctx|context|env|environ|os|process|secrets)\.[a-z_][a-z_.]*+{_NO_PART}"
)
_VARIABLE = re.compile(
    r"[a-z_.]*+(?:(?<=password)|(?<=passwd)|(?<=pwd)|(?<=secret)|(?<=token)|(?<=key)"
    rf"|(?<=keys)|(?<=tokens)|(?<=auth)|(?<=authorization)){_NO_PART}"
)
_JOINED = re.compile("[a-z][A-Z]")
_ITSELF = re.compile(
    rf"(?:passw(?:or)?d|passphrase|pwd|secret|token|key)(?:_[a-z]+)?{_NO_PART}(?!\.\w)"
)
_COUNT = re.compile(rf"\d{{1,9}}(?:\.\d{{1,9}})?{_NO_PART}(?!\.\w)")
_WORD = re.compile(rf"[A-Z]?[a-z]{{1,11}}{_NO_PART}(?!\.\w)")
_TYPE_OR_VARIABLE = re.compile(rf"[A-Za-z_][A-Za-z_.]*+{_NO_PART}")

# What stands in the place of a credential in documentation and tests: words, or what was cut.
_EXAMPLE_WORD = r"(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,14})\d{0,3}"
_EXAMPLE = re.compile(
    rf"{_EXAMPLE_WORD}(?:[-_/]{_EXAMPLE_WORD})+{_NO_PART}(?![.!]\w)"
    rf"|(?:test|fake|dummy|mock|sample|example|placeholder)[a-z]*\d{{0,3}}{_NO_PART}|[\w-]{{0,16}}(?:\.{{3}}|\*{{3}}|X{{4}}|x{{4}})"
)
_EXAMPLE_SECRET = re.compile(rf"(?:{_EXAMPLE_WORD}[-_]){{1,4}}secret(?:[-_]key)?{_NO_PART}")

# In languages whose words are not listed here.
_STATED_ELSEWHERE = (
    r"falsch|ungültig|erforderlich|notwendig|fehlt|leer|kein[es]?|onjuist|vereist|requis|obligatoire"
    r"|invalide|incorrecte?|manquant|incorrect[ao]|inv[aá]lid[ao]|requerid[ao]|obligatori[ao]"
    r"|vac[ií][ao]|obrigatóri[ao]|errad[ao]|neplatné|wymagane|неверный|обязателен|нет"
)
_PROSE = re.compile(
    # Passwords are typed in other signs than these.
    r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
    rf"|(?i:{_STATED_ELSEWHERE}){_NO_PART}"
    # A word and another one, which is not the name of the next field.
    r"|(?P<word>[^\W\d_]{1,30}+)[,.]?[ \t]++[^\W\d_]++(?![ \t]?[:=：])"
)


def is_said(lower: str, at: int, *, quoted: bool) -> bool:
    """Whether something is said there about a secret, or stands for one."""
    return (_QUOTED if quoted else _BARE).match(lower, at) is not None


def is_reference(lower: str, at: int) -> bool:
    """Whether the source of a program goes there for a secret: ``getpass()``, ``self.x``."""
    return _REFERENCE.match(lower, at) is not None


def is_variable(text: str, lower: str, at: int) -> bool:
    """Whether it is a variable or a type there that is itself called like a secret:
    ``db_password``, ``ClientSecret``."""
    found = _VARIABLE.match(lower, at)
    if found is None:
        return False
    name = text[found.start() : found.end()]
    return "_" in name or "." in name or _JOINED.search(name) is not None


def is_count(text: str, at: int) -> bool:
    """Whether a number of tokens stands there."""
    return _COUNT.match(text, at) is not None


def is_word(text: str, at: int, between: str) -> bool:
    """Whether what follows ``between`` is a word of prose, a type or a variable, which machines do
    not make: "access key: Ring the bell", ``token: TokenReader``, ``token = Name.Builtin``."""
    if between.startswith(":") and between[-1].isspace() and _WORD.match(text, at):
        return True
    spaced = between[0].isspace() or between.startswith(":")
    return spaced and between[-1].isspace() and _TYPE_OR_VARIABLE.match(text, at) is not None


def is_example(text: str, at: int, name: str = "") -> bool:
    """Whether what stands there is an example of what a machine makes: ``test-key``, ``hf_...``;
    people choose the values of some names, which ``name`` says."""
    return (_EXAMPLE_SECRET if name else _EXAMPLE).match(text, at) is not None


def is_word_itself(lower: str, at: int) -> bool:
    """Whether a variable that is called like a secret stands there: ``password=password``."""
    return _ITSELF.match(lower, at) is not None


def is_prose(text: str, at: int) -> bool:
    """Whether what stands there is said of a password, in whatever language: words in a row, none
    of which has a digit, a sign, or a capital within; ``Passwort: es muss lang sein``."""
    found = _PROSE.match(text, at)
    word = (found and found["word"]) or ""
    return found is not None and word[1:] == word[1:].lower()
