"""The completions of bash, without bash-completion's helpers, for they may be missing.

Bash cuts the words of a line at ``:``, ``=`` and ``@``, which stand inside of kafkapy's values. The script puts them
together again, and takes what stands before the last cut off from what it offers, since bash keeps that.
"""

from __future__ import annotations

from completions.quoting import HEAD, quote
from kafkapy.command_node import Node, Option, walk

SCRIPT = """# {head}

_kafkapy_files() {{
    local before="" file=$cur
    if [[ $cur == *,* ]]; then
        before="${{cur%,*}},"
        file="${{cur##*,}}"
        compopt -o nospace
    else
        compopt -o filenames
    fi
    if [[ $1 == / ]]; then
        mapfile -t COMPREPLY < <(compgen -d -P "$before" -- "$file")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -X "!*$1" -P "$before" -- "$file")
    if [[ ${{#COMPREPLY[@]}} == 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -P "$before" -- "$file")
    elif [[ $1 ]]; then
        mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -d -P "$before" -- "$file")
    fi
}}

_kafkapy_live() {{
    mapfile -t COMPREPLY < <("${{typed[0]/#\\~/$HOME}}" __complete bash "$1" "${{typed[@]:1}}" 2>/dev/null </dev/null)
    if [[ ${{#COMPREPLY[@]}} == 0 && $2 == or_file ]]; then
        _kafkapy_files
    fi
    if [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *[=:@/[] ]]; then
        compopt -o nospace
    fi
}}

_kafkapy_cut() {{
    local kept=$cur
    if [[ $cur == [\\"\\']* ]]; then
        return
    fi
    if [[ $COMP_WORDBREAKS == *:* ]]; then
        kept=${{kept##*:}}
    fi
    if [[ $COMP_WORDBREAKS == *=* ]]; then
        kept=${{kept##*=}}
    fi
    if [[ $COMP_WORDBREAKS == *@* ]]; then
        kept=${{kept##*@}}
    fi
    local cut=${{cur%"$kept"}}
    COMPREPLY=("${{COMPREPLY[@]#"$cut"}}")
}}

_kafkapy() {{
    local cur prev word rest line=${{COMP_LINE:0:COMP_POINT}} path=kafkapy
    local -a typed=()
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:0:COMP_CWORD+1}}"; do
        rest=${{line#"${{line%%[![:space:]]*}}"}}
        if (( ${{#word}} > ${{#rest}} )); then
            word=$rest
        fi
        if (( ${{#typed[@]}} )) && [[ $rest == "$line" ]]; then
            typed[-1]+=$word
        else
            typed+=("$word")
        fi
        line=${{rest#"$word"}}
    done
    cur=${{typed[-1]}}
    if [[ $cur == --*=* ]]; then
        typed[-1]=${{cur%%=*}}
        cur=${{cur#*=}}
        typed+=("$cur")
    fi
    prev=${{typed[-2]}}
    for word in "${{typed[@]:1:${{#typed[@]}}-2}}"; do
        case "$path $word" in
            {paths}) path="$path $word" ;;
        esac
    done
    case "$path $prev" in
{values}
    esac
    if [[ $cur != -* ]]; then
        case "$path" in
{arguments}
        esac
    fi
    case "$path" in
{words}
    esac
}}

complete -F _kafkapy kafkapy
"""


def bash(root: Node) -> str:
    """The script."""
    nodes = list(walk(root))
    words = [
        f"        {quote(' '.join(node.path))}) mapfile -t COMPREPLY < <(compgen -W {quote(' '.join(_words(node)))}"
        ' -- "$cur") ;;'
        for node in nodes
    ]
    return SCRIPT.format(
        head=HEAD,
        paths="|".join(quote(" ".join(node.path)) for node in nodes[1:]),
        values="\n".join(line for node in nodes for line in _values(node)),
        arguments="\n".join(line for node in nodes for line in _arguments(node)),
        words="\n".join(words),
    )


def _words(node: Node) -> list[str]:
    """What may stand next after a command: subcommands and options."""
    return [child.path[-1] for child in node.children] + [name for option in node.options for name in option.names]


def _values(node: Node) -> list[str]:
    """A case for each way to complete an option's value; where that may be left out, an option may stand there, too."""
    cases: dict[tuple[str, bool], list[str]] = {}
    for option in node.options:
        action = _action(option)
        if option.metavar is not None and (action != ":" or not option.is_optional):
            patterns = [quote(" ".join((*node.path, name))) for name in option.names]
            cases.setdefault((action, option.is_optional), []).extend(patterns)
    return [
        f"        {'|'.join(patterns)}) "
        + (f"if [[ $cur != -* ]]; then {action}; _kafkapy_cut; return; fi ;;" if is_optional else _case(action))
        for (action, is_optional), patterns in cases.items()
    ]


def _arguments(node: Node) -> list[str]:
    actions = [action for action in map(_action, node.arguments) if action != ":"]
    return [f"            {quote(' '.join(node.path))}) {_case(action)}" for action in actions]


def _case(action: str) -> str:
    return "return ;;" if action == ":" else f"{action}; _kafkapy_cut; return ;;"


def _action(option: Option) -> str:
    """What completes the value of an option; ``:`` offers nothing."""
    if option.takes_files:
        return f"_kafkapy_files {'/' if option.takes_directories else option.file_suffix}".rstrip()
    if option.choices:
        return f'mapfile -t COMPREPLY < <(compgen -W {quote(" ".join(option.choices))} -- "$cur")'
    if option.value_kind is not None and option.metavar is not None:
        return f"_kafkapy_live {quote(option.metavar)}{' or_file' if option.value_kind.or_file else ''}"
    return ":"
