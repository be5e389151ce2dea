# SPDX-License-Identifier: Apache-2.0
"""options.ini: what shells complete after `stint`, for bash, zsh and fish."""

import re

import options
import table

FILES, PROGRAM, NONE = "files", "program", "none"
FILE_VALUES = ("FILE", "OUT")  # names of values that are paths
BANNER = "# SPDX-License-Identifier: Apache-2.0\n# %s\n"


def operands(commands, command):
    """FILES, PROGRAM, or the list of words that the command's arguments may be."""
    text = command.get("complete") or FILES
    if text in (FILES, PROGRAM):
        return text
    if text == NONE:
        return []
    return text.replace("{commands}", "|".join(other.name for other in commands[1:])).split("|")


def value_of(option):
    """None of a flag; FILES, or the list of the values, which may be empty."""
    if option.kind == "flag":
        return None
    if option.kind == "optional":
        return None
    if option.get("value") in FILE_VALUES:
        return FILES
    return option.values()


def spellings(option):
    letter = ["-" + option.get("letter")] if option.get("letter") else []
    return letter + ["--" + option.name]


def options_of(command):
    """[(spellings, value, a few words)], with --help, which every command has."""
    found = [(spellings(option), value_of(option), said(option)) for option in command.options]
    if "help" not in [option.name for option in command.options]:
        found.append((["--help"], None, "Prints the options of the command"))
    return found


def said(option):
    """The first sentence of what the option does that is not a list of values."""
    for sentence in re.split(r"(?<=[.])\s+|;\s+", option.get("doc")):
        if "{" not in sentence:
            return sentence.replace("`", "").rstrip(".")
        if ":" in sentence:
            return sentence.split(":")[0].replace("`", "")
    return option.get("value").lower()


def banner(path):
    return BANNER % (table.BANNER % path.rpartition("/")[2])


# ---- bash ----

BASH = r'''
# Prints the values that may follow an option: words, "@files", or "@flag" for one without a value;
# of an option that the command does not have, "@flag" as well.
_stint_value() { # COMMAND OPTION
    case "$1 $2" in
%(values)s    *) echo @flag ;;
    esac
}

_stint_options() { # COMMAND
    case $1 in
%(options)s    esac
}

_stint_operands() { # COMMAND
    case $1 in
%(operands)s    esac
}

# Sets COMPREPLY to those that begin with the word.
_stint_offer() { # WORD WHAT
    COMPREPLY=()
    case $2 in
    @files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$1")
        ;;
    @program) mapfile -t COMPREPLY < <(compgen -c -- "$1") ;;
    @*) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1") ;;
    esac
}

_stint() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' first=0 what i
    # bash splits "--to=csv" at the "=".
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        if [[ -z $command && ${COMP_WORDS[i]} != -* ]]; then
            command=${COMP_WORDS[i]}
            continue
        fi
        [[ -n $command && $(_stint_operands "$command") == @program ]] || continue
        # Where the program's own command line begins.
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            first=$((i + 1))
            break
        elif [[ ${COMP_WORDS[i]} != -* && ${COMP_WORDS[i]} != = && ${COMP_WORDS[i - 1]} != = ]]; then
            [[ $i -gt 2 && $(_stint_value "$command" "${COMP_WORDS[i - 1]}") != @flag ]] && continue
            first=$i
            break
        fi
    done
    if [[ -z $command ]]; then
        _stint_offer "$word" "%(commands)s $(_stint_options stint)"
        return
    fi
    if ((first > 0 && COMP_CWORD > first)); then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$first"
        else
            _stint_offer "$word" @files
        fi
        return
    fi
    what=$(_stint_value "$command" "$before")
    if ((first == COMP_CWORD)); then
        _stint_offer "$word" @program
    elif [[ $what != @flag && $before == -* ]]; then
        _stint_offer "$word" "$what"
    elif [[ $word == -* ]]; then
        _stint_offer "$word" "$(_stint_options "$command")"
    else
        _stint_offer "$word" "$(_stint_operands "$command")"
    fi
}

complete -F _stint stint
'''


def bash_words(what):
    return "@" + what if isinstance(what, str) else " ".join(what)


def bash_quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


