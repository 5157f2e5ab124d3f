"""`docs/options.md`, written from the command line itself: `python tools/options_page.py > docs/options.md`."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import typer

from isoform.cli.verbs import VERBS, application

HEAD = """# Commands and options

Written from the command line by `python tools/options_page.py`; `isoform COMMAND --help` says the same. Every command
also has `-h` and `--help`. What the words mean is in the [glossary](glossary.md), what an answer means in
[verdicts](verdicts.md), and what isoform says when it cannot go on in [messages](messages.md).
"""


def page() -> str:
    group: Any = typer.main.get_command(application(*VERBS))
    parts = [HEAD, *(_command(name, command) for name, command in group.commands.items())]
    return "\n".join(parts)


def _command(name: str, command: Any) -> str:
    words = [_shown_name(parameter) for parameter in command.params if not _is_option(parameter)]
    lines = [f"## isoform {name}", "", "```", " ".join(["isoform", name, *words, "[OPTIONS]"]), "```", ""]
    lines += [command.help.strip(), ""]
    rows = [row for parameter in command.params for row in _row(parameter)]
    return "\n".join([*lines, "| option | default | meaning |", "|---|---|---|", *rows, ""])


def _row(parameter: Any) -> Iterator[str]:
    if getattr(parameter, "hidden", False):
        return
    if _is_option(parameter):
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        shown = f"{names} {_value(parameter)}".strip()
    else:
        shown = f"`{_shown_name(parameter)}`"
    cells = (shown, _default(parameter), getattr(parameter, "help", None) or "")
    yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _shown_name(parameter: Any) -> str:
    name = str(parameter.metavar or parameter.name.upper())
    repeated = f"{name}…" if parameter.nargs == -1 else name
    return repeated if parameter.required else f"[{repeated}]"


def _value(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        return ""
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return " or ".join(f"`{_word(choice)}`" for choice in choices)
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or value == () or value == [] or not _is_option(parameter):
        return ""
    return f"`{_word(value)}`"

    return (
        str(value.value) if isinstance(value, enum.Enum) else f"{value:g}" if isinstance(value, float) else str(value)
    )


def _word(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    print(page(), end="")
