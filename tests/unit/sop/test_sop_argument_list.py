"""Commands as argument lists: what is accepted, a shell splits into the same words; the rest is
refused with what makes it more."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dcf.sop.argument_list import ArgumentList, NotPlain, Placeholder, read_argument_list


def _words(found: ArgumentList) -> list[str]:
    return ["".join(map(str, argument)) for argument in found.arguments]


def _by_bash(command: str) -> list[str] | None:
    """The words that bash gives to a program; None for what it does not take."""
    script = f"shopt -s nullglob\nprintf '%s\\0' {command}"
    if subprocess.run(["/bin/bash", "-n", "-c", script], capture_output=True).returncode:
        return None
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, env={"HOME": "/root"})
    return done.stdout.decode().split("\0")[:-1]


_PIECES = st.sampled_from(
    [
        "ls",
        "-l",
        "--a=b",
        " ",
        "  ",
        "'",
        '"',
        "\\",
        "\\ ",
        "\\\n",
        "#",
        " #",
        "a'b",
        "=",
        "é",
        ",",
        "/",
        *list("|&;<>()$`*?[]{}~!^%@+:-_\n\t"),
    ]
)


@given(st.lists(_PIECES, max_size=9).map(lambda pieces: "x" + "".join(pieces)))
@example('x \'a b\' "c \\" d" e\\ f \'\' ""')
@example("x a\\\n b")
@example("x \\ # b")
@example("x \\ \\\nb")
@example("x a \\\n  b # c")
@example("x \"a\\nb\" 'c\\d' \\'")
@example("x a#b \"#\" '#'")
@settings(max_examples=150, deadline=None, database=None)
def test_a_shell_splits_what_is_accepted_into_the_same_words(command: str) -> None:
    try:
        found = read_argument_list(command)
    except NotPlain:
        return
    assert _words(found) == _by_bash(command)


@pytest.mark.parametrize(
    ("command", "means"),
    [
        ("df -h | sort", "a pipe"),
        ("true && rm x", "`&`"),
        ("true & rm x", "`&`"),
        ("true; rm x", "`;`"),
        ("true\nrm x", "several lines"),
        ("echo 'a\nb'", "several lines"),
        ("echo $(id)", "`$`"),
        ('echo "$(id)"', "`$`"),
        ("echo `id`", "output of another"),
        ('echo "`id`"', "output of another"),
        ("echo $'\\x41'", "`$`"),
        ("echo ${X:-$(id)}", "`$`"),
        ("echo $1 $?", "`$`"),
        ("cat <<EOF", "redirection"),
        ("cat < in", "redirection"),
        ("diff <(a) b", "redirection"),
        ("sort <in>out", "redirection"),
        ("run 2<file>", "redirection"),
        ("ls *.py", "file names"),
        ("rm a?", "file names"),
        ("rm [ab]", "file names"),
        ("echo {1..9}", "braces"),
        ("rm -rf ~/x", "`~`"),
        ("echo $HOME", "variable HOME"),
        ("! true", "`!`"),
        ("cd /srv", "only a shell"),
        ("export A=b", "only a shell"),
        (". ./env", "only a shell"),
        ("for x in a", "only a shell"),
        ("A=b run", "variable that is set"),
        ("sudo -s", "starts other programs"),
        ("env A=b run", "starts other programs"),
        ("ssh host 'rm x'", "starts other programs"),
        ("/usr/bin/xargs rm", "starts other programs"),
        ("bash -c 'rm x'", "the shell bash"),
        ("kubectl exec p -- /bin/sh -c x", "the shell /bin/sh"),
        ("./deploy.sh", "neither a name nor a whole path"),
        ("bin/../../x a", "neither a name nor a whole path"),
        ("/usr/../x a", "neither a name nor a whole path"),
        ("<program> a", "place of the program"),
        ("'<program>' a", "place of the program"),
        ('mail -s "gone: <t>" a', "another program reads"),
        ("psql -c <query>", "what psql runs"),
        ("find . -exec <program> x", "what find runs"),
        ("awk <code> file", "what awk runs"),
        ("tool --eval=<code>", "what tool runs"),
        ("echo 'a", "does not end"),
        ("echo a\\", "`\\`"),
        ("rm \u202etxt.x", "cannot be seen"),
        ("rm\u00a0x", "cannot be seen"),
        ("rm a\x00b", "cannot be seen"),
        ("rm \U000f0000", "cannot be seen"),
        ("", "no program"),
        ("# nothing", "no program"),
    ],
)
def test_what_is_more_than_an_argument_list_is_refused(command: str, means: str) -> None:
    with pytest.raises(NotPlain, match=re.escape(means)):
        read_argument_list(command)


def test_a_placeholder_is_one_argument_or_a_part_of_one() -> None:
    found = read_argument_list(
        "kubectl drain $NODE --grace=${SECONDS_LEFT} {{ zone }} 's3://b/<your-key>' YOUR_TEAM-x"
    )
    assert found.arguments[2:] == (
        (Placeholder("node"),),
        ("--grace=", Placeholder("seconds_left")),
        (Placeholder("zone"),),
        ("s3://b/", Placeholder("key")),
        (Placeholder("team"), "-x"),
    )
    assert found.program == "kubectl"
    assert found.placeholders == ("node", "seconds_left", "zone", "key", "team")


def test_a_variable_in_single_quotes_is_a_text() -> None:
    assert _words(read_argument_list("grep '$NODE' f")) == ["grep", "$NODE", "f"]
