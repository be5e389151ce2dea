/* SPDX-License-Identifier: Apache-2.0 */
#include "screens.h"

static void plain(void) {
    training();
    stint_report("tree");
}

static void sorted(void) {
    training();
    stint_report("tree,sort=calls,top=3");
}

static void visit(int depth) {
    REGISTER_TIMER("visit");
    fake_advance(MS);
    if (depth) {
        REGISTER_TIMER("expression");
        fake_advance(100 * US);
        visit(depth - 1);
    }
}

static void recursion(void) {
    visit(5);
    stint_report("tree");
}

/* Each in the one before: level 0, level 1 and so on. */
static void deeper(int level, int levels) {
    char name[24];
    snprintf(name, sizeof name, "level %d", level);
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(MS);
    if (level < levels) {
        deeper(level + 1, levels);
    }
}

static void deep(void) {
    deeper(0, 40);
    stint_report("tree");
}

static void work(void) {
    REGISTER_TIMER("work");
    timed("caf\xc3\xa9", 10 * MS);
}

static void open_everywhere(void) {
    stint_timer handle;
    on_a_thread(work);
    TIMER_BEGIN(handle, "request");
    REGISTER_TIMER("main");
    stint_sample_add("queue", 2 * MS);
    work();
    {
        REGISTER_TIMER("wait");
        fake_advance(40 * MS);
        TIMER_END(handle);
        stint_report("tree");
    }
}

const struct screen tree_screens[] = {
    {"tree", plain},     {"tree_sort", sorted},          {"tree_recursion", recursion},
    {"tree_deep", deep}, {"tree_open", open_everywhere}, {NULL, NULL}};
