# SPDX-License-Identifier: Apache-2.0
"""Lists the timers in the sources of a target as JSON; stint_catalog of CMake calls it.

    catalog.py --target NAME --clang CLANG --out FILE [--flags-c FILE] [--flags-cxx FILE]
               [--depfile FILE --depfile-target NAME] [--base FOLDER] [--sources FILE] [SOURCE...]

A timer is a static object, a site, that the macro defines: in the tree of clang a variable whose
name begins with stint_impl_site_, with all that is constant in its initialiser. It has a guard or is
the argument of a call, in one of the next statements; that tells what kind of timer it is, and its
set. Sources are read with timers on, whatever the target is compiled with.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import clang_ast
import compile_flags
from wrap import write_depfile, write_text

SITE = "stint_impl_site_"
HAS_SITE = re.compile(rb'"name": "stint_impl_site_\d')
# What is in the statement that uses the site, and what it is then; the first that matches.
KINDS = (
    ("interval", re.compile(rb'"stint_impl_handle_begin')),
    ("mark", re.compile(rb'"stint_impl_mark')),
    ("value", re.compile(rb'"stint_impl_value')),
    ("gpu", re.compile(rb'"stint_impl_gpu_scope_begin|stint_impl::scope_gpu')),
    ("scope", re.compile(rb'"stint_impl_begin|stint_impl::scope')),
)
SCOPES = ("scope", "gpu")
DYNAMIC = re.compile(rb'"stint_impl_begin_dynamic|stint_impl::from_name')
LANGUAGES = {".c": "C", ".cc": "CXX", ".cpp": "CXX", ".cxx": "CXX", ".c++": "CXX", ".C": "CXX"}
ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}


class CatalogError(Exception):
    """One line for the user."""


def literal_text(value):
    """The characters of a string literal as clang prints it."""
    data = bytearray()
    for octal, escape, other in re.findall(r"\\([0-7]{1,3})|\\(x[0-9A-Fa-f]+|.)|([^\\])",
                                           value[value.index('"') + 1:-1]):
        if octal:
            data.append(int(octal, 8) & 255)
        elif escape:
            data.append(int(escape[1:], 16) & 255 if escape[0] == "x" else
                        ESCAPES.get(escape, ord(escape) & 255))
        else:
            data += other.encode()
    return data.decode(errors="replace")


def first_of(node, kinds):
    if node.kind in kinds:
        return node
    return next(node.walk(kinds), None)


def number_in(node):
    """None for an expression that is not simply a number."""
    while node.kind in ("ImplicitCastExpr", "ParenExpr", "CStyleCastExpr", "ConstantExpr"):
        node = next(node.children())
    return int(node.head["value"]) if node.kind == "IntegerLiteral" else None


def text_in(node, function):
    """A literal, or __func__."""
    literal = first_of(node, {"PredefinedExpr", "StringLiteral"})
    if literal is None:
        return None
    if literal.kind == "PredefinedExpr":
        return function.name
    return literal_text(literal.head["value"])


# ---- The set of a timer.

def written_text(node):
    """The text of an expression in the user's source; None if a macro of stint has it."""
    begin, end = node.begin, node.end
    if begin is None or end is None:
        return None
    begin, end = begin.spelling or begin, end.spelling or end
    if begin.file != end.file or "/stint/" in begin.file or begin.file.startswith("<"):
        return None
    try:
        with open(begin.file, "rb") as file:
            text = file.read()[begin.offset:end.after]
    except OSError:
        return None
    return " ".join(text.decode(errors="replace").split()) or None


def set_of(statement):
    """The expression that names the set, as it is written; None is the default set."""
    calls = [call for call in statement.walk({"CallExpr"}) if call.contains("DeclRefExpr")]
    if statement.kind == "CallExpr":
        calls.append(statement)
    # The innermost: set_id(set) is an argument of begin(…).
    for call in reversed(sorted(calls, key=lambda c: c.start)):
        parts = [part for part in call.children() if part]
        if len(parts) == 2 and parts[0].matches(re.compile(rb'"stint_impl_set_id"')):
            return written_text(parts[1])
    construct = first_of(statement, {"CXXConstructExpr"})
    if construct is not None and not construct.matches(re.compile(rb"stint_impl::scope_gpu")):
        parts = [part for part in construct.children() if part]
        if len(parts) > 1:
            return written_text(parts[-1])
    return None


