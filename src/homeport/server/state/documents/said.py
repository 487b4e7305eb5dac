"""What is said to the person on stderr: each damage once, however often it is met."""

from __future__ import annotations

import logging

from homeport.errors import HomeportError

_log = logging.getLogger(__name__)


class Said:
    """One for each server, or command. remarks: whether to say here what views show as well."""

    def __init__(self, *, remarks: bool = True) -> None:
        self._remarks = remarks
        self._said: set[str] = set()

    def remark(self, sentence: str) -> None:
        if self._remarks:
            self.say(sentence)

    def say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            _log.warning("%s", sentence)

    def say_error(self, error: HomeportError) -> None:
        """Once for each code: what keeps a database from being used meets every call."""
        if error.code not in self._said:
            self._said.add(error.code)
            _log.error("%s. %s", error.message, error.hint)
