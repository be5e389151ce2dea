# SPDX-License-Identifier: Apache-2.0
"""Writes the parts of checked-in documents that are made of the tables beside this script.

    python3 gen/documents.py           writes them
    python3 gen/documents.py --check   names the documents that are not as the tables say; exit 1

A part begins with the line "<!-- gen: NAME -->" and ends with "<!-- gen: end -->", in other
languages with the same in a comment; docs/environment.md is generated as a whole, and the columns
in docs/stint.schema.json are its properties of a row.
"""

import argparse
import json
import os
import re
import sys

sys.dont_write_bytecode = True

import columns
import counters
import env
import formats
import interfaces
import records
import names
import options
import table
import words

GEN = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(GEN)

# name of a part -> what makes its text, of the folder with the tables
PARTS = {
    "columns": lambda folder: columns.render_markdown(os.path.join(folder, "columns.ini")),
    "counters": lambda folder: counters.render_markdown(os.path.join(folder, "counters.ini")),
    "formats": lambda folder: formats.render_markdown(os.path.join(folder, "formats.ini")),
    "interfaces": lambda folder: interfaces.render_markdown(os.path.join(folder, "interfaces.ini")),
    "members": lambda folder: columns.render_markdown_stat(os.path.join(folder, "columns.ini")),
    "measures": lambda folder: records.render_markdown(os.path.join(folder, "records.ini")),
    "names": lambda folder: names.render_markdown(os.path.join(folder, "names.ini")),
    "options": lambda folder: options.render_markdown(os.path.join(folder, "options.ini")),
    "stat": lambda folder: columns.render_stat_header(os.path.join(folder, "columns.ini")),
    "stat names": lambda folder: columns.render_stat_names(os.path.join(folder, "columns.ini")),
    "views": words.render_markdown_views,
    "form": words.render_markdown_form,
}
# In Markdown a part is between blank lines, in C and Python (/* gen: NAME */, # gen: NAME) it is
# not.
PART = re.compile(r"^(?P<head> *(?P<open><!--|/\*|#) gen: (?P<name>[a-z]+(?: [a-z]+)*)[^\n]*\n).*?"
                  r"(?P<end>^ *(?P=open) gen: end)", re.M | re.S)


def in_parts(path, text):
    def part(match):
        name = match.group("name")
        if name not in PARTS:
            raise table.TableError("%s: unknown part '%s' (%s)" % (path, name, "|".join(PARTS)))
        blank = "\n" if match.group("open") == "<!--" else ""
        return "".join((match.group("head"), blank, PARTS[name](GEN), blank, match.group("end")))
    return PART.sub(part, text)


def in_format(path, text):
    return records.into_format(beside("records.ini"), in_parts(path, text))


def in_schema(path, text):
    schema = json.loads(text)
    row = schema["$defs"]["row"]["properties"]
    columns.into_schema(row, beside("columns.ini"))
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def beside(name):
    return os.path.join(GEN, name)


DOCUMENTS = {
    "docs/counters.md": in_parts,
    "docs/exports.md": in_parts,
    "docs/format.md": in_format,
    "docs/environment.md": lambda path, text: env.render_markdown(beside("env.ini")),
    "docs/macros.md": in_parts,
    "docs/ranges.md": in_parts,
    "docs/reports.md": in_parts,
    "docs/stint.schema.json": in_schema,
    "docs/tool.md": in_parts,
    "include/stint/stint.h": in_parts,
    "packaging/python/stint/_library.py": in_parts,
    "include/stint/detail/impl_names.h": lambda path, text: names.render_header(
        beside("names.ini")),
}


def main(argv):
    parser = argparse.ArgumentParser(prog="documents.py", description="Documents from the tables.")
    parser.add_argument("--check", action="store_true", help="only compares")
    args = parser.parse_args(argv)
    differ = []
    try:
        for name, make in DOCUMENTS.items():
            path = os.path.join(ROOT, name)
            with open(path, encoding="utf-8") as file:
                old = file.read()
            new = make(path, old)
            if new == old:
                continue
            differ.append(name)
            if not args.check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
    except table.TableError as error:
        print(error, file=sys.stderr)
        return 1
    for name in differ:
        print("%s %s" % (name, "is not as the tables say" if args.check else "written"))
    if differ and args.check:
        print("run python3 gen/documents.py")
    return 1 if differ and args.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
