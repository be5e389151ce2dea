#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Posts the lines that `stint export --to otlp --follow 10s -o FILE` appends to a receiver of OTLP
# over HTTP, in their order, until it is ended. A line is sent again until the receiver has taken
# it; the file POSITION remembers how far that is. A file that logrotate has renamed is sent to its
# end, where `tail -F` may miss the last lines: FILE.1, FILE-20300131, but not a compressed one.
#
# usage: send.sh FILE URL POSITION
set -u
LC_ALL=C # a character is a byte
file=$1 url=$2 position=$3

post() { # the line is on stdin
    answer=$(curl -sS --retry 5 --retry-connrefused --max-time 60 -w ' %{http_code}' \
        -H 'Content-Type: application/json' --data-binary @- "$url" | tr -d '\000\n')
    case ${answer##* } in
    2??) ;;
    400 | 413) echo "send.sh: $url refuses a line for good: $answer" >&2 ;;
    *) echo "send.sh: $url answers$answer; the line is sent again" >&2 && return 1 ;;
    esac
}

# A file is known by its first line, whatever its name is.
first_line() {
    head -n 1 "$1" | cksum | tr ' ' -
}

# The files, the oldest first; of a copy and its original one.
list() {
    ls -1tr "$file" "$file"[-.]*[0-9] 2>/dev/null | while read -r name; do
        [ ! -s "$name" ] || echo "$(first_line "$name") $name"
    done | awk '!seen[$1]++'
}

send() ( # ID OFFSET NAME: the whole lines from there on
    exec 3<"$3"
    [ "$(first_line /dev/fd/3)" = "$1" ] || exit 1 # it was renamed just now
    at=$2
    tail -c "+$((at + 1))" /dev/fd/3 | while IFS= read -r line; do
        printf '%s' "$line" | post || exit 1
        at=$((at + ${#line} + 1))
        until echo "$1 $at" >"$position.new" && mv "$position.new" "$position"; do sleep 1; done
    done
)

while sleep 1; do
    id=none at=0
    [ ! -e "$position" ] || read -r id at <"$position"
    files=$(list)
    case $files in
    *"$id "*) files="$id ${files#*"$id "}" ;;
    *) at=0 ;; # nothing was sent, or that file is gone: the others have yet to be sent
    esac
    [ -z "$files" ] || echo "$files" | while read -r id name && send "$id" "$at" "$name"; do
        at=0
    done
done
