"""The completions of fish: a line for each subcommand and option, with the command after which it is offered."""

from __future__ import annotations

from completions.quoting import HEAD, quote
from kafkapy.command_node import Node, Option, walk

SCRIPT = """# {head}

set -g __kafkapy_paths {paths}

function __kafkapy_at
    set -l path kafkapy
    for word in (commandline -opc)[2..]
        if contains -- "$path $word" $__kafkapy_paths
            set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end

function __kafkapy_live
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    if string match -q -- '--*=*' "$current"
        set -a words (string split -m 1 = -- $current)[1]
        set current (string split -m 1 = -- $current)[2]
    end
    command $words[1] __complete fish $argv[1] $words[2..] "$current" 2>/dev/null </dev/null
end

function __kafkapy_files_of_a_list
    set -l current (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l listed (string match -r '.*,' -- $current)
    or return
    set -l found (string replace -r '.*,' '' -- $current)*
    if set -q found[1]
        string match -- "*$argv[1]" $listed(command ls -dp -- $found)
    end
end

complete -c kafkapy -f
{lines}
"""


def fish(root: Node) -> str:
    """The script."""
    nodes = list(walk(root))
    lines = [line for node in nodes for line in _lines(node)]
    return SCRIPT.format(
        head=HEAD, paths=" ".join(quote(" ".join(node.path)) for node in nodes[1:]), lines="\n".join(lines)
    )


def _lines(node: Node) -> list[str]:
    here = f"complete -c kafkapy -n {quote('__kafkapy_at ' + quote(' '.join(node.path)))}"
    children = [f"{here} -a {child.path[-1]} -d {quote(child.summary)}" for child in node.children]
    arguments = [f"{here}{_value(each)}" for each in node.arguments if each.value_kind or each.takes_files]
    return children + arguments + [f"{here} {_option(option)}" for option in node.options]


def _option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    return f"{names}{_value(option)} -d {quote(option.summary)}"


def _files(option: Option) -> str:
    if option.file_suffix:
        return f" -x -k -a '(__fish_complete_suffix {option.file_suffix})'"
    one = " -x -a '(__fish_complete_directories)'" if option.takes_directories else " -r -F"
    directories = " /" * option.takes_directories
    return one + (f" -a '(__kafkapy_files_of_a_list{directories})'" if option.is_list else "")


def _value(option: Option) -> str:
    """What the value of an option may be."""
    if option.choices:
        return f" -x -a {quote(' '.join(option.choices))}"
    if option.takes_files:
        return _files(option)
    if option.value_kind is not None and option.metavar is not None:
        files = "-r -F" if option.value_kind.or_file else "-x"
        return f" {files} -a {quote(f'(__kafkapy_live {quote(option.metavar)})')}"
    return "" if option.metavar is None else " -x"
