/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run file through the tool: read from a descriptor, then shown in its views, exported in a
 * format, merged with itself, or compared with itself.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena/arena.h"
#include "export/tool/formats.h"
#include "fuzz_image.h"
#include "runfile/run_open.h"
#include "tool/common/run_view.h"
#include "tool/diff/diff.h"
#include "tool/merge/merge.h"
#include "tool/top/top.h"

static void show(struct run *r, const uint8_t *option) {
    static const char *const views[] = {"table", "tree", "legacy", "threads", "table,threads"};
    struct run_view view;
    struct text out;
    FUZZ_NEED(!run_view_parse(views[option[0] % 5], &view));
    view.options.width = option[3];
    view.options.colour = option[0] >> 7;
    text_start(&out);
    out.utf8 = option[1] & 1;
    run_view_print(&out, r, &view);
    text_free(&out);
}

static size_t formats_count(void) {
    size_t count = 0;
    while (format_at(count)) {
        ++count;
    }
    return count;
}

static void export_as(struct run *r, const struct format *format) {
    static struct sink sink;
    if (format->write && !run_trace(r)) {
        sink_start(&sink, FUZZ_SINK);
        format->write(&sink, r);
        FUZZ_NEED(!sink_close(&sink));
    }
}

static void look(struct run *r, const uint8_t *option) {
    struct top_table table;
    struct top_table_form form = {.rows = option[2],
                                  .width = option[3],
                                  .height = option[2] >> 3,
                                  .colour = option[0] >> 7,
                                  .sort = (enum top_sort)(option[1] >> 2 & 3),
                                  .keys = ""};
    struct top_rows which = {.each_thread = option[1] & 1, .tree = option[1] >> 1 & 1};
    struct text out;
    memset(&table, 0, sizeof table);
    text_start(&out);
    for (int i = 0; i < 2 && !top_table_look(&table, r, &which); ++i) {
        top_table_print(&out, &table, &form);
    }
    top_table_free(&table);
    text_free(&out);
}

static void compare(const char *path, const uint8_t *option) {
    struct diff d;
    struct diff_options o = {.metric = (enum diff_metric)(option[2] % DIFF_METRICS),
                             .threshold = 0.02,
                             .raw = option[1] & 2 ? 1 : 0};
    struct text out;
    if (diff_start(&d, 1, 1)) {
        return;
    }
    text_start(&out);
    if (diff_read(&d, 0, 0, path) >= 0 && diff_read(&d, 1, 0, path) >= 0 && !diff_judge(&d, &o)) {
        diff_show(&d, &o, option[3], option[1] & 4 ? 1 : 0, &out);
    }
    text_free(&out);
    diff_end(&d);
}

/* Twice itself; what comes of it must be a run file without a fault. */
static void merge(const struct run *r, uint64_t bytes, enum merge_keep keep) {
    char name[64];
    struct merge m;
    struct run both;
    snprintf(name, sizeof name, "/dev/shm/stint-fuzz-%ld.stint", (long)getpid());
    if (*r->warning) { /* the command refuses it before it merges anything */
        return;
    }
    int failed = merge_start(&m, name, 2, 2 * bytes + ((uint64_t)1 << 20), r, keep) ||
                 merge_add(&m, r) || merge_add(&m, r) || merge_finish(&m);
    merge_end(&m);
    if (!failed) {
        FUZZ_NEED(!run_open(&both, name));
        FUZZ_NEED(!*both.warning);
        run_close(&both);
    }
    unlink(name);
}

/* One part an input: five times as many inputs. */
static void use(struct run *r, const struct fuzz_image *image) {
    size_t formats = formats_count();
    size_t part = image->option[4] % (formats + 4);
    if (part < formats) {
        export_as(r, format_at(part));
        return;
    }
    switch (part - formats) {
    case 0:
        show(r, image->option);
        break;
    case 1:
        look(r, image->option);
        break;
    case 2:
        merge(r, image->size, image->option[0] % (MERGE_KEEP_THREADS + 1));
        break;
    default:
        compare(r->path, image->option);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1; /* one file for all inputs, so that its pages are there */
    struct fuzz_image image;
    struct run r;
    char path[64];
    fd = fd < 0 ? memfd_create("fuzz", MFD_CLOEXEC) : fd;
    if (fd < 0 || fuzz_image_read(&image, data, size) || ftruncate(fd, (off_t)image.size) ||
        pwrite(fd, image.base, image.size, 0) != (ssize_t)image.size) {
        return 0;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!run_open(&r, path)) {
        use(&r, &image);
        run_close(&r);
    }
    return 0;
}
