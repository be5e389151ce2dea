/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the project that test_rebuild.py makes: it includes generated files after the
 * headers of the runtime, as the runtime does, and prints what they hold. */
#include <stdio.h>

#include "base/status.h"
#include "model/columns.h"
#include "report_columns.inc"
#include "status_table.inc"

static const char help[] =
#include "env_help.inc"
    ;

int main(void) {
    for (size_t i = 0; i < sizeof report_columns / sizeof *report_columns; ++i) {
        printf("column \"%s\"\n", report_columns[i].title);
    }
    for (size_t i = 0; i < sizeof status_table / sizeof *status_table; ++i) {
        printf("status %s\n", status_table[i].key);
    }
    fputs(help, stdout);
    return 0;
}
