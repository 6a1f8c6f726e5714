"""Credentials that are known by their look: makers begin theirs with letters of their own.

Facts about lengths and alphabets are from the makers' documentation and from the public rules of
secret scanners. Where a maker's lengths vary, the least is taken, since an unknown longer one is
still a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dcf.secret_form.found import Found

_WORD = "[A-Za-z0-9]"
_URL = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_NO_MORE = r"(?![A-Za-z0-9_-])"
# Cut texts end within what they tell: what is left of a credential there is shorter.
_TORN = r"(?=(?:\.{3}|…)?\s*\Z)"
# Where a word begins, which may be behind a line break of JSON, a colour, or %3D of an address.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]|\dm)|(?<=%[0-9A-Fa-f]{2}))"
# Nothing of the word is left over, where another one would seem to begin.
_REST = re.compile(r"[A-Za-z0-9]*+")
_UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"


@dataclass(frozen=True, slots=True)
class _Form:
    """The look of a maker's credentials. All have one of ``marks``, which is looked for first;
    as many signs as one of ``before`` stand in front of it."""

    kind: str
    marks: tuple[str, ...]
    look: re.Pattern[str]
    before: tuple[int, ...]


def _form(kind: str, marks: str, look: str, *before: int) -> _Form:
    return _Form(kind, tuple(marks.split()), re.compile(_START + look), before or (0,))


def _made(kind: str, marks: str, alphabet: str, least: int) -> _Form:
    """One of ``marks`` and at least so many signs; four suffice where the text ends."""
    begins = "|".join(map(re.escape, marks.split()))
    look = rf"(?:{begins})(?:{alphabet}{{{least},}}+|{alphabet}{{4,}}+{_TORN})"
    return _form(kind, marks, look)


_FORMS = (
    # A pair as AWS hands it out in a CSV file: the second half has no look of its own.
    _form(
        "aws key",
        "AKIA ASIA ABIA ACCA",
        r"[A-Z]{4}[0-9A-Z]{16}(?:[\s,:;|]{1,8}[A-Za-z0-9/+]{40}(?![\w/+=]))?",
    ),
    _made("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", _URL, 10),
    _made(
        "gitlab token",
        "glpat- glagent- glcbt- gldt- glffct- glft- glimt- gloas- glptt- glrt- glsoat- GR1348941",
        "[A-Za-z0-9_.-]",
        16,
    ),
    _made("slack token", "xoxa- xoxb- xoxc- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", _URL, 10),
    _form(
        "slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com\\?/(?:services|workflows|triggers)(?:\\?/[\w-]+)+",
    ),
    _form(
        "discord webhook",
        "discord.com discordapp.com",
        rf"discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d{{16,20}}\\?/{_URL}{{20,}}+",
    ),
    # It begins with the number of the bot in Base64.
    _form(
        "discord token",
        "MT Mj Mz ND NT Nj Nz OD OT",
        rf"{_URL}{{24,28}}\.{_URL}{{6}}\.{_URL}{{27,}}+",
    ),
    _form("telegram token", ":AA", rf"\d{{8,10}}:AA{_URL}{{32,34}}{_NO_MORE}", 8, 9, 10),
    _form("twilio key", "SK", rf"SK{_HEX}{{32}}{_NO_MORE}"),
    _made("stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]", 24),
    _made("stripe key", "sk_live_ sk_test_ pk_live_ pk_test_ rk_live_ rk_test_", "[\\w-]", 16),
    _made("google api key", "AIza", _URL, 30),
    _made("google token", "ya29.", "[A-Za-z0-9_.-]", 10),
    _made("google client secret", "GOCSPX-", _URL, 24),
    _made("hugging face token", "hf_ api_org_", _WORD, 30),
    _made("npm token", "npm_", _WORD, 30),
    _made("pypi token", "pypi-", _URL, 50),
    _made("docker token", "dckr_pat_ dckr_oat_", _URL, 20),
    _form("sendgrid key", "SG.", rf"SG\.{_URL}{{16,}}+\.{_URL}{{16,}}+"),
    _made("shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]", 32),
    _made("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 40),
    _form("databricks token", "dapi", rf"dapi{_HEX}{{32}}(?:-\d)?{_NO_MORE}"),
    _made("heroku key", "HRKU-", _URL, 40),
    # Those of before have no look, but for the name that is given to them.
    _form(
        "heroku key",
        "heroku Heroku HEROKU",
        rf"(?i:heroku)[\w .-]{{0,20}}\\?[\"']?\s?[:=]\s?\\?[\"']?{_UUID}",
    ),
    _made("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40),
    _form("azure key", "==", r"(?<![/+-])[A-Za-z0-9+/]{86}==(?![\w/+=-])", 86),
    _form("azure client secret", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])", 4),
    _made("vault token", "hvs. hvb.", _URL, 20),
    _made("grafana token", "glsa_ glc_", "[\\w+/=]", 30),
    _made("sentry token", "sntrys_ sntryu_", "[\\w+/=-]", 20),
    _made("postman key", "PMAK-", "[0-9a-f-]", 50),
    _made("planetscale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", "[\\w.=-]", 30),
    _made("atlassian token", "ATATT3", "[\\w=-]", 40),
    _made("linear key", "lin_api_ lin_oauth_", _WORD, 30),
    _made("figma token", "figd_ figu_", _URL, 30),
    _made("notion token", "ntn_", _WORD, 30),
    _made("new relic key", "NRAK-", "[A-Z0-9]", 20),
    _made("rubygems key", "rubygems_", _HEX, 40),
    _made("square token", "sq0atp- sq0csp- sq0idp-", _URL, 20),
    _form("mailgun key", "key-", rf"key-{_HEX}{{32}}{_NO_MORE}"),
    _form("mailchimp key", "-us", rf"{_HEX}{{32}}-us\d{{1,2}}{_NO_MORE}", 32),
    _made("brevo key", "xkeysib-", _URL, 40),
    _made("doppler token", "dp.ct. dp.pt. dp.st. dp.sa. dp.scim. dp.audit.", "[\\w.-]", 30),
    _made("pulumi token", "pul-", _HEX, 40),
    _form("terraform token", ".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.{_URL}{{40,}}+", 14),
    _made("supabase key", "sbp_ sb_secret_", _URL, 20),
    _form("airtable token", "pat", rf"pat{_WORD}{{14}}\.{_HEX}{{64}}"),
    _made("tailscale key", "tskey-", _URL, 16),
    _made("artifactory key", "AKCp", _WORD, 60),
    _form("alibaba key", "LTAI", rf"LTAI{_WORD}{{20}}{_NO_MORE}"),
    _made("groq key", "gsk_", _WORD, 40),
    _made("replicate token", "r8_", _WORD, 30),
    _made("nvidia key", "nvapi-", _URL, 30),
    _made("perplexity key", "pplx-", _WORD, 30),
    _made("xai key", "xai-", _WORD, 40),
    _made("anthropic key", "sk-ant-", _URL, 12),
    # What OpenAI began, and many took over. Names of things begin like this too, but they seldom
    # have digits, and those of ciphers are in small letters.
    _form("api key", "sk-", rf"sk-(?!ecdsa|ssh)(?=[A-Za-z_-]{{0,64}}\d){_URL}{{16,}}+"),
    _form(
        "api key",
        "sk- pk- rk- sk_ pk_ rk_",
        r"[spr]k[-_](?:[A-Za-z0-9]{1,40}[-_]){0,3}(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{16,}+"
        r"(?>(?:[-_][A-Za-z0-9]+)*)",
    ),
)


def made_by_makers(text: str) -> Iterator[Found]:
    """The keys and tokens of known makers in ``text``."""
    for form in _FORMS:
        for mark in form.marks:
            at = text.find(mark)
            while at >= 0:
                found = _at(form, text, at)
                if found is not None:
                    yield found
                at = text.find(mark, found.end if found else at + 1)


def _at(form: _Form, text: str, mark: int) -> Found | None:
    for before in form.before:
        hit = form.look.match(text, mark - before) if mark >= before else None
        if hit:
            rest = _REST.match(text, hit.end())
            return Found(form.kind, hit.start(), rest.end() if rest else hit.end())
    return None
