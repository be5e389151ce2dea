/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats annotated sources: in the order of the source every line of it, those that were measured
 * with their numbers; sorted, only lines that were measured. Called by cmd_annotate.c.
 *
 * The share of a line is its part of the time that all lines of the file took themselves. Where
 * several files are shown, a list before them has the hottest lines of all; their shares are of the
 * time of all files.
 */
#include "annotate.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "base/order.h"
#include "system/config.h"

#define TAB 8
#define HOTTEST 10      /* lines of the list before the files */
#define HOT_PPM 100000u /* coloured in HTML: a tenth of the file's time, and */
#define WARM_PPM 10000u /* a hundredth */

/* The page opens at its hottest line, if no other one was asked for. */
#define HOTTEST_FIRST                                                                              \
    "<script>\naddEventListener(\"load\", () => {\n"                                               \
    "    if (!location.hash) {\n"                                                                  \
    "        document.getElementById(\"f%ul%u\").scrollIntoView({block: \"center\"});\n"           \
    "        document.querySelector(\"main\").scrollLeft = 0;\n"                                   \
    "    }\n"                                                                                      \
    "});\n</script>\n"

struct page {
    struct text *out;
    const struct line_row *rows;
    uint32_t count;
    uint32_t file;
    u128 hottest_ns; /* the self time of its hottest line */
    u128 self_ns;    /* of all rows */
    int has_gpu;     /* any file */
    struct scratch memory;
    const struct annotate_source *source;
    size_t *starts; /* of the lines of the source */
    uint32_t lines;
    const struct annotate_options *options;
};

static int source_split(struct page *p) {
    const char *at = p->source->bytes;
    if (!at) {
        return 0;
    }
    const char *end = at + p->source->length;
    uint32_t lines = 1;
    for (const char *c = at; c < end; ++c) {
        lines += *c == '\n';
    }
    p->starts = scratch_array(&p->memory, (size_t)lines + 1, sizeof *p->starts);
    if (scratch_failed(&p->memory)) {
        return -1;
    }
    for (const char *c = at; c < end; ++c) {
        if (*c == '\n') {
            p->starts[++p->lines] = (size_t)(c + 1 - at);
        }
    }
    if (p->starts[p->lines] < p->source->length) { /* the last one has no newline */
        p->starts[++p->lines] = p->source->length + 1;
    }
    return 0;
}

static void put_escaped(struct text *out, char c) {
    switch (c) {
    case '<':
        text_put(out, "&lt;", 4);
        break;
    case '>':
        text_put(out, "&gt;", 4);
        break;
    case '&':
        text_put(out, "&amp;", 5);
        break;
    case '"':
        text_put(out, "&quot;", 6);
        break;
    default:
        text_put(out, &c, 1);
    }
}

/* A piece without tabs. text_name doubles backslashes, which a source is full of. */
static void put_piece(const struct page *p, const char *at, size_t length) {
    const char *end = at + length;
    while (at < end && !p->options->html) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const char *stop = slash ? slash : end;
        text_name(p->out, at, (size_t)(stop - at), SIZE_MAX);
        text_put(p->out, "\\", slash != NULL);
        at = stop + (slash != NULL);
    }
    for (; at < end; ++at) {
        if ((unsigned char)*at >= ' ') {
            put_escaped(p->out, *at);
        }
    }
}

/* Blanks for tabs; other control bytes are escaped as in names, or left out of HTML. */
static void put_code(const struct page *p, uint32_t line) {
    if (!line || line > p->lines) {
        return;
    }
    const char *at = p->source->bytes + p->starts[line - 1];
    const char *end = p->source->bytes + p->starts[line] - 1;
    size_t column = 0;
    if (end > at && end[-1] == '\r') {
        --end;
    }
    while (at < end) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        size_t length = (size_t)((tab ? tab : end) - at);
        put_piece(p, at, length);
        column += length;
        at += length;
        if (tab) {
            text_spaces(p->out, TAB - column % TAB);
            column += TAB - column % TAB;
            ++at;
        }
    }
}

static uint64_t share_of(const struct page *p, const struct line_row *r) {
    if (!p->self_ns) {
        return 0;
    }
    return (uint64_t)((double)r->self_ns * 1e6 / (double)p->self_ns);
}

static const char *heat_of(uint64_t ppm) {
    if (ppm >= HOT_PPM) {
        return " class=hot";
    }
    if (ppm >= WARM_PPM) {
        return " class=warm";
    }
    return "";
}

/* The head of a row of the HTML table: a name for links, and the shade of the strip next to the
 * source. */
