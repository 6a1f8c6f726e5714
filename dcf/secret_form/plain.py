"""Plain words as secrets: told by what stands around them, in tables of names and values.

``| Password | summer |`` is a secret in a list of what one logs in with, and none in a list of
fields and their types, or of words and their translations.
"""

from __future__ import annotations

import re

from dcf.secret_form.given import SIGN
from dcf.secret_form.naming import FOREIGN_NAME, NAME, small
from dcf.secret_form.said import is_reference, is_said, is_variable

_REMARK = r"(?: ?\([^()]{0,40}\))?:?"
_ACCOUNT = re.compile(
    r"(?:[\w.-]{1,20}[ _.-]){0,2}?(?:user(?:[ _-]?(?:name|id))?|log[ -]?in|account|e?-?mail"
    r"|host(?:[ _-]?name)?|server|url|ssid|wi-?fi|wlan|database|benutzer(?:name)?|konto"
    r"|utilisateur|usuario|usuário|utente|gebruiker(?:snaam)?)"
    rf"(?:[ _-](?:name|id|address))?{_REMARK}"
)
_OWNER = re.compile(
    r"(?:[\w.-]{1,20}[ _.-]){0,2}?(?:service|site|client|environment|env|system|app(?:lication)?"
    rf"|provider|device|customer|tenant|dienst|kunde){_REMARK}"
)
_VALUE = re.compile(
    r"(?:the |your |current )?(?:values?|werte?|valeurs?|valor(?:es)?|valore|waarde|credentials?"
    rf"|entry|content){_REMARK}"
)
_TITLE = re.compile(
    r"[#*_\s]*(?:[\w'’-]{1,20} ){0,2}(?:passwords|passphrases|passcodes|passwörter|kennwörter"
    r"|secrets|credentials|logins|zugangsdaten|contraseñas|mots de passe|senhas|wachtwoorden)"
    r"(?: (?:list|table|for|of) ?[\w .-]{0,40})?[:*_\s]*"
)
# What is said of a secret in one word: its type, its state, where it is used, how it is kept.
_SAID = re.compile(
    r"(?:(?:var|n?var|long|medium)?char2?|blob|enum|uuid|guid|json|yaml|bearer|basic|oauth|jwt|csrf"
    r"|session|cookie|header|body|query|path|form|env|file|(?:pass(?:word)?|text|char|string)"
    r"[ _-]?(?:field|input|box)?|hash(?:ed|es|ing)?|encrypt(?:ed|s|ion)|decrypted|plain(?:text)?"
    r"|sensitive|confidential|private|public|internal|secure[ds]?|strong|weak|random|generated|auto"
    r"|automatic|manual|always|never|sometimes|often|daily|weekly|monthly|yearly|years?|days?|hours?"
    r"|minutes?|enabled?|disabled?|on|off|high|low|medium|critical|default|standard|custom|mandatory"
    r"|necessary|supported|unsupported|deprecated|added|changed|fixed|done|open|closed|todo|tbd|n/a"
    r"|vault|keychain|keyring|keepass|bitwarden|1password|lastpass|kubernetes|admin|everyone|nobody"
    r"|description|meaning|type|notes?|comment|example|format|length|policy|rules?|purpose|usage"
    r"|identifier|keyword|literal|symbol|operator|whitespace|newline|punctuation)[.,;:!?]*"
)
_NAMES = (re.compile(rf"(?:[\w.-]{{0,20}}?[_.-])??(?:{NAME})"), re.compile(FOREIGN_NAME))
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_ONE = re.compile(rf"{SIGN}{{3,200}}")
_NO_VALUE = re.compile(r"[-/~:$%=<@]|\.[/.]|\w{1,20}://|www\.|\d{4}-\d\d|\W+\Z|[\d.,%]{1,3}\Z")
_SHORTEST_MADE = 6


def is_plain(value: str, name: re.Match[str]) -> bool:
    """Whether ``value`` may be that of ``name``, which NAME or FOREIGN_NAME matched, where what
    stands around says that it is a value: any word that says nothing of a secret."""
    if not _ONE.fullmatch(value) or _NO_VALUE.match(value) or _ENVIRONMENT.fullmatch(value):
        return False
    if not name["chosen"] and len(value) < _SHORTEST_MADE:
        return False
    lower = small(value)
    if _SAID.fullmatch(lower) or any(form.fullmatch(lower) for form in _NAMES):
        return False
    said = is_said(lower, 0, quoted=False) or is_reference(lower, 0)
    return not said and not is_variable(value, lower, 0)


def is_account(title: str) -> bool:
    """Whether a password belongs to what is called so: a user, a server, a network."""
    return _ACCOUNT.fullmatch(title) is not None


def is_owner(title: str) -> bool:
    """The same, or a service or system, which tokens are of."""
    return is_account(title) or _OWNER.fullmatch(title) is not None


def is_value_title(title: str) -> bool:
    """Whether what stands below is what things have, not what is said of them."""
    return not title or _VALUE.fullmatch(title) is not None


def is_title_of_secrets(line: str) -> bool:
    """Whether a table below has passwords: ``## WiFi passwords``."""
    return len(line) <= 120 and _TITLE.fullmatch(line) is not None
