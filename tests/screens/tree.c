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

static void work(void) {
    REGISTER_TIMER("work");
    timed("caf\xc3\xa9", 10 * MS);
}

static void open_everywhere(void) {
    stint_timer handle;
    on_a_thread(work);
    TIMER_BEGIN(handle, "request");
    REGISTER_TIMER("main");
    stint_add_sample("queue", 2 * MS);
    work();
    {
        REGISTER_TIMER("wait");
        fake_advance(40 * MS);
        TIMER_END(handle);
        stint_report("tree");
    }
}

const struct screen tree_screens[] = {{"tree", plain},
                                      {"tree_sort", sorted},
                                      {"tree_recursion", recursion},
                                      {"tree_open", open_everywhere},
                                      {NULL, NULL}};
