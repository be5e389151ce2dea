# SPDX-License-Identifier: Apache-2.0
"""report.html and what it names beside it, joined into one page: styles and scripts inline, each
allowed by its hash in the page's Content-Security-Policy, and nothing else allowed at all. The page
becomes two C byte arrays, before and after the data (an array has no limit such as the 4095 bytes
of a string literal)."""

import base64
import hashlib
import json
import os
import re

import columns
import table

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = "@DATA@"
POLICY = "default-src 'none'"
STYLE = re.compile(r'<link rel="stylesheet" href="([a-z_]+\.css)">')
SCRIPT = re.compile(r'<script src="([a-z_]+\.js)"></script>')
# In a script: the columns of columns.ini, and which of them are percentiles.
COLUMNS = "@COLUMNS@"
PERCENTILES = "@PERCENTILES@"
TABLE = os.path.join(HERE, "columns.ini")
LIMIT = 150 * 1024  # what a report may weigh without its data


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except UnicodeDecodeError:
        raise table.TableError("%s: not ASCII" % path)


def shrink(path, text):
    """Without indentation, empty lines and lines that are a comment: safe where nothing in the text
    spans lines, so a script may not hold a template literal that does."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count("`") % 2:
            raise table.TableError("%s: line %d: a template literal over several lines"
                                   % (path, number))
    if path.endswith(".css"):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        kept = [line.strip() for line in text.splitlines()]
    else:
        kept = [line.strip() for line in text.splitlines() if not line.strip().startswith("//")]
    return "\n".join(line for line in kept if line) + "\n"


def inline(folder, name, hashes):
    path = os.path.join(folder, name)
    text = shrink(path, read(path))
    if COLUMNS in text:
        text = text.replace(COLUMNS, columns.for_page(TABLE))
    if PERCENTILES in text:
        text = text.replace(PERCENTILES, json.dumps([e.name for e in columns.percentiles(TABLE)]))
    for bad in ("</script", "</style", "<!--"):
        if bad in text.lower():
            raise table.TableError("%s: '%s' would end it or hide the rest" % (path, bad))
    digest = base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")
    hashes.append("'sha256-%s'" % digest)
    return text


def page(path):
    """The page with DATA where the data goes."""
    text = read(path)
    folder = os.path.dirname(path)
    for what in (DATA, POLICY):
        if text.count(what) != 1:
            raise table.TableError("%s: expected '%s' once" % (path, what))
    styles, scripts = [], []
    text = STYLE.sub(lambda m: "<style>%s</style>" % inline(folder, m.group(1), styles), text)
    text = SCRIPT.sub(lambda m: "<script>%s</script>" % inline(folder, m.group(1), scripts), text)
    for left in re.findall(r'<(?:link|script) [^>]*(?:href|src)=[^>]*>', text):
        raise table.TableError("%s: '%s' would not be in the page" % (path, left))
    policy = [POLICY]
    if styles:
        policy.append("style-src " + " ".join(styles))
    if scripts:
        policy.append("script-src " + " ".join(scripts))
    text = text.replace(POLICY, "; ".join(policy), 1)
    if text.count(DATA) != 1:
        raise table.TableError("%s: one of its files contains '%s'" % (path, DATA))
    if len(text) > LIMIT:
        raise table.TableError("%s: the page is %d bytes, the limit is %d"
                               % (path, len(text), LIMIT))
    return text


def c_array(name, text):
    data = text.encode("ascii")
    lines = [",".join(str(byte) for byte in data[i:i + 32]) for i in range(0, len(data), 32)]
    return "static const char %s[%d] = {\n%s};\n" % (name, len(data), ",\n".join(lines))


def render_c(path):
    before, after = page(path).split(DATA)
    return table.c_banner(path) + c_array("html_before", before) + c_array("html_after", after)


def render_page(path):
    return page(path)
