/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_program [NAME CONTENT]...: a program that says it was made of these sources, line 1 of
 * each. CONTENT is as in struct stint_impl_lines_file; "-": none. Sources with "hot" in their names
 * take longer than any interruption of the others.
 */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "stint/lines.h"

static void take_time(void) {
    struct timespec t = {0, 500000000};
    nanosleep(&t, NULL);
}

static void run_line(const char *name, const char *content) {
    static const uint32_t numbers[] = {1};
    struct stint_impl_lines_file file = {name, numbers, 1, 0, NULL};
    struct stint_impl_lines_book *book = NULL;
    struct stint_impl_lines_frame frame;
    if (strcmp(content, "-")) {
        file.content = content;
    }
    stint_impl_lines_enter(&frame, &file, &book);
    stint_impl_line(frame.book, 0);
    if (strstr(name, "hot")) {
        take_time();
    }
    stint_impl_lines_leave(&frame);
}

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        run_line(argv[i], argv[i + 1]);
    }
    return 0;
}