static void put_row_start(const struct page *p, uint32_t line, const struct line_row *r) {
    text_add(p->out, "<tr");
    if (r) {
        text_add(p->out, " id=f%ul%u", p->file, line);
    }
    if (r && p->hottest_ns) {
        double shade = (double)r->self_ns / (double)p->hottest_ns;
        text_add(p->out, " style=\"--h:%s\"", number_fixed(shade, 2).text);
    }
}

/* r: NULL, a line that was not measured. */
static void put_source_line(struct page *p, uint32_t line, const struct line_row *r) {
    char self[TEXT_NUMBER] = "", total[TEXT_NUMBER] = "", share[TEXT_NUMBER] = "";
    char hits[TEXT_NUMBER] = "", gpu[TEXT_NUMBER] = "";
    uint64_t ppm = 0;
    if (r && r->gpu_calls) {
        text_time(gpu, r->gpu_ns, config.unit);
    }
    if (r) {
        ppm = share_of(p, r);
        snprintf(hits, sizeof hits, "%s", number_whole(r->hits).text);
        text_time(self, r->self_ns, config.unit);
        text_time(total, r->total_ns, config.unit);
        text_share(share, ppm);
    }
    if (p->options->html) {
        put_row_start(p, line, r);
        text_add(p->out, "%s><td>%s<td>%s<td>%s<td>%s", heat_of(ppm), hits, self, total, share);
        if (p->has_gpu) {
            text_add(p->out, "<td>%s", gpu);
        }
        text_add(p->out, "<td>%u<td class=heat><td><pre>", line);
        put_code(p, line);
        text_add(p->out, "</pre>\n");
        return;
    }
    text_add(p->out, "%12s %10s %10s %6s ", hits, self, total, share);
    if (p->has_gpu) {
        text_add(p->out, "%10s ", gpu);
    }
    text_add(p->out, "%6u  ", line);
    put_code(p, line);
    while (p->out->length && p->out->data[p->out->length - 1] == ' ') {
        --p->out->length;
    }
    text_put(p->out, "\n", 1);
}

static u128 sort_value(const struct line_row *r, enum annotate_sort sort) {
    switch (sort) {
    case ANNOTATE_HITS:
        return r->hits;
    case ANNOTATE_TOTAL:
        return r->total_ns;
    default:
        return r->self_ns;
    }
}

static int row_is_hotter(const void *what, uint32_t a, uint32_t b) {
    const struct page *p = what;
    return sort_value(&p->rows[a], p->options->sort) > sort_value(&p->rows[b], p->options->sort);
}

static int put_sorted(struct page *p) {
    uint32_t *order = order_by(&p->memory, p->count, row_is_hotter, p);
    uint32_t shown = p->count;
    if (!order) {
        return -1;
    }
    if (p->options->top && p->options->top < shown) {
        shown = p->options->top;
    }
    for (uint32_t i = 0; i < shown; ++i) {
        put_source_line(p, p->rows[order[i]].line, &p->rows[order[i]]);
    }
    return 0;
}

static void put_in_order(struct page *p) {
    uint32_t next = 0;
    for (uint32_t line = 1; line <= p->lines; ++line) {
        const struct line_row *r = NULL;
        if (next < p->count && p->rows[next].line == line) {
            r = &p->rows[next++];
        }
        put_source_line(p, line, r);
    }
    for (; next < p->count; ++next) { /* without the source, or it has become shorter */
        put_source_line(p, p->rows[next].line, &p->rows[next]);
    }
}

static void put_escaped_name(struct text *out, const struct line_file *file) {
    for (uint32_t i = 0; i < file->length; ++i) {
        put_escaped(out, file->name[i]);
    }
}

static void put_source_head(struct page *p, const struct line_file *file) {
    char self[TEXT_NUMBER];
    text_time(self, p->self_ns, config.unit);
    if (p->options->html) {
        text_add(p->out, "<h2 id=f%u>", p->file);
        put_escaped_name(p->out, file);
        text_add(p->out,
                 "</h2>\n<p>%s in %u lines%s</p>\n<table>\n<tr><th>hits<th>self<th>total"
                 "<th>%%%s<th>line<th><th>source\n",
                 self, p->count, p->source->note, p->has_gpu ? "<th>GPU" : "");
        return;
    }
    text_name(p->out, file->name, file->length, SIZE_MAX);
    text_add(p->out, ": %s in %u lines%s\n%12s %10s %10s %6s ", self, p->count, p->source->note,
             "hits", "self", "total", "%");
    if (p->has_gpu) {
        text_add(p->out, "%10s ", "GPU");
    }
    text_add(p->out, "%6s  %s\n", "line", "source");
}

