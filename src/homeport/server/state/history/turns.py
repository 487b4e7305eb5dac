"""What a turn is: who said what, which tools were called with what, and what came back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, get_args

from homeport.errors import HomeportError
from homeport.server.state.history.folding import PART_END, fold
from homeport.server.state.history.instants import UNDATED, dated
from homeport.server.state.scopes import parse_actor, parse_scope

Role = Literal["user", "assistant", "system", "tool"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
LARGEST_BYTES: Final = 32 * 1024 * 1024
"""Of a turn, as JSON in UTF-8. It is kept whole or not at all."""

LONGEST_KEY_CHARS: Final = 256
_CONVERSATION: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# What JSON spells otherwise than it is: an argument that holds one is searched in its own spelling too.
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')


class ToolCall(NamedTuple):
    """id: of the call, unique in its turn where the client says it; may be empty. arguments: any JSON value."""

    id: str
    name: str
    arguments: Any


class Message(NamedTuple):
    """call: for the role `tool`, the id of the call whose result `text` is; else empty."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call: str = ""


class Turn(NamedTuple):
    """A turn to land. key: what tells it from every other of its conversation, such as its id in the client's own log;
    a turn whose key is there already is not landed again. number: the wish of a copy that is put back."""

    key: str
    instant: int
    actor: str
    messages: tuple[Message, ...]
    number: int | None = None


class Conversation(NamedTuple):
    """id: 1 to 128 of `[A-Za-z0-9_.-]`, unique for its user. user: a scope of one segment, such as `user:ann`.
    project: the scope of the project it was held in, or None. client: such as `claude-code`. started: an instant."""

    id: str
    user: str
    project: str | None
    client: str
    started: int = UNDATED


class Part(NamedTuple):
    """One stretch of a turn that is searched by itself. kind: what a snippet is marked with."""

    kind: str
    text: str


def check_conversation(conversation: Conversation) -> Conversation:
    """Raises HomeportError: bad_argument, bad_scope."""
    check_id(conversation.id)
    parse_scope(conversation.user)
    if conversation.project is not None:
        parse_scope(conversation.project)
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", conversation.client):
        raise _wrong("client", "a client's name is 1 to 128 letters, digits, '_', '.' and '-'")
    return conversation


def check_id(conversation: str) -> str:
    """Raises HomeportError: bad_argument."""
    if not _CONVERSATION.fullmatch(conversation):
        raise _wrong("conversation", "an id is 1 to 128 letters, digits, '_', '.' and '-'")
    return conversation


def clean(turn: Turn) -> Turn:
    """The turn as it can be kept: half a surrogate pair, which is not text, becomes U+FFFD.

    Raises HomeportError: bad_argument (key, number), bad_scope (actor).
    """
    key = clean_text(turn.key)
    if not 0 < len(key) <= LONGEST_KEY_CHARS:
        raise _wrong("key", f"a key has 1 to {LONGEST_KEY_CHARS} characters")
    if turn.number is not None and not 0 < turn.number < 2**31:
        raise _wrong("turn", "turns are numbered from 1")
    parse_actor(turn.actor)
    try:
        messages = tuple(map(_clean_message, turn.messages))
    except RecursionError as error:
        raise _wrong("messages", "the arguments of a call are nested too deep") from error
    return turn._replace(key=key, instant=dated(turn.instant), messages=messages)


def clean_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encode_messages(messages: tuple[Message, ...]) -> str:
    """Messages as JSON. Raises HomeportError: bad_argument (no JSON value), turn_too_large."""
    try:
        text = json.dumps(
            [message_as_json(one) for one in messages], ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
    except (TypeError, ValueError) as error:
        raise _wrong("messages", "the arguments of a call are no JSON value") from error
    if len(text) > LARGEST_BYTES or len(text.encode()) > LARGEST_BYTES:
        raise HomeportError(
            "turn_too_large",
            f"the turn has more than {LARGEST_BYTES // 2**20} MiB",
            "leave images and other binary content out",
        )
    return text


def message_as_json(message: Message) -> dict[str, Any]:
    """`role` and `text`, and where there are any `calls` (id, name, arguments) and `call`."""
    value: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        value["calls"] = [call._asdict() for call in message.calls]
    if message.call:
        value["call"] = message.call
    return value


def decode_messages(value: Any) -> tuple[Message, ...]:
    """Messages from JSON values. Raises ValueError, in words, where they have another shape."""
    if not isinstance(value, list):
        raise ValueError("messages is no list")
    return tuple(map(_message, value))


def parts_of(messages: tuple[Message, ...]) -> Iterator[Part]:
    """What of a turn is searched: texts, calls with their arguments, results."""
    for message in messages:
        if message.text:
            yield Part("result" if message.role == "tool" else message.role, message.text)
        for call in message.calls:
            yield Part("call", f"{call.name} {compact(call.arguments)}")
            yield from (Part("call", text) for text in _strings(call.arguments) if _ESCAPED.search(text))


def folded_parts(messages: tuple[Message, ...]) -> str:
    return PART_END.join(fold(part.text) for part in parts_of(messages))


def compact(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _clean_message(message: Message) -> Message:
    calls = tuple(
        ToolCall(clean_text(call.id), clean_text(call.name), _clean_value(call.arguments)) for call in message.calls
    )
    return Message(message.role, clean_text(message.text), calls, clean_text(message.call))


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | tuple):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key) if isinstance(key, str) else key: _clean_value(item) for key, item in value.items()}
    return value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)


def _message(value: Any) -> Message:
    said = _string(value, "role")
    role = next((one for one in ROLES if one == said), None)
    if role is None:
        raise ValueError(f"role is none of {', '.join(ROLES)}")
    calls = value.get("calls", [])
    if not isinstance(calls, list):
        raise ValueError("calls is no list")
    return Message(role, _string(value, "text"), tuple(map(_call, calls)), _string(value, "call", ""))


def _call(value: Any) -> ToolCall:
    return ToolCall(_string(value, "id"), _string(value, "name"), value.get("arguments"))


def _string(value: Any, name: str, default: str | None = None) -> str:
    found = value.get(name, default) if isinstance(value, dict) else None
    if not isinstance(found, str):
        raise ValueError(f"{name} is no string")
    return found


def _wrong(field: str, hint: str) -> HomeportError:
    return HomeportError("bad_argument", f"{field}: it cannot be kept", hint, {"field": field})
