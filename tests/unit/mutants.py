#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the inline path of a scope in one place at a time: a unit test must fail each time.

    mutants.py --cc CC --source DIR --generated DIR --library FILE --folder DIR

Each mutant is a copy of include/ with one text replaced. A test program that compiles the inline
path is built with it and linked with the unchanged runtime.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

RECORD = "stint/detail/impl_record.h"
LAYOUT = "stint/detail/impl_layout.h"
PARENTS = ("tree_test.c", "tree.a_scope_below*")
SETS = ("set_test.c", "set.*")
SIGNAL = ("signal_test.c", "signal.other*")
TRACED = ("signal_test.c", "signal.at_every_instruction_of_traced*")
RING = ("ring_test.c", "ring.every_event*")
GUARD = ("guard_rule_test.c", "guard_rule*")
REGISTRY = ("registry_test.c", "registry.threads_without*")
RECURSION = ("recursion_test.c", "recursion.*")
TRACE = ("trace_test.c", "trace.every_call*")

OTHER_KEY = "if (STINT_IMPL_UNLIKELY(e->key != stint_impl_scope_key(set, id))) {"
COUNTED = "    stint_impl_owner_count(&n->recursions);\n"
RAISED = "    stint_impl_owner_raise(&f[-1].nested, STINT_IMPL_OWN(&f->nested));\n"
INNER = "    stint_impl_owner_raise(&inner->ticks,"
CLAIMED = "    stint_impl_frame_take(t);\n"
FILLED = "    stint_impl_frame_fill(f, node, low, me, start);\n"

# name, header, text, replacement, (test program, cases)
MUTANTS = [
    ("none, in a signal handler", RECORD, "", "", SIGNAL),
    ("none, with guards left open", RECORD, "", "", GUARD),
    ("an edge of another site", RECORD,
     OTHER_KEY, "if (0) {", SIGNAL),
    ("an edge of another parent", RECORD,
     "if (STINT_IMPL_UNLIKELY(e->parent != STINT_IMPL_OWN(&f->node))) {", "if (0) {", SIGNAL),
    ("an edge of another parent, searched", RECORD, "e->key == key && e->parent == parent",
     "e->key == key", PARENTS),
    ("an edge of another set", RECORD, OTHER_KEY,
     "if ((uint32_t)e->key != (uint32_t)stint_impl_scope_key(set, id)) {", SETS),
    ("a frame is filled before it is claimed", RECORD, CLAIMED + FILLED, FILLED + CLAIMED, SIGNAL),
    ("a bucket is read, then written", LAYOUT,
     "    __asm__ volatile(\"cmpl %1, %0\\n\\tadcl $0, %0\"\n"
     "                     : \"+m\"(*bucket)\n"
     "                     : \"i\"((int)STINT_IMPL_BUCKET_FULL)\n"
     "                     : \"cc\");\n",
     "    uint32_t have = STINT_IMPL_LOAD(bucket);\n"
     "    __asm__ volatile(\"\" : \"+r\"(have));\n"
     "    STINT_IMPL_STORE(bucket, have + 1);\n", SIGNAL),
    ("none, with a trace", LAYOUT, "", "", TRACED),
    ("a place of the ring is read, then taken", LAYOUT,
     "    __asm__ volatile(\"xaddq %0, %1\" : \"+r\"(more), \"+m\"(*number) : : \"memory\", \"cc\");\n"
     "    return more;\n",
     "    uint64_t is = STINT_IMPL_LOAD(number);\n"
     "    __asm__ volatile(\"\" : \"+r\"(is));\n"
     "    STINT_IMPL_STORE(number, is + more);\n"
     "    return is;\n", TRACED),
    ("none, in a ring", LAYOUT, "", "", RING),
    ("an event is replaced while its start is there", LAYOUT,
     "    STINT_IMPL_STORE(&e->at, 0);\n", "", RING),
    ("an event has its start before the rest", LAYOUT,
     "    STINT_IMPL_PUBLISH(&e->what, what);\n    STINT_IMPL_PUBLISH(&e->at, at);\n",
     "    STINT_IMPL_PUBLISH(&e->at, at);\n    STINT_IMPL_PUBLISH(&e->what, what);\n", RING),
    ("none, with recursion", RECORD, "", "", RECURSION),
    ("a total is read, then written", LAYOUT,
     "    __asm__ volatile(\"addq %1, %0\" : \"+m\"(*number) : \"er\"(more) : \"memory\", \"cc\");\n",
     "    *number = more;\n", SIGNAL),
    ("a call of itself where a guard was left open", RECORD,
     "!STINT_IMPL_OWN(&f->recursive) && me < STINT_IMPL_SEEN(&f->low)) {",
     "!STINT_IMPL_OWN(&f->recursive)) {", RECURSION),
    ("a call of itself without a frame", RECORD,
     "if (STINT_IMPL_UNLIKELY(f == t->last) || (set", "if ((set", RECURSION),
    ("a call of itself is not counted", RECORD, COUNTED + RAISED, RAISED, RECURSION),
    ("a call of another scope of the frame's node", RECORD,
     "    if (e->node == STINT_IMPL_OWN(&f->node)) {", "    if (1) {", RECURSION),
    ("a call of itself inside another scope", RECORD,
     "!STINT_IMPL_OWN(&f->recursive) && me < STINT_IMPL_SEEN(&f->low)) {",
     "me < STINT_IMPL_SEEN(&f->low)) {", RECURSION),
    ("an inner call in another place", RECORD,
     " || e->parent != STINT_IMPL_OWN(&f->node)) {\n            return 0;",
     ") {\n            return 0;", RECURSION),
    ("an inner call of another scope", RECORD,
     "        if (e->key != stint_impl_scope_key(set, id) || e->parent", "        if (e->parent",
     RECURSION),
    ("an inner call right inside another one", RECORD,
     "if (e->node == STINT_IMPL_OWN(&f->recursive) || me", "if (me", RECURSION),
    ("an inner call right inside another one, not tried first", RECORD,
     "    if (outer == STINT_IMPL_OWN(&f->recursive)) {", "    if (0) {", RECURSION),
    ("an inner call where a guard was left open", RECORD,
     "(&f->recursive) || me >= STINT_IMPL_SEEN(&f->low)) {", "(&f->recursive)) {", RECURSION),
    ("an inner call in another place, not tried first", RECORD,
     "if (e->parent != node || e->key", "if (e->key", RECURSION),
    ("an inner call of another scope, not tried first", RECORD,
     "if (e->parent != node || e->key != stint_impl_scope_key(set, id)) {",
     "if (e->parent != node) {", RECURSION),
    ("a higher guard is the lowest one", RECORD,
     "        return 0;\n"
     "    } else { /* stint_impl_open_near looked at this edge only where the guard is lower */\n",
     "        return 0;\n    } else {\n        low = me;\n", GUARD),
    ("an inner call is not counted", RECORD, COUNTED + INNER, INNER, RECURSION),
    ("an inner call has the time of the calls in it, too", RECORD,
     "ticks - STINT_IMPL_OWN(&f->nested));", "ticks);", RECURSION),
    ("an inner call's time is not inside the scope around", RECORD,
     "    stint_impl_owner_raise(&f[-1].nested, ticks);\n    stint_impl_frame_close(f);\n",
     "    stint_impl_frame_close(f);\n", RECURSION),
    ("an inner call's time in any block of numbers", RECORD,
     "inner->first != STINT_IMPL_INNER_TICKS || ", "", RECURSION),
    ("an inner call while the clock steps back", RECORD, " || (int64_t)ticks < 0) {", ") {",
     RECURSION),
    ("the time in a call of itself is lost", RECORD, RAISED, "", RECURSION),
    ("a call of itself, with a trace", RECORD,
     "(&f->start) || t->trace_min != ~(uint64_t)0 ||", "(&f->start) ||", TRACE),
    ("an inner call, with a trace", RECORD,
     "me != start || t->trace_min != ~(uint64_t)0 ||", "me != start ||", TRACE),
    ("a call of itself, with a threshold", RECORD,
     "(&f->start) || t->trace_min != ~(uint64_t)0 ||\n        (call && call->threshold_us >= 0)",
     "(&f->start) || t->trace_min != ~(uint64_t)0", RECURSION),
    ("an inner call, with a threshold", RECORD,
     "start || t->trace_min != ~(uint64_t)0 ||\n        (call && call->threshold_us >= 0)",
     "start || t->trace_min != ~(uint64_t)0", RECURSION),
    ("none, with gates", RECORD, "", "", REGISTRY),
    ("a word of another gate", RECORD, "if (looked.is_off || looked.id > STINT_IMPL_SITE_ID ||",
     "if (looked.is_off ||",
     REGISTRY),
    ("a word of another gate, near", RECORD, OTHER_KEY,
     "if ((uint32_t)e->key != (uint32_t)stint_impl_scope_key(set, id)) {", REGISTRY),
    ("the bucket of the scope before is forgotten", RECORD,
     "    stint_impl_pending_add(t, f);\n", "", SIGNAL),
    ("no search for a guard left open", RECORD, "else if (stint_impl_guard_is_open(f, me))",
     "else if (0)",
     GUARD),
    ("a guard left open, near", RECORD,
     "if (STINT_IMPL_UNLIKELY(me >= STINT_IMPL_SEEN(&f->low)))", "if (0)", GUARD),
]

