"""Command lines that a shell reads back word for word."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homeport.installer.plan.quoting import Shell, command_line, quote, shell_named, then
from tests.harness import needs

WORDS = [
    "", "plain", "two words", "it's", '"quoted"', "back\\slash", "end\\", "$HOME", "${NAME}", "`id`", "!x", "*", "?",
    "~", "a;b", "a&b", "a|b", "(x)", "{a,b}", "#c", "%PATH%", "new\nline", "tab\there", "ключ", "--", "-n", "a=b",
    "\\'", "'\\''",
]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_a_posix_line_is_split_into_the_same_words(words: list[str]) -> None:
    assert shlex.split(command_line(words, "posix")) == words


@pytest.mark.parametrize("program", ["sh", "bash", "fish"])
def test_a_real_shell_hands_on_the_same_words(program: str) -> None:
    needs(program)
    echo = "import json, sys; print(json.dumps(sys.argv[1:]))"
    line = command_line([sys.executable, "-c", echo, *WORDS], "fish" if program == "fish" else "posix")
    done = subprocess.run([program, "-c", line], capture_output=True, check=True)
    assert json.loads(done.stdout) == WORDS


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", "plain"),
        ("", "''"),
        ("two words", "'two words'"),
        ("it's", "'it\\'s'"),
        ("end\\", "'end\\\\'"),
        ("$HOME", "'$HOME'"),
    ],
)
def test_fish(word: str, expected: str) -> None:
    assert quote(word, "fish") == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (r"C:\bin\rota.exe", r"C:\bin\rota.exe"),
        ("", "''"),
        ("two words", "'two words'"),
        ("it's", "'it''s'"),
        ("${NAME}", "'${NAME}'"),
        ("--", "'--'"),
        ("--scope", "--scope"),
        ("@latest", "'@latest'"),
        ("a,b", "'a,b'"),
        ('say "x"', "'say \\\"x\\\"'"),
        ('\\"', "'\\\\\\\"'"),
    ],
)
def test_powershell(word: str, expected: str) -> None:
    assert quote(word, "powershell") == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (r"C:\bin\rota.exe", r"C:\bin\rota.exe"),
        ("", '""'),
        ("two words", '"two words"'),
        ("a&b|c^", '"a&b|c^"'),
        ('say "x"', '"say \\"x\\""'),
        ("C:\\a b\\", '"C:\\a b\\\\"'),
        ("100%", '"100"^%""'),
        ('a"b&c', '"a\\"b^&c^"'),
        ('"50%"|', '"\\"50^%\\"|"'),
        ("--", "--"),
    ],
)
def test_cmd(word: str, expected: str) -> None:
    assert quote(word, "cmd") == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"))))
def test_cmd_words_come_back_by_cmds_and_the_c_runtimes_rules(words: list[str]) -> None:
    assert c_runtime_words(handed_over_by_cmd(command_line(["x", *words], "cmd"))) == ["x", *words]


def handed_over_by_cmd(line: str) -> str:
    """What cmd gives to the program of a line: quotes are counted, and a caret outside of them takes the next
    character's meaning away (ss64.com/nt/syntax-esc.html). An operator or a percent sign with its meaning fails."""
    handed, quoted, escaped = "", False, False
    for character in line:
        if character == "^" and not quoted and not escaped:
            escaped = True
            continue
        assert escaped or character != "%", line
        assert escaped or quoted or character not in "&|<>()", line
        quoted ^= character == '"' and not escaped
        handed, escaped = handed + character, False
    return handed


def c_runtime_words(line: str) -> list[str]:
    """How a Windows program's start-up code splits its command line (learn.microsoft.com, parsing C arguments)."""
    words: list[str] = []
    word, quoted, at, open_word = "", False, 0, False
    while at < len(line):
        slashes = 0
        while at < len(line) and line[at] == "\\":
            slashes, at = slashes + 1, at + 1
        if at < len(line) and line[at] == '"':
            word += "\\" * (slashes // 2)
            word, quoted = (word + '"', quoted) if slashes % 2 else (word, not quoted)
            open_word, at = True, at + 1
            continue
        word, open_word = word + "\\" * slashes, open_word or bool(slashes)
        if at < len(line):
            if line[at] in " \t" and not quoted:
                words, word, open_word = (words + [word] if open_word else words), "", False
            else:
                word, open_word = word + line[at], True
            at += 1
    return words + [word] if open_word else words


@pytest.mark.parametrize(
    ("name", "platform", "shell"),
    [
        ("fish", "linux", "fish"),
        ("bash", "win32", "posix"),
        ("zsh", "darwin", "posix"),
        ("PowerShell.exe", "win32", "powershell"),
        ("pwsh", "linux", "powershell"),
        ("cmd.exe", "win32", "cmd"),
        (None, "win32", "powershell"),
        (None, "linux", "posix"),
    ],
)
def test_a_shell_is_known_by_its_name(name: str | None, platform: str, shell: Shell) -> None:
    assert shell_named(name, platform) == shell


def test_several_commands_stand_on_one_line() -> None:
    assert (then(["a", "b"], "posix"), then(["a", "b"], "cmd")) == ("a; b", "a & b")