int annotate_file(struct text *out, const struct line_rows *rows, uint32_t file,
                  const struct annotate_source *source, const struct annotate_options *options) {
    struct page p = {.out = out,
                     .rows = rows->rows + rows->files[file].first,
                     .count = rows->files[file].count,
                     .file = file,
                     .has_gpu = rows->has_gpu,
                     .source = source,
                     .options = options};
    for (uint32_t i = 0; i < p.count; ++i) {
        p.self_ns += p.rows[i].self_ns;
        p.hottest_ns = u128_max(p.hottest_ns, p.rows[i].self_ns);
    }
    int failed = source_split(&p);
    if (!failed) {
        put_source_head(&p, &rows->files[file]);
        if (options->sort == ANNOTATE_LINE) {
            put_in_order(&p);
        } else {
            failed = put_sorted(&p);
        }
        if (options->html) {
            text_add(out, "</table>\n");
        }
    }
    scratch_free(&p.memory);
    return failed;
}

/* ---- All files. */

/* Whether file a took more time than file b; of equal ones, the first. */
static int file_is_hotter(const void *what, uint32_t a, uint32_t b) {
    const struct annotate_page *all = what;
    return all->self_ns[a] > all->self_ns[b];
}

int annotate_start(struct annotate_page *all, const struct line_rows *rows,
                   struct scratch *memory) {
    memset(all, 0, sizeof *all);
    all->rows = rows;
    all->self_ns = scratch_array(memory, (size_t)rows->file_count + 1, sizeof *all->self_ns);
    all->sources = scratch_array(memory, (size_t)rows->file_count + 1, sizeof *all->sources);
    all->shown = scratch_array(memory, (size_t)rows->file_count + 1, sizeof *all->shown);
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < rows->row_count; ++i) {
        all->self_ns[rows->rows[i].file] += rows->rows[i].self_ns;
    }
    all->order = order_by(memory, rows->file_count, file_is_hotter, all);
    return -scratch_failed(memory);
}

static int line_is_hotter(const void *what, uint32_t a, uint32_t b) {
    const struct annotate_page *all = what;
    return all->rows->rows[a].self_ns > all->rows->rows[b].self_ns;
}

static uint64_t share_of_all(const struct annotate_page *all, u128 ns) {
    if (!all->shown_ns) {
        return 0;
    }
    return (uint64_t)((double)ns * 1e6 / (double)all->shown_ns);
}

/* The code of a line, without the blanks before it. */
static int put_hot_code(struct text *out, const struct annotate_page *all, const struct line_row *r,
                        const struct annotate_options *options) {
    struct page p = {.out = out, .source = &all->sources[r->file], .options = options};
    int failed = source_split(&p);
    if (!failed && r->line && r->line <= p.lines) {
        size_t *start = &p.starts[r->line - 1];
        size_t end = p.starts[r->line] - 1;
        while (*start < end &&
               (p.source->bytes[*start] == ' ' || p.source->bytes[*start] == '\t')) {
            ++*start;
        }
        put_code(&p, r->line);
    }
    scratch_free(&p.memory);
    return failed;
}

static int put_hot_line(struct text *out, const struct annotate_page *all, const struct line_row *r,
                        const struct annotate_options *options) {
    const struct line_file *file = &all->rows->files[r->file];
    char self[TEXT_NUMBER], share[TEXT_NUMBER];
    text_time(self, r->self_ns, config.unit);
    text_share(share, share_of_all(all, r->self_ns));
    if (options->html) {
        text_add(out, "<tr><td>%s<td>%s<td><a href=\"#f%ul%u\">", self, share, r->file, r->line);
        put_escaped_name(out, file);
        text_add(out, ":%u</a><pre>", r->line);
    } else {
        text_add(out, "%10s %6s  ", self, share);
        text_name(out, file->name, file->length, SIZE_MAX);
        text_add(out, ":%u  ", r->line);
    }
    int failed = put_hot_code(out, all, r, options);
    text_add(out, options->html ? "</pre>\n" : "\n");
    return failed;
}

