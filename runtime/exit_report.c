/* SPDX-License-Identifier: Apache-2.0 */
#include "exit_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "arena.h"
#include "config.h"
#include "log.h"
#include "process.h"
#include "report_options.h"

extern const char exit_report_anchor;
const char exit_report_anchor = 0; /* see process.c */

static char view[128]; /* "" = none asked for by a call */

__attribute__((constructor)) static void at_load(void) {
    process_started();
}

__attribute__((destructor)) static void at_exit(void) {
    int saved = errno;
    const char *wanted = *view ? view : config.report;
    if (wanted && arena.base) {
        report_print_at_exit(wanted);
    }
    errno = saved;
}

int stint_report_at_exit(const char *wanted) {
    int saved = errno;
    struct report_options o;
    int result = -1;
    if (!wanted) {
        *view = '\0';
        result = 0;
    } else if (strlen(wanted) >= sizeof view || report_options_parse(wanted, &o)) {
        log_line("report \"%.200s\": expected " REPORT_OPTIONS_FORM, wanted);
    } else {
        strcpy(view, wanted);
        result = 0;
    }
    errno = saved;
    return result;
}
