"""Names of secrets in a text, and what separates them from their values."""

from __future__ import annotations

import re

# What people of other languages than English call a password, in small letters. Words that mean
# more than a password (clave, parola, codice) are none.
_FOREIGN_PASS = r"passwort|passord|mot[-_ ]?de[-_ ]?passe|palavra[-_ ]passe"
_FOREIGN = (
    # German, Dutch, Swedish
    r"kennwort|wachtwoord|lösenord"
    # Spanish, Portuguese, Romanian
    r"|contrase(?:ñ|n\u0303?)a|senha|parolă"
    # Polish, Hungarian, Turkish
    r"|hasło|jelszó|şifre"
    # Russian, Ukrainian, Greek
    r"|пароль|κωδικός πρόσβασης"
    # Chinese, Japanese, Korean, Vietnamese, Thai, Hindi
    r"|密码|密碼|口令|パスワード|暗証番号|비밀번호|패스워드|mật khẩu|รหัสผ่าน|पासवर्ड"
    # Arabic, Hebrew, Persian
    r"|كلمة المرور|كلمة السر|סיסמ[הא]|گذرواژه|رمز عبور"
)
# Each is looked for in every text, which takes 0.5 ms for 1 MB.
_PARTS_ASCII = ("kennwort", "wachtwoord", "contrase", "senha")
_PARTS_BEYOND = (
    *("lösenord", "parolă", "hasło", "jelszó", "şifre", "пароль", "πρόσβασης", "密码", "密碼"),
    *("口令", "パスワード", "暗証番号", "비밀번호", "패스워드", "khẩu", "รหัสผ่าน", "पासवर्ड"),
    *("المرور", "السر", "סיסמ", "گذرواژه", "عبور"),
)


def foreign_parts(lower: str) -> tuple[str, ...]:
    """What a ``FOREIGN_NAME`` has in its last word, where ``lower``, a text in small letters, has
    one: most texts are ASCII, and cannot have most of it."""
    return _PARTS_ASCII if lower.isascii() else (*_PARTS_ASCII, *_PARTS_BEYOND)


# Looks behind stand after the letters: what begins with a letter is searched much faster.
_CHOSEN = (
    rf"(?P<foreign>{_FOREIGN_PASS})|pass(?:word|wd|phrase)|pwd(?<![a-z]pwd)|dbpwd|secret"
    # Tests and programs have a pass, too: of these it is a password.
    r"|(?:user[-_]|(?:db|sql|admin|root|mail|smtp|ftp|ssh|sudo|become|redis|auth|proxy)[-_]?)pass"
    r"|(?:cvv|cvc)(?<![a-z]...)2?"
)
_MADE = (
    r"passcode|pass(?<![a-z]pass)(?! :)"
    # Those of pages, and of what is parsed, are no secrets.
    r"|token(?<!unexpected token)(?<!pagetoken)(?<!page[-_ ]token)"
    r"(?<!nexttoken)(?<!next[-_ ]token)(?<!continuationtoken)(?<!continuation[-_ ]token)"
    r"|(?:api|access|secret|private|account|shared|signing|signature|encryption|master|auth)"
    r"[-_ ]?key(?:[-_]base)?"
    # Of sessions in the cookies of well-known servers, and of the files of npm and Docker.
    r"|jsessionid|phpsessid|asp\.net_sessionid|connect\.sid|auth(?<=[\"_]auth)"
)
_ENDING = r"(?:[-_]?\d|[-_](?:prod|live|test|dev|staging|old|new))?"
NAME = rf"(?:(?P<chosen>{_CHOSEN})|(?:{_MADE})){_ENDING}"
"""The end of the name of a secret, in small letters. People choose the values of ``chosen``: any
word may be one; some of these names are ``foreign``. Machines make the values of the
others, and plain words are none."""
FOREIGN_NAME = rf"(?P<chosen>(?P<foreign>{_FOREIGN})){_ENDING}"
"""The same of names without ``pass``, which take longer to look for."""
_ASSIGNED = (
    r"[*`]{0,2}\\?[\"']?[*`]{0,2}\s*+"
    r"(?:=>|:=|[?|]{1,2}=|[:=：]|&#(?:61|58|x3[ad]);|(?:%20)?%3[ad](?:%20)?)[*`]{0,2}\s*+"
    # The line goes on below.
    r"(?:\\\r?\n\s*+)?"
)
_BESIDE = (
    r"\\?[\"']?[\s,]{1,60}+\\?[\"']?value\\?[\"']?\s{0,9}+[:=]\s{0,9}+"
    r"|</(?:name|key)>\s{0,60}+<(?:value|string)>"
)
# An item that is given a literal: ``config["password"] = "…"``; a type before the sign, as in Go
# and C.
_ITEM = (
    r"(?:\\?[\"']\s{0,9}+\]|[ \t]{1,9}+(?:string|\[\]byte)|\[\d{0,5}\])"
    r"\s{0,9}+[?|]{0,2}=\s{0,9}+(?=[rbfu]{0,2}\\?[\"'`])"
)
IS = rf"(?:{_ASSIGNED}|{_BESIDE}|{_ITEM})"
"""Between a name and its value, also as addresses have it, and where each is a member of its own:
``name: DB_PASSWORD`` and ``value: …`` behind it."""
IN_PAIR = (
    r"(?:\b(?:name|key|variable|env)\\?[\"']?\s{0,9}(?:=>|[:=])\s{0,9}\\?[\"']?|<(?:name|key)>)"
    r"[\w.-]{0,60}\Z"
)
"""What stands before a name that is the value of a member: ``name: DB_``."""
APART = re.compile(
    r"[\w.-]{0,20}+(?:"
    r"(?: ?\([^()\n]{0,30}\))?[ \t\"'*`:#]{0,20}[,;\t|\r\n`]"
    r"|(?::[ \t]?\w{1,20})?[ \t]{0,9}=[ \t]{0,9}\()"
)
"""What stands behind the place of a name whose value is in another cell, in another line, between
backticks or in brackets: behind most it does not, so that further forms are looked for there."""
LABELS = frozenset({"name", "key", "variable", "env"})
VALUE = "value"
"""Members of an object that has a name and its value in two of them."""
_KINDS = (
    ("pass", "password"),
    ("pwd", "password"),
    ("cv", "card code"),
    ("sess", "session"),
    ("sid", "session"),
    ("token", "token"),
    ("key", "key"),
    ("auth", "authorization"),
)


# Letters and signs of a fixed width, as in Chinese texts; each is one sign of ASCII.
_WIDE = re.compile("[\uff01-\uff5e]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def small(text: str) -> str:
    """``text`` in small letters, each at its place."""
    lower = text.lower()
    if not text.isascii() and _WIDE.search(lower):
        lower = lower.translate(_NARROW)
    # A few letters, as İ, become two.
    return lower if len(lower) == len(text) else "".join(map(_small_letter, text))


def _small_letter(letter: str) -> str:
    lower = letter.lower()
    return lower if len(lower) == 1 else letter


def kind_of(name: str) -> str:
    """What a reader calls the value of ``name``.

    >>> kind_of("db_passwd")
    'password'
    """
    default = "secret" if "secret" in name else "password"
    return next((kind for part, kind in _KINDS if part in name), default)
