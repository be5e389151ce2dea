/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command trend: collects the files of its arguments and of folders, reads them as one series,
 * and prints where it changed.
 */
#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "tool/common/command.h"
#include "tool/common/export_target.h"
#include "tool/common/progress.h"
#include "tool/trend/trend.h"

#define TREND_SUFFIX ".stint"

struct trend_request {
    enum option_by by;
    int json;
    const char *html;
};

struct path_list {
    char **path;
    uint32_t count;
    uint32_t room;
};

static int take_trend_option(void *to, const struct option_value *value) {
    struct trend_request *r = to;
    switch (value->id) {
    case OPTION_BY:
        r->by = (enum option_by)value->number;
        return 0;
    case OPTION_JSON:
        r->json = 1;
        return 0;
    case OPTION_HTML:
        r->html = value->text;
        return 0;
    default:
        return -1;
    }
}

/* ---- The files. */

static int paths_add(struct path_list *l, const char *path) {
    if (l->count == l->room) {
        uint32_t room = l->room ? l->room * 2 : 256;
        char **more = realloc(l->path, room * sizeof *more);
        if (!more) {
            return -1;
        }
        l->path = more;
        l->room = room;
    }
    l->path[l->count] = strdup(path);
    return l->path[l->count++] ? 0 : -1;
}

static void paths_free(struct path_list *l) {
    for (uint32_t i = 0; i < l->count; ++i) {
        free(l->path[i]);
    }
    free(l->path);
}

static int has_suffix(const char *name) {
    size_t length = strlen(name), suffix = sizeof TREND_SUFFIX - 1;
    return length > suffix && !strcmp(name + length - suffix, TREND_SUFFIX);
}

static int paths_add_folder(struct path_list *l, const char *folder) {
    char path[PATH_MAX];
    DIR *d = opendir(folder);
    if (!d) {
        log_error("trend: %.500s: %s", folder, error_text(errno));
        return -1;
    }
    int failed = 0;
    for (struct dirent *e = readdir(d); e && !failed; e = readdir(d)) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (has_suffix(e->d_name) && n > 0 && (size_t)n < sizeof path) {
            failed = paths_add(l, path);
        }
    }
    closedir(d);
    if (failed) {
        log_error("trend: not enough memory");
    }
    return failed;
}

static int collect_paths(struct path_list *l, int argc, char **argv) {
    for (int i = optind; i < argc; ++i) {
        struct stat s;
        if (!stat(argv[i], &s) && S_ISDIR(s.st_mode)) {
            if (paths_add_folder(l, argv[i])) {
                return -1;
            }
        } else if (paths_add(l, argv[i])) {
            log_error("trend: not enough memory");
            return -1;
        }
    }
    if (l->count > TREND_RUNS) {
        log_error("trend: %u files: at most %u are a series", l->count, TREND_RUNS);
        return -1;
    }
    return 0;
}

/* ---- The result. */

static int put_trend_page(struct sink *out, const void *what, struct run *none) {
    (void)none;
    trend_write_html(what, out);
    return 0;
}

static int put_trend_json(struct sink *out, const void *what, struct run *none) {
    (void)none;
    trend_write_json(what, out);
    return 0;
}

static int print_trend(const struct trend *t, const struct trend_request *r) {
    struct text out;
    if (r->html && export_target_write(r->html, put_trend_page, t, NULL)) {
        return COMMAND_FAILED;
    }
    if (r->json) {
        return export_target_write(NULL, put_trend_json, t, NULL) ? COMMAND_FAILED : COMMAND_GOOD;
    }
    text_start(&out);
    trend_show(t, &out);
    int failed = out.failed;
    if (failed) {
        log_error("trend: not enough memory");
    } else {
        failed = command_write(STDOUT_FILENO, out.data, out.length);
    }
    text_free(&out);
    return failed ? COMMAND_FAILED : COMMAND_GOOD;
}

static int run_trend(struct trend *t, const struct path_list *paths,
                     const struct trend_request *r) {
    int status = COMMAND_GOOD;
    enum trend_order by = r->by == OPTION_BY_COMMIT ? TREND_BY_COMMIT : TREND_BY_TIME;
    progress_start("reading", NULL);
    for (uint32_t i = 0; i < paths->count; ++i) {
        if (trend_read(t, paths->path[i])) {
            status = COMMAND_BAD; /* one line says why it is left out */
        }
    }
    progress_stop();
    if (trend_arrange(t, by)) {
        return COMMAND_BAD;
    }
    if (trend_judge(t)) {
        log_error("trend: not enough memory");
        return COMMAND_FAILED;
    }
    return command_worse(status, print_trend(t, r));
}

int cmd_trend(int argc, char **argv) {
    struct trend_request r = {0};
    struct path_list paths = {0};
    struct trend t;
    int status = options_parse(TOOL_TREND, argc, argv, take_trend_option, &r);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "run files or a folder with them are missing");
    }
    status = COMMAND_BAD;
    if (!collect_paths(&paths, argc, argv)) {
        if (trend_start(&t, paths.count + 1)) {
            log_error("trend: not enough memory");
        } else {
            status = run_trend(&t, &paths, &r);
            trend_end(&t);
        }
    }
    paths_free(&paths);
    return status;
}
