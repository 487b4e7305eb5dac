"""`homeport completion`: the script that makes a shell complete our options."""

from __future__ import annotations

import click

from homeport.cli import output
from homeport.cli.main import Invocation, homeport, usage_error
from homeport.errors import OK

SHELLS = ("bash", "zsh", "fish")
_WHERE = {
    "bash": 'add to ~/.bashrc:  eval "$(homeport completion bash)"',
    "zsh": 'add to ~/.zshrc:  eval "$(homeport completion zsh)"',
    "fish": "save as ~/.config/fish/completions/homeport.fish",
}


@click.command()
@click.argument("shell", required=False, type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_obj
def completion(invocation: Invocation, shell: str | None) -> int:
    """Print the completion script for SHELL, by default the shell this runs in.

    \b
    Examples:
      homeport completion
      homeport completion fish > ~/.config/fish/completions/homeport.fish
    """
    from click.shell_completion import get_completion_class

    name = shell or _found(invocation)
    made = get_completion_class(name)
    assert made is not None
    output.artifact(made(homeport, {}, "homeport", "_HOMEPORT_COMPLETE").source() + "\n")
    output.guidance(_WHERE[name])
    return OK


def _found(invocation: Invocation) -> str:
    name = invocation.environment.shell()
    if name not in SHELLS:
        raise usage_error(f"no completion for the shell '{name or 'unknown'}'", f"name one of {', '.join(SHELLS)}")
    return name
