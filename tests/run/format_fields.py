# SPDX-License-Identifier: Apache-2.0
"""Makes a list in C of what the tables of docs/format.md say, for format_test.c: WHOLE(record, bytes),
F(record, field, offset, size) and LOSS(index, key).

    format_fields.py DOCUMENT OUTPUT
"""
import pathlib
import re
import sys

RECORD = re.compile(r"([0-9][0-9 ]*) bytes[^`]*`struct (\w+)`[.;]")
FIELD = re.compile(r"\| (\d+) \| (\d+) \| (\w+) \|")
LOSS = re.compile(r"(?<=\| )(\d+) (\w+)(?= \|)")


def main(document, output):
    lines, record = [], ""
    for line in pathlib.Path(document).read_text(encoding="utf-8").splitlines():
        whole, field = RECORD.search(line), FIELD.match(line)
        if whole:
            record = whole[2]
            lines.append("WHOLE(%s, %s)" % (record, whole[1].replace(" ", "")))
        elif field:
            lines.append("F(%s, %s, %s, %s)" % (record, field[3], field[1], field[2]))
        else:
            lines += ["LOSS(%s, %s)" % loss for loss in LOSS.findall(line)]
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="ascii")


main(*sys.argv[1:])
