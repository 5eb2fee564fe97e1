"""The completions of zsh: a function for each command, over _arguments."""

from __future__ import annotations

from completions.quoting import HEAD, quote
from kafkapy.command_node import Node, Option, walk

SCRIPT = """#compdef kafkapy
# {head}

_kafkapy_live() {{
    local -a values
    local found=$compstate[nmatches]
    values=("${{(@f)$("$kafkapy_program" __complete zsh "$1" "${{kafkapy_typed[@]}}" "${{(Q)PREFIX}}" \\
        2>/dev/null </dev/null)}}")
    values=(${{values:#}})
    compadd -S '' -- ${{(M)values:#*[=:@/\[]}}
    compadd -- ${{values:#*[=:@/\[]}}
    if [[ $2 == or_file ]]; then
        _files
    fi
    (( compstate[nmatches] > found ))
}}

{functions}
_kafkapy "$@"
"""
PROGRAM = """
    local kafkapy_program=${(Q)words[1]}
    kafkapy_program=${kafkapy_program/#\\~\\//$HOME/}
    local -a kafkapy_typed=("${(@Q)words[2,CURRENT-1]}")"""
"""What the function of all knows and those of single commands ask: the program as it was typed, and all words before
the one that is being typed. Within a command, zsh has only its own."""


def zsh(root: Node) -> str:
    """The script."""
    return SCRIPT.format(head=HEAD, functions="\n".join(_group(n) if n.children else _command(n) for n in walk(root)))


def _command(node: Node) -> str:
    """The function of a command that has no subcommands."""
    specifications = [*_options(node), *map(_argument, node.arguments)]
    lines = " \\\n".join(f"        {quote(each)}" for each in specifications)
    return f"{_name(node)}() {{\n    _arguments -s \\\n{lines}\n}}\n"


def _group(node: Node) -> str:
    """The function of a command with subcommands."""
    described = "\n".join(f"        {quote(f'{n.path[-1]}:{n.summary}')}" for n in node.children)
    cases = "\n".join(f"        {child.path[-1]}) {_name(child)} ;;" for child in node.children)
    options = " \\\n".join(f"        {quote(each)}" for each in _options(node))
    program = "" if len(node.path) > 1 else PROGRAM
    return f"""{_name(node)}() {{{program}
    local -a commands=(
{described}
    )
    local curcontext="$curcontext" state line
    _arguments -C \\
{options} \\
        '1:command:->command' \\
        '*::argument:->argument'
    case $state in
    command) _describe command commands ;;
    argument)
        case $line[1] in
{cases}
        esac
        ;;
    esac
}}
"""


def _name(node: Node) -> str:
    """The name of a command's function."""
    return "_" + "_".join(node.path).replace("-", "_")


def _options(node: Node) -> list[str]:
    """The specifications that _arguments takes."""
    return [_option(option, name) for option in node.options for name in option.names]


def _option(option: Option, name: str) -> str:
    """One option as _arguments takes it: ``[*]--name[=][help][:what:action]``."""
    text = option.summary
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    if option.metavar is None:
        return f"{name}[{text}]"
    optional = ":" if option.is_optional else ""
    return f"{'*' if option.repeatable else ''}{name}=[{text}]:{optional}{name.lstrip('-')}:{_action(option)}"


def _argument(argument: Option) -> str:
    return f"*:{argument.names[0]}:{_action(argument)}"


def _action(option: Option) -> str:
    """What completes a value; a blank offers nothing."""
    if option.choices:
        return f"({' '.join(option.choices)})"
    if option.takes_files:
        suffix = f' -g "*{option.file_suffix}"' if option.file_suffix else ""
        files = "_path_files -/" if option.takes_directories else f"_files{suffix}"
        return f"{'_sequence ' * option.is_list}{files}"
    if option.value_kind is not None and option.metavar is not None:
        words = f" _kafkapy_live {quote(option.metavar)}{' or_file' if option.value_kind.or_file else ''}"
        return words.replace(":", "\\:")
    return " "