# ---- Sites.

class Site:
    def __init__(self, variable, function):
        parts = [part for part in variable.walk({"InitListExpr"})][0]
        fields = [field for field in parts.children()]
        self.variable = variable.head["name"]
        self.name = text_in(fields[0], function)
        self.file = text_in(fields[1], function) or ""
        self.line = number_in(fields[3])
        self.level = number_in(fields[4])
        self.role = number_in(fields[5])
        self.function = function.qualified
        self.kind = ""
        self.set = None
        self.inside = None  # a scope of the same name that is open here

    def use(self, statement):
        """The statement with the guard or the call; whether it tells the kind."""
        if DYNAMIC.search(statement.chunk.text, statement.start, statement.end_at):
            self.name = None
            self.kind = "scope"
        for kind, pattern in KINDS:
            if not self.kind and statement.matches(pattern):
                self.kind = kind
        if self.kind and statement.matches(re.compile(rb'"%s"' % self.variable.encode())):
            self.set = set_of(statement)
            return True
        return False

    def key(self):
        return (self.file, self.line, self.name or "", self.function, self.kind, self.set or "")

    def place(self):
        return "%s:%d" % (self.file, self.line)

    def as_dict(self):
        return {"name": self.name, "file": self.file, "line": self.line,
                "function": self.function, "set": self.set, "level": self.level,
                "role": self.role, "kind": self.kind}


class Reader:
    """The sites of one function body, by a walk in the order of the source."""

    def __init__(self, function):
        self.function = function
        self.sites = []
        self.seen = set()

    def read_block(self, block, opened):
        """opened: the scopes around it. Those of the block are open to its end."""
        opened = list(opened)
        waiting = []  # sites whose use follows
        for child in block.children():
            if child is None:
                continue
            found = self.own_sites(child)
            for site in waiting:
                if not site.kind or site.set is None:
                    site.use(child)
            for site in found:
                waiting.append(site)
                self.sites.append(site)
            if not found and child.matches(HAS_SITE):
                self.read_inside(child, opened)
            for site in list(waiting):
                if site.kind in SCOPES and site not in opened:
                    site.inside = next((o for o in reversed(opened) if site.name is not None
                                        and o.name == site.name and o.set == site.set), None)
                    opened.append(site)
            waiting = [site for site in waiting if not site.kind]

    def own_sites(self, statement):
        if statement.kind != "DeclStmt":
            return []
        found = []
        for variable in statement.children():
            if variable is None or variable.kind != "VarDecl":
                continue
            name = variable.head.get("name", "")
            if name.startswith(SITE) and name not in self.seen:
                self.seen.add(name)
                found.append(Site(variable, self.function))
        return found

    def read_inside(self, node, opened):
        if node.kind == "CompoundStmt":
            self.read_block(node, opened)
            return
        if node.kind == "LambdaExpr":
            opened = []  # called at another time
        for child in node.children():
            if child is None or not child.matches(HAS_SITE):
                continue
            if node.kind == "LambdaExpr" and child.kind == "CXXRecordDecl":
                continue  # the same body again
            self.read_inside(child, opened)


def read_source(clang, arguments):
    """The sites of one source and of the headers that it includes."""
    sites = []
    with clang_ast.dump(clang, arguments) as nodes:
        for node in nodes:
            if not node.matches(HAS_SITE):
                continue
            for function in clang_ast.functions(node):
                if function.body and function.body.matches(HAS_SITE):
                    reader = Reader(function)
                    reader.read_inside(function.body, [])
                    sites += reader.sites
    return sites