def mutate(text, name, old, new):
    if not old:
        return text
    if text.count(old) != 1:
        sys.exit("mutants: %s: found %d times: %r" % (name, text.count(old), old))
    return text.replace(old, new)


def build(options, include, program, to):
    source = pathlib.Path(options.source)
    folders = [include, source / "tests", source / "tests/fake", source / "runtime",
               pathlib.Path(options.generated)]
    subprocess.run(
        [options.cc, "-O2", "-std=gnu11", "-pthread", "-DSTINT_IMPL_FAKE_CLOCK", "-DWITH_TIMER=1",
         "-DWITH_PROFILER=1", "-D_GNU_SOURCE=1"] + ["-I%s" % f for f in folders] +
        [str(source / "tests/unit" / program), str(source / "tests/harness_main.c"), options.library,
         "-Wl,-u,session_is_linked", "-lm", "-ldl", "-o", str(to)], check=True)


def run(options, mutant):
    """Builds and runs a mutant. Returns whether its outcome is the expected one."""
    name, header, old, new, (program, cases) = mutant
    folder = pathlib.Path(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pathlib.Path(options.source) / "include", folder / "include")
    at = folder / "include" / header
    at.write_text(mutate(at.read_text(), name, old, new))
    build(options, folder / "include", program, folder / "test")
    done = subprocess.run([str(folder / "test"), cases], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if b"0 failed" in done.stdout and b" 0 skipped" not in done.stdout:
        print("skipped: %s: no trap flag" % name)
        return True
    failed = done.returncode != 0
    print("%s: %s" % (name, "fails" if failed else "passes"))
    return failed == bool(old)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cc", "source", "generated", "library", "folder"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    wrong = [m[0] for m in MUTANTS if not run(options, m)]
    if wrong:
        sys.exit("mutants: unexpected: %s" % ", ".join(wrong))


if __name__ == "__main__":
    main()
