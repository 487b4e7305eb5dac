"""Every error Homeport says: a stable code, a sentence, a hint, and the exit code that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
CHANGE_NEEDED: Final = 3
INTERRUPTED: Final = 130

# code -> (exit code, what it means). A test holds docs/errors.md and docs/schemas/error-codes.json to this table.
CODES: Final[Mapping[str, tuple[int, str]]] = {
    # The command line
    "usage_error": (USAGE, "An option or argument is missing, unknown or does not go with another."),
    "unknown_client": (USAGE, "No client of that name is known."),
    "bad_name": (USAGE, "The server's name breaks the portable rule or the client's own."),
    "level_unsupported": (USAGE, "The client has no file at that level."),
    "bad_scope": (USAGE, "A scope, mount or actor is not written in the grammar."),
    "bad_url": (USAGE, "The URL is not an http or https address."),
    "bad_snippet": (FAILED, "The pasted snippet holds no server that can be read."),
    # The client's place
    "client_not_installed": (FAILED, "The client's config home does not exist; Homeport never creates it."),
    "ambiguous_config": (FAILED, "Several places could be the one the client reads."),
    "client_owned_file": (FAILED, "The client's own program writes this file; --via says how to go on."),
    "client_running": (FAILED, "The client is running and would write its own copy back."),
    "client_command_failed": (FAILED, "The client's own command failed, timed out or did not do what it said."),
    "client_not_on_path": (FAILED, "The client's own program is not on PATH."),
    "home_unusable": (FAILED, "The home folder is missing, is the root folder, or belongs to somebody else."),
    # What stands in the file
    "malformed_file": (FAILED, "The file is not what its dialect allows."),
    "client_cannot_read": (FAILED, "The file holds what the client itself cannot read, so it ignores the whole file."),
    "unsupported_encoding": (FAILED, "The file is not UTF-8."),
    "wrong_shape": (FAILED, "A key on our path holds something other than an object or table."),
    "duplicate_key": (FAILED, "A key on our path occurs twice."),
    "missing_field": (FAILED, "The file lacks a field without which the client refuses it."),
    "file_too_large": (FAILED, "The file is larger than Homeport edits."),
    "edit_refused": (FAILED, "The edit could not be made with certainty; the fragment says what to paste."),
    "foreign_entry": (FAILED, "An entry under our name runs something else."),
    "layers_conflict": (FAILED, "The levels the client merges would give an entry it rejects."),
    # What the registration asks for
    "reference_unsupported": (FAILED, "The client cannot hold a variable's reference at that place."),
    "transport_unsupported": (FAILED, "The client cannot be given this transport in its file."),
    "field_unsupported": (FAILED, "The client's entry has no place for a field that was asked for."),
    "secret_literal": (FAILED, "A value that looks like a credential would be written into a file."),
    "interpreter_unstable": (FAILED, "The interpreter that would be written will not be there tomorrow."),
    # Writing
    "read_only": (FAILED, "The target or its folder cannot be written."),
    "unreadable_file": (FAILED, "The target cannot be read, or is not a regular file."),
    "ownership_lost": (FAILED, "The system does not let the new file keep owner, group or attributes."),
    "disk_full": (FAILED, "There is no room for the new file."),
    "file_in_use": (FAILED, "Another program holds the file open and Windows does not let it be replaced."),
    "file_busy": (FAILED, "The file kept changing, or another Homeport kept it locked."),
    "write_failed": (FAILED, "The system refused the write for another reason."),
    "all_or_nothing": (FAILED, "Nothing was written, because something else that it goes together with was refused."),
    "journal_damaged": (FAILED, "A journal record cannot be read."),
    "nothing_to_undo": (FAILED, "The journal holds no such operation, or it was undone already."),
    "undo_refused": (FAILED, "What the operation wrote is no longer there as it was."),
    # What became of another server's tools
    "tool_mcp_connection_failed": (FAILED, "An MCP server could not be connected."),
    "tool_names_clash": (FAILED, "Two servers have a tool of the same name."),
    "tool_failed": (FAILED, "The tool itself said that it failed."),
    "tool_refused": (FAILED, "The server refused the call with an error of the protocol."),
    "tool_timed_out": (FAILED, "The server did not answer the call in time."),
    "tool_disconnected": (FAILED, "The server was gone before it answered, or its block was left."),
    "tool_reply_unusable": (FAILED, "The answer breaks the protocol or the tool's own output schema."),
    # What the state server answers
    "bad_argument": (FAILED, "An argument of an operation is missing, unknown, of the wrong type or out of bounds."),
    "memory_path_invalid": (FAILED, "An address breaks the grammar, or leads where no document may lie."),
    "name_collision": (FAILED, "Another document's name differs only by case or by Unicode form."),
    "document_not_found": (FAILED, "No document, folder or mount has that address."),
    "document_exists": (FAILED, "The destination is taken."),
    "document_unreadable": (FAILED, "The file is not text in UTF-8, or cannot be read."),
    "document_too_large": (FAILED, "A document holds at most 1 MiB."),
    "version_conflict": (FAILED, "The document is no longer at the version the caller expected."),
    "version_not_found": (FAILED, "The document has no version of that number."),
    "text_not_kept": (FAILED, "The text of that version was redacted, or is not kept for another reason."),
    "text_in_use": (FAILED, "The text to be redacted is still what the document holds."),
    "import_incomplete": (FAILED, "Some of what was to be imported or exported was refused; each is named."),
    "skill_not_found": (FAILED, "No skill has that name, or the skill no such document."),
    "read_only_mount": (FAILED, "The mount can only be viewed."),
    "edit_only_mount": (FAILED, "On the mount existing documents can be changed, none made, removed or renamed."),
    "not_recursive": (FAILED, "A folder is deleted or renamed only when that is asked for."),
    "no_match": (FAILED, "The text to replace does not occur in the document."),
    "several_matches": (FAILED, "The text to replace occurs more than once."),
    "conversation_not_found": (FAILED, "No recorded conversation of that id can be seen from here."),
    "turn_not_found": (FAILED, "The conversation has no such turn, or the turn no such tool call."),
    "turn_too_large": (FAILED, "A recorded turn holds at most 32 MiB."),
    "home_busy": (FAILED, "Another process kept the document or the home's database locked for too long."),
    "store_damaged": (FAILED, "One of the home's databases is damaged."),
    "store_failed": (FAILED, "One of the home's databases could not be written."),
    "not_in_this_version": (USAGE, "The option names a part that this version of Homeport does not have."),
    "docs_missing": (FAILED, "This installation came without its documentation."),
    "interrupted": (INTERRUPTED, "A signal ended the command."),
    "internal_error": (FAILED, "A fault of Homeport's own."),
}


class HomeportError(Exception):
    """What went wrong, for a person and for a script.

    code: a key of CODES; it never changes its meaning.
    message: one sentence that names the file, flag or client. hint: what to do next. details: JSON values only.
    """

    def __init__(
        self, code: str, message: str, hint: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})

    @property
    def exit_code(self) -> int:
        return CODES[self.code][0]

    def in_file(self, path: object) -> HomeportError:
        """Give the same error with the file named in front, for an edit that saw bytes and no path.

        `line` and `column` of the details (from 1) become part of the sentence.
        """
        if "file" in self.details:
            return self
        place = str(path)
        if "line" in self.details:
            place += f", line {self.details['line']}"
        if "column" in self.details:
            place += f", column {self.details['column']}"
        return HomeportError(self.code, f"{place}: {self.message}", self.hint, {"file": str(path), **self.details})

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}
