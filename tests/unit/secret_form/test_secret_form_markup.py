"""Secrets that markup hides: between tags, in cells of tables, in lines of notebooks; and plain
words that are secrets by their table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TypeAlias

import pytest

from dcf.code.piece import cut
from dcf.documents.file import format_of
from dcf.documents.worker import ResourceLimits, read
from dcf.secret_form import without_secrets

Told: TypeAlias = Callable[[str, str], str]


def notebook(*cells: str) -> str:
    lines = [{"cell_type": "markdown", "source": one.splitlines(keepends=True)} for one in cells]
    return json.dumps({"cells": lines, "nbformat": 4})


def as_document(name: str, text: str) -> str:
    told = read(name, str(format_of(name)), text.encode(), ResourceLimits())
    return "\n".join([told.title, *(one.text for one in told.pieces)])


def as_code(name: str, text: str) -> str:
    return "\n".join(one.text for one in cut(name, text)[0])


@pytest.mark.parametrize("secret", ["hunter2-Abc9!x", "q7Rk2ZxV9mTbL4wNp8Ys3DhC"])
@pytest.mark.parametrize(
    "text",
    [
        '<password type="a">{}</password>',
        "<password><![CDATA[{}]]></password>",
        '<password value="{}"/>',
        '<db:password value="{}"></db:password>',
        '<entry key="db.password">{}</entry>',
        '<entry key="password"><![CDATA[{}]]></entry>',
        "<p>Password</p><p>{}</p>",
        '<div>DB password:</div>\n<div class="v"><code>{}</code></div>',
        "<ul><li>Password<ul><li>{}</li></ul></li></ul>",
    ],
)
def test_an_element_gives_a_secret_its_value(text: str, secret: str) -> None:
    assert without_secrets(text.format(secret), "#") == text.format("#")


@pytest.mark.parametrize(
    "text",
    [
        '<password type="string">${db.password1}</password>',
        '<password value="${pw1}"/>',
        '<entry key="password">Passwort</entry>',
        "<p>Password</p><p>Required</p>",
        "<li>Password<ul><li>Required</li></ul></li>",
    ],
)
def test_what_an_element_says_of_a_secret_stays(text: str) -> None:
    assert without_secrets(text, "#") == text


@pytest.mark.parametrize(
    "part",
    ["<password ", "<password a>", "<password><![cdata[", "<p>password", ">password<p>", "<p>a "],
)
def test_no_element_takes_long(part: str) -> None:
    began = time.process_time()
    without_secrets(part * (200_000 // len(part)))
    assert time.process_time() - began < 1


@pytest.mark.parametrize("told", [as_document, as_code])
@pytest.mark.parametrize(
    ("name", "text", "secret"),
    [
        # Between tags and in attributes.
        ("a.html", "<p>pass<b>word</b>: hunter2x9</p>", "hunter2x9"),
        ("a.html", "<p>pass<!-- so -->word: hunter2x9</p>", "hunter2x9"),
        ("a.html", "<p>pass&#119;ord&colon; hunter2x9</p>", "hunter2x9"),
        ("a.html", "<b>Password:</b> hunt<i>er2x9</i>", "er2x9"),
        ("a.html", "<dl><dt>Password</dt><dd>hunter2x9</dd></dl>", "hunter2x9"),
        ("a.html", "<h2>Password</h2><p>hunter2x9</p>", "hunter2x9"),
        ("a.html", '<p>x</p><input type="password" value="hunter2x9">', "hunter2x9"),
        ("a.html", "<p>x</p><input name=api_key value=h7Gk29slQp0aZ>", "h7Gk29slQp0aZ"),
        ("a.html", '<p>x</p><input name="db_password" required value="summer">', "summer"),
        ("a.html", '<p>x</p><meta name="api-key" content="h7Gk29slQp0aZ">', "h7Gk29slQp0aZ"),
        ("a.xml", '<property name="connection.password">summer</property>', "summer"),
        ("a.xml", '<string name="api_key">h7Gk29slQp0aZ</string>', "h7Gk29slQp0aZ"),
        ("a.xml", '<setting name="Password"><value>summer</value></setting>', "summer"),
        # Tables of HTML.
        ("a.html", "<table><tr><td>password<td>hunter2x9</table>", "hunter2x9"),
        ("a.html", "<table><tr><th>User<th>Password<tr><td>bob<td>summer</table>", "summer"),
        ("a.html", "<table><tr><td>User<td>bob<tr><td>Password<td>summer</table>", "summer"),
        ("a.html", "<table><tr><th>User<td>bob<tr><th>Password<td>summer</table>", "summer"),
        ("a.html", "<table><tr><td>Password<td>summer</table>", "summer"),
        ("a.html", "<table><caption>Passwords</caption><tr><td>Door<td>summer</table>", "summer"),
        ("a.html", "<!-- <tr><td>password</td><td>hunter2x9</td></tr> -->x", "hunter2x9"),
        ("a.html", '<script>"<tr><td>password</td><td>hunter2x9</td>"</script>x', "hunter2x9"),
        ("a.md", "<table><tr><td>password</td><td>hunter2x9</td></tr></table>\n", "hunter2x9"),
        # Tables of Markdown and CSV with plain words.
        ("a.md", "| Key | Value |\n|---|---|\n| User | bob |\n| Password | summer |\n", "summer"),
        ("a.md", "| Password | summer |\n|---|---|\n| User | bob |\n", "summer"),
        ("a.md", "| User | bob |\n|---|---|\n| Password | summer |\n", "summer"),
        ("a.md", "| Password | summer |\n", "summer"),
        ("a.md", "## Passwords\n\n| Where | What |\n|---|---|\n| Door | summer |\n", "summer"),
        ("a.md", "| Service | Token |\n|---|---|\n| github | abcdefghij |\n", "abcdefghij"),
        ("a.csv", "user,bob\npassword,summer\n", "summer"),
        ("a.csv", "password,summer\nuser,bob\n", "summer"),
        ("a.csv", "name,value\npassword,summer\n", "summer"),
        ("a.csv", "user (web),password (web)\nbob,summer\n", "summer"),
        # Lines of notebooks.
        ("a.ipynb", notebook("PASSWORD = (\n  'hunter2'\n  'x9ab'\n)"), "x9ab"),
        ("a.ipynb", notebook("| user | password |\n|---|---|\n| bob | summer |\n"), "summer"),
        ("a.ipynb", notebook("## Password", "hunter2x9"), "hunter2x9"),
        ("a.ipynb", notebook("   user   password\n0   bob  hunter2x9\n"), "hunter2x9"),
    ],
)
def test_what_a_reader_takes_for_a_secret_is_told_neither_as_document_nor_as_code(
    told: Told, name: str, text: str, secret: str
) -> None:
    assert secret not in told(name, text)


@pytest.mark.parametrize(
    "text",
    [
        "| Field | Type |\n|---|---|\n| user | text |\n| password | varchar |\n",
        "| Name | Description |\n|---|---|\n| password | secret |\n",
        "| English | German |\n|---|---|\n| Username | Anmeldung |\n| Password | Losung |\n",
        "| Token | Meaning |\n|---|---|\n| IDENT | identifier |\n",
        "| Variable | Value |\n|---|---|\n| password | DB_PASSWORD |\n",
        "## Passwords\n\n| Setting | Value |\n|---|---|\n| rotation | yearly |\n",
        "<p>Give <code>--token <str> a token that callers send</code></p>",
        "const tokens: Array<string> = read<Password>(file);\nreturn tokens;\n",
        '<label for="password">Password</label><input type="password" name="password">',
        '<button type="submit" name="password" class="a" value="Change">',
        '<string name="reset_password">Erneuern</string>',
        '<input type="password" value="{{ password }}">',
    ],
)
def test_what_is_said_of_secrets_in_markup_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_lines_and_tags_stay_where_they_are() -> None:
    text = "<table>\n<tr>\n<td>password</td>\n<td>\nhunter2x9</td>\n</tr>\n</table>\nend"
    told = without_secrets(text, keep_lines=True)
    assert told == text.replace("hunter2x9", "[redacted: password]")


@pytest.mark.parametrize(
    "part",
    [
        "<table><tr><td>password</td><td>",
        "<tr><td colspan=100 rowspan=100>password</td></tr>",
        '<a b="',
        "<!--",
        "| password | summer |\n\n",
        "passwords\n\n",
    ],
)
def test_markup_is_read_in_a_time_that_grows_as_it_does(part: str) -> None:
    def spent(times: int) -> float:
        text = "<table>" + part * times + "</table>"
        began = time.process_time()
        without_secrets(text)
        return time.process_time() - began

    few, many = spent(500), spent(4_000)
    assert many < 24 * few + 0.5
