"""Files as they will be."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from homeport.errors import HomeportError
from homeport.installer.plan.files_view import FilesView, fragment, value_at
from tests.made import LinkTo, MadeDisk, Thing, make_environment

FILE = PurePosixPath("/home/nora/f.json")


def view(**things: Thing) -> FilesView:
    return FilesView(
        MadeDisk(make_environment(), {f"~/{name.replace('_', '.')}": thing for name, thing in things.items()})
    )


@pytest.mark.parametrize("content", [b"{", b"[1]", b'{"a": 1}', b'{"a": {"b": 1, "b": 2}}', b"\xff\xfe", "a folder"])
def test_a_fact_that_hangs_on_a_file_nobody_can_read_is_unknown(content: Thing) -> None:
    looked = view(f_json=content)
    assert looked.value(FILE, "json", ("a", "b")) is None
    assert looked.keys(FILE, "json", ("a", "b", "c")) == ()


def test_a_missing_file_holds_nothing() -> None:
    assert view().value(FILE, "json", ("a",)) is None
    assert view().before(FILE) is None


def test_a_file_is_read_once_by_whatever_name() -> None:
    looked = view(f_json=b'{"a": 1}', link=LinkTo("f.json"))
    link = PurePosixPath("/home/nora/link")
    looked.put(link, b'{"a": 2}', 0o600)
    assert looked.value(FILE, "json", ("a",)) == 2
    (step,) = looked.steps()
    assert (step.path, step.real, step.before, step.after) == (link, FILE, b'{"a": 1}', b'{"a": 2}')


def test_what_is_put_back_is_no_step() -> None:
    looked = view(f_json=b"{}")
    looked.put(FILE, b'{"a": 1}', 0o600)
    looked.put(FILE, b"{}", 0o600)
    assert looked.steps() == ()


def test_an_error_of_a_find_names_file_and_line() -> None:
    with pytest.raises(HomeportError) as caught:
        view(f_json=b'{\n"a": []}').find(FILE, "json", ("a", "b"))
    assert caught.value.message.startswith("/home/nora/f.json, line 2")


def test_a_fragment_has_the_clients_format_and_a_final_newline() -> None:
    assert (
        fragment(("m", "a"), {"b": 1}, "json", {"v": 1})
        == '{\n  "v": 1,\n  "m": {\n    "a": {\n      "b": 1\n    }\n  }\n}\n'
    )
    assert fragment(("m", "a.b"), {"c": ["d"]}, "toml") == '[m."a.b"]\nc = ["d"]\n'


@pytest.mark.parametrize(
    ("source", "value"), [(b'{"a": {"b": [1]}}', [1]), (b'{"a": {}}', None), (b'{"a": 1}', None), (b"{", None)]
)
def test_a_value_of_bytes(source: bytes, value: object) -> None:
    assert value_at(source, "json", ("a", "b")) == value
