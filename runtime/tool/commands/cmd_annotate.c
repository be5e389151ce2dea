/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command annotate: the sources of a run that was instrumented by lines, each line with its
 * hits and times.
 */
#include "commands.h"

#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "runfile/run_open.h"
#include "system/config.h"
#include "system/log.h"
#include "tool/annotate/annotate.h"
#include "tool/common/command.h"

struct arguments {
    struct source_places places;
    const char *html;
    struct annotate_options options;
};

static int take_annotate_option(void *to, const struct option_value *value) {
    struct arguments *a = to;
    switch (value->id) {
    case OPTION_SOURCE:
        a->places.only = value->text;
        return 0;
    case OPTION_SOURCE_ROOT:
        if (a->places.roots == SOURCE_ROOTS) {
            return -1;
        }
        a->places.root[a->places.roots++] = value->text;
        return 0;
    case OPTION_SORT:
        a->options.sort = (enum annotate_sort)value->number;
        return 0;
    case OPTION_TOP:
        a->options.top = (uint32_t)value->number;
        return 0;
    case OPTION_UNIT:
        config.unit = (int)value->number;
        return 0;
    case OPTION_HTML:
        a->html = value->text;
        a->options.html = 1;
        return 0;
    default:
        return -1;
    }
}

/* Whether one path is the end of the other, from a slash on. */
static int paths_match(const char *a, const char *b) {
    size_t la = strlen(a), lb = strlen(b);
    if (la < lb) {
        return paths_match(b, a);
    }
    while (!strncmp(b, "./", 2)) {
        b += 2;
        lb -= 2;
    }
    return lb && la >= lb && !strcmp(a + la - lb, b) && (la == lb || a[la - lb - 1] == '/');
}

/* Finds the files that are shown, and reads their sources. */
static int take_files(struct annotate_page *all, const struct arguments *a,
                      struct scratch *memory) {
    const struct line_rows *rows = all->rows;
    const char *only = a->places.only;
    struct stat page;
    int has_page = a->html && !stat(a->html, &page);
    for (uint32_t i = 0; i < rows->file_count; ++i) {
        const struct line_file *file = &rows->files[i];
        if (only && !paths_match(file->name, only)) {
            continue;
        }
        struct annotate_source *source = &all->sources[i];
        source_take(source, memory, file, &a->places);
        if (has_page && source->device == page.st_dev && source->inode == page.st_ino) {
            log_error("annotate: --html %.500s is a source of the page; nothing was written",
                      a->html);
            return COMMAND_BAD;
        }
        all->shown[i] = 1;
        all->shown_ns += all->self_ns[i];
        all->shown_lines += file->count;
        ++all->shown_files;
    }
    if (!all->shown_files && only && rows->file_count) {
        log_error("annotate: the run has no lines of %.400s; it has those of %.400s%s", only,
                  rows->files[0].name, rows->file_count > 1 ? " and others" : "");
        return COMMAND_BAD;
    }
    return COMMAND_GOOD;
}

/* list: of the sources that are shown, for the end of the page. */
static int put_files(struct text *out, struct text *list, const struct arguments *a,
                     const struct annotate_page *all, struct scratch *memory) {
    int failed = 0;
    if (a->html || all->shown_files > 1) {
        failed = annotate_summary(out, all, memory, &a->options);
    }
    for (uint32_t i = 0; i < all->rows->file_count && !failed; ++i) {
        uint32_t file = all->order[i];
        if (!all->shown[file]) {
            continue;
        }
        if (out->length) {
            text_put(out, "\n", 1);
        }
        annotate_html_list(list, &all->rows->files[file], &all->sources[file]);
        failed = annotate_file(out, all->rows, file, &all->sources[file], &a->options);
    }
    if (failed) {
        return command_lack_memory("annotate", COMMAND_FAILED);
    }
    return COMMAND_GOOD;
}

static int annotate_run(struct run *r, const struct arguments *a) {
    struct line_rows rows;
    struct annotate_page all;
    struct text out, list;
    struct scratch *memory = &r->snapshot.memory;
    if (line_rows_read(&rows, &r->snapshot) || annotate_start(&all, &rows, memory)) {
        return command_lack_memory("annotate", COMMAND_FAILED);
    }
    if (!rows.row_count) {
        log_error("%.500s has no source lines: the program was not built with `stint instrument "
                  "--lines`, or no such function was called",
                  r->path);
        return COMMAND_FAILED;
    }
    text_start(&out);
    text_start(&list);
    if (a->html) {
        annotate_html_begin(&out, text_or_unknown(r->program));
    }
    int status = take_files(&all, a, memory);
    if (status == COMMAND_GOOD) {
        status = put_files(&out, &list, a, &all, memory);
    }
    if (a->html) {
        annotate_html_end(&out, &list);
    }
    if (out.failed || list.failed) {
        status = command_lack_memory("annotate", COMMAND_FAILED);
    }
    if (status == COMMAND_GOOD) {
        if (a->html) {
            status = export_target_write(a->html, REPLACE_NAMED, target_put_text, &out, r->path);
        } else if (command_write(out.data, out.length)) {
            status = COMMAND_FAILED;
        }
    }
    text_free(&list);
    text_free(&out);
    return command_worse(status, command_warn(r));
}

int cmd_annotate(int argc, char **argv) {
    struct arguments a = {0};
    struct run r;
    int status = options_parse(TOOL_ANNOTATE, argc, argv, take_annotate_option, &a);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "a run file is missing");
    }
    if (optind + 1 < argc) {
        return command_bad_usage(argv, "one run file at a time");
    }
    if (run_open(&r, argv[optind])) {
        return COMMAND_BAD;
    }
    status = annotate_run(&r, &a);
    run_close(&r);
    return status;
}
