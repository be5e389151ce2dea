/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each interface finds its tool by a variable of its own. One that is set belongs to another tool
 * and stays. STINT_RANGES names the interfaces that are left, because the dynamic linker and the
 * OpenMP runtime find what a preloaded library has, whatever it was preloaded for. cmd_run.c calls
 * these functions before and after the program runs.
 */
#include "run_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "needed.h"
#include "system/log.h"
#include "tool/common/command.h"

#define LIBRARY "stint-ranges"
#define RANGES_TEXT (40 * RANGE_INTERFACES)

#define INTERFACE(interface, name, place, ...) [interface] = {name, __VA_ARGS__},
static const struct {
    const char *name;
    const char *variable; /* NULL: it is preloaded */
    const char *older;    /* of earlier versions of the library; may be NULL */
} interfaces[RANGE_INTERFACES] = {RANGE_EACH(INTERFACE)};

uint32_t run_ranges_parse(const char *list) {
    uint32_t wanted = 0;
    if (!list) {
        return (1u << RANGE_INTERFACES) - 1;
    }
    for (;;) {
        size_t length = strcspn(list, ","), at = 0;
        while (at < RANGE_INTERFACES && (strlen(interfaces[at].name) != length ||
                                         memcmp(interfaces[at].name, list, length) != 0)) {
            ++at;
        }
        if (at == RANGE_INTERFACES) {
            return 0;
        }
        wanted |= 1u << at;
        list += length;
        if (!*list) {
            return wanted;
        }
        ++list;
    }
}

/* 1: it is set to another value, said in one line. */
static int variable_is_taken(const char *interface, const char *variable, const char *path) {
    const char *set = variable ? getenv(variable) : NULL;
    if (!set || !*set || !strcmp(set, path)) {
        return 0;
    }
    log_warning(
        "run: %s=%.400s is left as it is: that tool gets the ranges of %s, they are not recorded",
        variable, set, interface);
    return 1;
}

static int set_variable(const char *variable, const char *value) {
    return variable ? command_set_variable("run", variable, value) : 0;
}

int run_ranges_set(uint32_t wanted) {
    char path[PATH_MAX], list[RANGES_TEXT] = "";
    if (run_library_find(path, LIBRARY)) {
        return -1;
    }
    for (uint32_t i = 0; i < RANGE_INTERFACES; ++i) {
        const char *name = interfaces[i].name;
        if (!(wanted & 1u << i) || variable_is_taken(name, interfaces[i].variable, path) ||
            variable_is_taken(name, interfaces[i].older, path)) {
            continue;
        }
        if (set_variable(interfaces[i].variable, path) || set_variable(interfaces[i].older, path) ||
            (!interfaces[i].variable && run_library_preload(LIBRARY))) {
            return -1;
        }
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length ? "," : "", name);
    }
    if (!*list) {
        snprintf(list, sizeof list, "none");
    }
    return set_variable("STINT_RANGES", list);
}

/* ---- OpenMP of GCC. */

void run_ranges_check(const char *program) {
    struct text names;
    needed_read(&names, program);
    if (needed_has(&names, "libgomp.so") && !needed_has(&names, "libomp.so")) {
        log_note("run: %.200s uses libgomp, which tools cannot ask: its OpenMP regions are not "
                 "recorded; "
                 "with LD_PRELOAD=libomp.so.5 they are (docs/ranges.md)",
                 program);
    }
    text_free(&names);
}

void run_ranges_say(uint32_t wanted, const u128 count[RANGE_INTERFACES]) {
    char text[RANGES_TEXT] = "";
    for (uint32_t i = 0; i < RANGE_INTERFACES; ++i) {
        size_t length = strlen(text);
        if (!(wanted & 1u << i)) {
            continue;
        }
        snprintf(text + length, sizeof text - length, "%s%s: ", length ? ", " : "",
                 interfaces[i].name);
        length = strlen(text);
        if (count[i]) {
            snprintf(text + length, sizeof text - length, "%s", number_whole(count[i]).text);
        } else {
            snprintf(text + length, sizeof text - length, "not used");
        }
    }
    log_note("ranges: %s", text);
}
