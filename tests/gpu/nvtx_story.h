/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges as a tool sees them, told as a story. A range shows as name{…}, one of another set as
 * name@category{…}, one with a plain message as "name"{…}.
 */
#ifndef STINT_TESTS_NVTX_STORY_H
#define STINT_TESTS_NVTX_STORY_H

#include <dlfcn.h>
#include <sys/syscall.h>

#include "nvtx_injection.h"
#include "recorded.h"

static struct nvtx_log *tool;

RECORDED void attach(void) {
    void *library = dlopen(NVTX_INJECTION, RTLD_NOW);
    void *symbol = library ? dlsym(library, "nvtx_injection_log") : NULL;
    nvtx_injection_log_fn *log_of;
    if (!CHECK(symbol)) {
        exit(1);
    }
    memcpy(&log_of, &symbol, sizeof log_of);
    tool = log_of();
    setenv("STINT_NVTX", "1", 1);
    setenv("NVTX_INJECTION64_PATH", NVTX_INJECTION, 1);
}

RECORDED void add(char *text, const char *format, const char *name, unsigned category) {
    size_t length = strlen(text);
    snprintf(text + length, 2000 - length, format, name, category);
}

/* The events that a thread sent to the tool, from event `from` on. */
RECORDED const char *story_from(unsigned from, int thread) {
    static char text[2000];
    text[0] = '\0';
    for (unsigned i = from; i < tool->events && i < NVTX_LOG_EVENTS; ++i) {
        const struct nvtx_event *e = &tool->event[i];
        if (e->thread != thread) {
            continue;
        }
        CHECK_STR_EQ(e->domain, "stint");
        CHECK(!e->coloured);
        if (e->kind == '}') {
            add(text, "}", "", 0);
        } else if (!e->registered) {
            add(text, "\"%s\"{", e->text, 0);
        } else if (e->category == 1) {
            add(text, "%s{", e->text, 0);
        } else {
            add(text, "%s@%u{", e->text, e->category);
        }
    }
    return text;
}

RECORDED const char *story(void) {
    return story_from(0, (int)syscall(SYS_gettid));
}

RECORDED void check_balanced(void) {
    CHECK_EQ_U64(tool->pushes, tool->pops);
    CHECK_EQ_U64(tool->strays, 0);
}

/* Scopes to tell of. */
RECORDED void inner(void) {
    REGISTER_TIMER("inner");
    fake_advance(1);
}

RECORDED void outer(void) {
    REGISTER_TIMER("outer");
    inner();
    inner();
}

RECORDED void recursive(int depth) {
    REGISTER_TIMER("recursive");
    if (depth > 1) {
        REGISTER_TIMER("around");
        recursive(depth - 1);
    }
}

RECORDED void *works(void *unused) {
    for (int i = 0; i < 1000; ++i) {
        outer();
    }
    return unused;
}

#endif