/* The hottest lines of the files that are shown. *first: of these the hottest, or the row count. */
static int put_hot_lines(struct text *out, const struct annotate_page *all, struct scratch *memory,
                         const struct annotate_options *options, uint32_t *first) {
    uint32_t count = all->rows->row_count, put = 0;
    uint32_t *order = order_by(memory, count, line_is_hotter, all);
    *first = count;
    if (!order) {
        return -1;
    }
    for (uint32_t i = 0; i < count && put < HOTTEST; ++i) {
        const struct line_row *r = &all->rows->rows[order[i]];
        if (!all->shown[r->file] || !r->self_ns) {
            continue;
        }
        if (put_hot_line(out, all, r, options)) {
            return -1;
        }
        if (!put++) {
            *first = order[i];
        }
    }
    return 0;
}

static void put_file_list(struct text *out, const struct annotate_page *all, int html) {
    for (uint32_t i = 0; i < all->rows->file_count; ++i) {
        uint32_t file = all->order[i];
        char self[TEXT_NUMBER], share[TEXT_NUMBER];
        if (!all->shown[file]) {
            continue;
        }
        text_time(self, all->self_ns[file], config.unit);
        text_share(share, share_of_all(all, all->self_ns[file]));
        if (html) {
            text_add(out, "<tr><td>%s<td>%s<td><a href=\"#f%u\">", self, share, file);
            put_escaped_name(out, &all->rows->files[file]);
            text_add(out, "</a>\n");
        } else {
            text_add(out, "%10s %6s  ", self, share);
            text_name(out, all->rows->files[file].name, all->rows->files[file].length, SIZE_MAX);
            text_put(out, "\n", 1);
        }
    }
}

int annotate_summary(struct text *out, const struct annotate_page *all, struct scratch *memory,
                     const struct annotate_options *options) {
    char self[TEXT_NUMBER];
    uint32_t first;
    text_time(self, all->shown_ns, config.unit);
    if (!options->html) {
        text_add(out, "%s in %u lines of %u files\n%10s %6s  file\n", self, all->shown_lines,
                 all->shown_files, "self", "%");
        put_file_list(out, all, 0);
        text_add(out, "\nthe hottest lines\n%10s %6s  line\n", "self", "%");
        return put_hot_lines(out, all, memory, options, &first);
    }
    text_add(out, "<nav>\n<p>%s in %u lines of %u files</p>\n<table>\n", self, all->shown_lines,
             all->shown_files);
    put_file_list(out, all, 1);
    text_add(out, "</table>\n<p>The hottest lines</p>\n<table>\n");
    int failed = put_hot_lines(out, all, memory, options, &first);
    text_add(out, "</table>\n</nav>\n<main>\n");
    if (first < all->rows->row_count) {
        const struct line_row *r = &all->rows->rows[first];
        text_add(out, HOTTEST_FIRST, r->file, r->line);
    }
    return failed;
}

void annotate_html_begin(struct text *out, const char *program) {
    text_add(out, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n<title>stint: lines of ");
    for (const char *c = program; *c; ++c) {
        put_escaped(out, *c);
    }
    text_add(out,
             "</title>\n<style>\n"
             "body { font-family: sans-serif; margin: 0; display: flex; height: 100vh; }\n"
             "nav { flex: 0 0 auto; width: 34em; max-width: 40vw; overflow: auto; padding: 1ex;\n"
             "  box-sizing: border-box; border-right: 1px solid #bbb; }\n"
             "main { flex: 1; overflow: auto; padding: 0 1ex; }\n"
             "nav pre { overflow: hidden; text-overflow: ellipsis; max-width: 30em; }\n"
             "nav td:nth-child(3) { text-align: left; }\n"
             ".heat { padding: 0; width: 8px; min-width: 8px;\n"
             "  background: rgb(200 40 20 / var(--h, 0)); }\n"
             "table { border-collapse: collapse; font-family: monospace; }\n"
             "td { text-align: right; vertical-align: top; white-space: nowrap; padding: 0 1ex; }\n"
             "th:last-child { text-align: left; padding: 0 1ex; }\n"
             "td:last-child { text-align: left; }\n"
             "pre { margin: 0; }\n"
             ".hot { background: #f8b8a8; }\n"
             ".warm { background: #fdeccf; }\n"
             "</style>\n");
}

void annotate_html_list(struct text *list, const struct line_file *file,
                        const struct annotate_source *source) {
    if (source->bytes) {
        text_add(list, "<li>");
        put_escaped_name(list, file);
        text_add(list, ", %zu bytes%s\n", source->length, source->note);
    }
}

void annotate_html_end(struct text *out, const struct text *list) {
    text_add(out, "<h2>Sources in this page</h2>\n<ul>\n");
    if (list->length) {
        text_put(out, list->data, list->length);
    }
    text_add(out, "</ul>\n</main>\n</html>\n");
}
