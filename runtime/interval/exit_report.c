/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report at the end of the program, from the library's own destructor: after the program's
 * atexit handlers and static destructors.
 */
#include "report_print.h"

#include <string.h>

#include "arena/arena.h"
#include "base/api.h"
#include "base/errno_keep.h"
#include "capture/tracer.h"
#include "record/registry.h"
#include "report/report_options.h"
#include "session/process.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"

static char view[128];                     /* of stint_report_at_exit; "" = not called */
static const struct exit_profile *profile; /* written once, by a constructor */

void exit_set_profile(const struct exit_profile *p) {
    profile = p;
}

__attribute__((constructor)) static void library_start(void) {
    process_started();
    tracer_at_load();
}

__attribute__((destructor)) static void library_end(void) {
    ERRNO_KEEP;
    lock_look();
    const char *wanted = config.report;
    if (*view) {
        wanted = view;
    }
    if (wanted && !strcmp(wanted, REPORT_NONE)) {
        wanted = NULL;
    }
    int profiled = profile && profile->is_due();
    /* A signal handler that ends the program may have interrupted a call for which a report would
     * wait. */
    if ((wanted || profiled) && (lock_any_held() || registry_reading())) {
        log_error("no report: the program ended in a signal handler that interrupted this library");
    } else if (arena.base && !registry_inherited()) {
        if (profiled) {
            profile->at_end();
        }
        if (wanted) {
            report_print_at_exit(wanted);
        }
    }
    process_ends();
    log_end();
}

int stint_report_at_exit(const char *wanted) {
    FUNCTION_KEEP;
    struct report_options o;
    int result = STINT_ERROR_UNKNOWN;
    if (!wanted) {
        *view = '\0';
        result = STINT_OK;
    } else if (strlen(wanted) >= sizeof view ||
               (strcmp(wanted, REPORT_NONE) != 0 && report_options_parse(wanted, &o))) {
        log_error("report \"%.200s\": expected " REPORT_NONE_OR REPORT_OPTIONS_FORM, wanted);
    } else {
        strcpy(view, wanted);
        result = STINT_OK;
    }
    return result;
}