def render_bash(path):
    commands = options.read(path)
    values, listed, after = [], [], []
    for command in commands:
        own = options_of(command)
        listed.append("    %s) echo %s ;;\n" % (command.name, bash_quoted(
            " ".join(names[-1] for names, _, _ in own))))
        after.append("    %s) echo %s ;;\n" % (command.name, bash_quoted(
            bash_words(operands(commands, command)))))
        for names, value, _ in own:
            if value is not None:
                values.append("    %s) echo %s ;;\n" % (
                    " | ".join('"%s %s"' % (command.name, name) for name in names),
                    bash_quoted(bash_words(value))))
    return banner(path) + BASH % {
        "values": "".join(values), "options": "".join(listed), "operands": "".join(after[1:]),
        "commands": " ".join(command.name for command in commands[1:])}


# ---- zsh ----

def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(what):
    if what == FILES:
        return "_files"
    if what == PROGRAM:
        return "_normal"
    return "(%s)" % " ".join(what) if what else " "


def zsh_option(names, value, text):
    last = "[%s]" % zsh_text(text)
    if value is not None:
        last += ":value:" + zsh_action(value)
    if len(names) == 1:
        return "'%s%s%s'" % (names[0], "=" if value is not None else "", last)
    long_name = names[1] + ("=" if value is not None else "")
    return "'(%s)'{%s,%s}'%s'" % (" ".join(names), names[0], long_name, last)


def zsh_arguments(commands, command):
    lines = [zsh_option(*option) for option in options_of(command)]
    what = operands(commands, command)
    if what == PROGRAM:
        lines.append("'(-)*::program:_normal'")
    elif what:
        lines.append("'*:%s:%s'" % ("file" if what == FILES else "argument", zsh_action(what)))
    return "            %s) _arguments -s %s ;;\n" % (
        command.name, " ".join("\\\n                " + line for line in lines))


ZSH = r'''
_stint() {
    local curcontext="$curcontext" state line
    local -a commands
    commands=(
%(commands)s    )
    _arguments -C %(options)s \
        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe -t commands 'stint command' commands ;;
        argument)
            curcontext="${curcontext%%:*:*}:stint-$words[1]:"
            case $words[1] in
%(arguments)s            esac ;;
    esac
}

if [[ $funcstack[1] == _stint ]]; then
    _stint "$@"
else # sourced, after compinit
    compdef _stint stint
fi
'''


def render_zsh(path):
    commands = options.read(path)
    return "#compdef stint\n" + banner(path) + ZSH % {
        "commands": "".join("        '%s:%s'\n" % (command.name, zsh_text(command.get("line")))
                            for command in commands[1:]),
        "options": " ".join("\\\n        " + zsh_option(*option)
                            for option in options_of(commands[0])),
        "arguments": "".join(zsh_arguments(commands, command) for command in commands[1:])}


# ---- fish ----

def fish_quoted(text):
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "\\'")


def fish_option(condition, names, value, text):
    line = "complete -c stint -n %s" % fish_quoted(condition)
    for name in names:
        line += " -l " + name[2:] if name.startswith("--") else " -s " + name[1:]
    if value == FILES:
        line += " -r -F"
    elif value is not None:
        line += " -x" + (" -a " + fish_quoted(" ".join(value)) if value else "")
    return "%s -d %s\n" % (line, fish_quoted(text))


def fish_operands(condition, what):
    line = "complete -c stint -n %s" % fish_quoted(condition)
    if what == FILES:
        return line + " -F\n"
    if what == PROGRAM:
        return line + " -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n"
    return line + " -x -a %s\n" % fish_quoted(" ".join(what)) if what else ""


def render_fish(path):
    commands = options.read(path)
    lines = [banner(path), "complete -c stint -f\n"]
    for command in commands[1:]:
        lines.append("complete -c stint -n __fish_use_subcommand -a %s -d %s\n" % (
            command.name, fish_quoted(command.get("line"))))
    for option in options_of(commands[0]):
        lines.append(fish_option("__fish_use_subcommand", *option))
    for command in commands[1:]:
        condition = "__fish_seen_subcommand_from " + command.name
        lines.append(fish_operands(condition, operands(commands, command)))
        lines += [fish_option(condition, *option) for option in options_of(command)]
    return "".join(lines)