def read_dependencies(clang, arguments, source):
    """The files that clang reads for it."""
    done = subprocess.run([clang, "-M", "-w", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise CatalogError(clang_ast.first_error(done.stderr.decode(errors="replace")))
    text = done.stdout.decode(errors="surrogateescape").replace("\\\n", " ").split(":", 1)[1]
    words = re.findall(r"(?:\\.|\$\$|\S)+", text)
    return [source] + [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


# ---- The catalogue.

def find_duplicates(sites):
    places = {}
    for site in sites:
        if site.name is not None and site.kind in SCOPES + ("interval",):
            places.setdefault((site.name, site.set), []).append(site.place())
    return [{"name": name, "set": set_name, "at": sorted(set(at))}
            for (name, set_name), at in sorted(places.items(), key=lambda i: (i[0][0], str(i[0][1])))
            if len(at) > 1]


def make_catalog(target, sites, not_read):
    unique = {site.key(): site for site in sites}
    sites = [unique[key] for key in sorted(unique)]
    shadowed = [{"name": site.name, "file": site.file, "line": site.line,
                 "function": site.function, "inside": site.inside.place()}
                for site in sites if site.inside]
    dynamic = [{"file": site.file, "line": site.line, "function": site.function}
               for site in sites if site.name is None]
    return {"schema": "stint.catalog/1", "target": target,
            "sites": [site.as_dict() for site in sites], "duplicates": find_duplicates(sites),
            "not_literal": dynamic, "shadowed": shadowed, "not_read": not_read}


def render_catalog(catalog):
    """JSON with one site per line."""
    lines = []
    for key, value in catalog.items():
        if isinstance(value, list) and value:
            items = ",\n".join(" " + json.dumps(item, ensure_ascii=False) for item in value)
            lines.append("%s: [\n%s]" % (json.dumps(key), items))
        else:
            lines.append("%s: %s" % (json.dumps(key), json.dumps(value, ensure_ascii=False)))
    return "{%s}\n" % ",\n".join(lines)


def print_findings(catalog, out):
    print("stint_catalog: %s: %d sites (%s)" % (catalog["target"], len(catalog["sites"]), out))
    for item in catalog["shadowed"]:
        print("%s:%d: shadowed: '%s' is opened inside itself, which began at %s"
              % (item["file"], item["line"], item["name"], item["inside"]))
    for item in catalog["duplicates"]:
        print("%s: duplicate: '%s' is one row for %d places: %s"
              % (item["at"][0], item["name"], len(item["at"]), ", ".join(item["at"])))
    for item in catalog["not_literal"]:
        print("%s:%d: not a literal: the name is made at run time" % (item["file"], item["line"]))
    for path in catalog["not_read"]:
        print("%s: not read: only C and C++ are" % path)


def source_flags(args, language):
    path = args.flags_c if language == "C" else args.flags_cxx
    flags = compile_flags.read_flags(path, language) if path else []
    kept = [flag for flag in flags if not re.match(r"-[DU]WITH_TIMER(=|$)", flag)]
    return ["-x", "c++" if language == "CXX" else "c", *kept, "-DWITH_TIMER=1"]


def list_sources(args):
    """Absolute paths, because the run names them as the compiler was given them; those of other
    languages apart. Headers and whatever else a target may list are no sources."""
    words = list(args.source)
    if args.sources:
        with open(args.sources, encoding="utf-8") as file:
            words += [line for line in file.read().splitlines() if line]
    sources = list(dict.fromkeys(os.path.join(args.base, word) for word in words))
    read = [source for source in sources if os.path.splitext(source)[1] in LANGUAGES]
    return read, [source for source in sources if source.endswith(".cu")]


def read_one(args, clang, source):
    """(its sites, the files that it includes)"""
    arguments = [*source_flags(args, LANGUAGES[os.path.splitext(source)[1]]), source]
    return read_source(clang, arguments), read_dependencies(clang, arguments, source)


def generate(args):
    clang = args.clang or clang_ast.find_clang()
    sources, not_read = list_sources(args)
    sites, files = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, included in pool.map(lambda source: read_one(args, clang, source), sources):
            sites += found
            files += included
    catalog = make_catalog(args.target, sites, not_read)
    write_text(args.out, render_catalog(catalog))
    if args.depfile:
        write_depfile(args.depfile, args.depfile_target or args.out, dict.fromkeys(files))
    print_findings(catalog, args.out)


def main(argv):
    parser = argparse.ArgumentParser(prog="catalog.py", description=__doc__.split("\n", 1)[0])
    for name in ("target", "out"):
        parser.add_argument("--" + name, required=True)
    for name in ("clang", "flags-c", "flags-cxx", "depfile", "depfile-target", "base", "sources"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("source", nargs="*")
    args = parser.parse_args(argv)
    try:
        generate(args)
    except (CatalogError, clang_ast.AstError) as error:
        print("stint_catalog: %s" % error, file=sys.stderr)
        return 1
    except OSError as error:
        print("stint_catalog: %s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
