"""Made turns for the bench of the history: prose of a Zipf vocabulary, tool calls, results; the same every time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from homeport.server.state.history.turns import Conversation, Message, ToolCall, Turn

USER: Final = "user:bench"
STEP_US: Final = 40_000_000  # a turn every 40 seconds: a million of them are fifteen months without a pause
START_US: Final = 1_800_000_000_000_000
_FEWEST_PER_CONVERSATION: Final = 40
_SYLLABLES: Final = [a + b + c for a in "bcdfghlmnprst" for b in "aeiou" for c in ("", "n", "r", "st")]


class Vocabulary:
    def __init__(self, seed: int = 7, words: int = 30_000) -> None:
        self.random = random.Random(seed)
        made = {"".join(self.random.choices(_SYLLABLES, k=self.random.choice((1, 2, 2, 3)))) for _ in range(2 * words)}
        self.words = sorted(made)[:words]
        self.random.shuffle(self.words)
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(len(self.words))))

    def prose(self, count: int) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self._weights, k=count))


def made_turns(count: int) -> Iterator[tuple[Conversation, Turn]]:
    """About 700 characters each, in at most a thousand conversations.

    Turn `count // 2` alone holds `needle-in-the-middle`, every thousandth `quarterly report`."""
    vocabulary = Vocabulary()
    turns = max(_FEWEST_PER_CONVERSATION, count // 1000)
    for number in range(count):
        group = number // turns
        conversation = Conversation(f"c{group}", USER, f"{USER}/proj:p{group % 20}", "claude-code")
        yield conversation, _turn(vocabulary, number, count)


def _turn(vocabulary: Vocabulary, number: int, count: int) -> Turn:
    special = " needle-in-the-middle" if number == count // 2 else " quarterly report" if number % 1000 == 0 else ""
    path = f"src/{'/'.join(vocabulary.random.choices(vocabulary.words, k=2))}.py"
    messages = (
        Message("user", vocabulary.prose(20) + special),
        Message("assistant", vocabulary.prose(15), (ToolCall(f"t{number}", "Read", {"path": path}),)),
        Message("tool", vocabulary.prose(45), call=f"t{number}"),
        Message("assistant", vocabulary.prose(25)),
    )
    return Turn(f"k{number}", START_US + number * STEP_US, "hook:claude-code", messages)
