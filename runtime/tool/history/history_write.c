/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the series of history.c for Apache Otava 0.8, whose importer of CSV files
 * (otava/importer.py, CsvImporter) takes the rows in the order of the file, parses each time with
 * the package dateparser, refuses a file in which a value is not a number, and finds a file from
 * its own working folder: otava.yaml names files without a folder.
 *
 * A file is called after its scope, whatever other scopes there are, so that an export replaces the
 * files of the one before. All bytes but letters, digits, _, . and - become %XX; a set follows
 * after @ and times of the GPU have +gpu at the end, so no two scopes share a name. A name that is
 * longer than a file's may be is cut and ends in its digest.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error_text.h"
#include "base/order.h"
#include "base/text.h"
#include "export/export_columns.h"
#include "history.h"
#include "system/log.h"
#include "system/replace_file.h"
#include "tool/common/command.h"
#include "tool/common/sha256.h"

#define TITLE_BYTES 200u /* a file system has 255; .csv and a temporary name need some */
#define TITLE_KEPT 150u
#define TITLE_DIGEST 32 /* digits: 128 bits */

/* ---- Names of files. */

static int is_file_char(char c, int first) {
    int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || c == '_' || (!first && (c == '.' || c == '-'));
}

static void put_encoded(struct text *out, const char *bytes, size_t length) {
    if (!length) {
        text_put(out, "%", 1);
    }
    for (size_t i = 0; i < length; ++i) {
        if (is_file_char(bytes[i], i == 0)) {
            text_put(out, &bytes[i], 1);
        } else {
            text_add(out, "%%%02X", (unsigned)(unsigned char)bytes[i]);
        }
    }
}

static void put_title(struct text *out, const struct history_series *s) {
    char digest[SHA256_TEXT];
    put_encoded(out, s->name, s->name_length);
    if (*s->set) {
        text_put(out, "@", 1);
        put_encoded(out, s->set, strlen(s->set));
    }
    if (s->gpu) {
        text_put(out, "+gpu", 4);
    }
    if (out->length > TITLE_BYTES) {
        sha256_text(digest, out->data, out->length);
        out->length = TITLE_KEPT;
        text_add(out, "~%.*s", TITLE_DIGEST, digest);
    }
}

static int make_titles(struct history *h) {
    for (uint32_t i = 0; i < h->count; ++i) {
        struct history_series *s = &h->series[i];
        struct text title;
        text_start(&title);
        put_title(&title, s);
        if (!title.failed) {
            s->title = scratch_text(&h->memory, title.data, title.length);
        }
        text_free(&title);
        if (!s->title) {
            return -1;
        }
    }
    return 0;
}

static int is_title_before(const void *what, uint32_t a, uint32_t b) {
    const struct history *h = what;
    return strcmp(h->series[a].title, h->series[b].title) < 0;
}

/* ---- A CSV file. */

struct series_of {
    const struct history *h;
    const struct history_series *s;
};

static void put_utc(struct sink *out, uint64_t ns) {
    struct tm utc;
    char day[40] = "1970-01-01T00:00:00";
    time_t seconds = (time_t)(ns / 1000000000u);
    if (gmtime_r(&seconds, &utc)) {
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    }
    export_add(out, "%s.%06uZ", day, (unsigned)(ns % 1000000000u / 1000u));
}

static void put_history_row(struct sink *out, const struct history_run *run,
                            const struct history_value *value, uint32_t known) {
    put_utc(out, run->start_ns);
    sink_text(out, ",");
    export_csv_cell(out, export_text(run->label));
    sink_text(out, ",");
    export_csv_cell(out, export_text(run->machine));
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        if (known & 1u << i) {
            sink_text(out, ",");
            sink_u128(out, value->number[i]);
        }
    }
    sink_text(out, "\r\n");
}

static int put_series(struct sink *out, void *what) {
    const struct series_of *of = what;
    sink_text(out, "time,label,machine");
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        if (of->s->known & 1u << i) {
            export_add(out, ",%s", history_columns[i].key);
        }
    }
    sink_text(out, "\r\n");
    for (uint32_t i = 0; i < of->s->count; ++i) {
        const struct history_value *value = &of->s->value[i];
        put_history_row(out, &of->h->run[value->run], value, of->s->known);
    }
    return 0;
}

/* ---- otava.yaml. */

struct ordered {
    const struct history *h;
    const uint32_t *order;
};

static void put_metric(struct sink *out, const struct history_column *c) {
    export_add(out, "      %s: {direction: -1}\n", c->key);
}

/* One of the numbers that all series have, and one for each of the others. */
static void put_templates(struct sink *out) {
    sink_text(out, "# Made by stint export --to history; the files are found from this folder:\n"
                   "# otava analyze --config-file otava.yaml @all\n"
                   "templates:\n"
                   "  times:\n"
                   "    type: csv\n"
                   "    time_column: time\n"
                   "    attributes: [label, machine]\n"
                   "    metrics:\n");
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        if (history_columns[i].kind == HISTORY_TIME) {
            put_metric(out, &history_columns[i]);
        }
    }
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        if (history_columns[i].kind == HISTORY_SOME) {
            export_add(out, "  %s:\n    metrics:\n", history_columns[i].name);
            put_metric(out, &history_columns[i]);
        }
    }
    sink_text(out, "tests:\n");
}

static void put_inherit(struct sink *out, const struct history_series *s) {
    sink_text(out, "\":\n    inherit: [times");
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        if (history_columns[i].kind == HISTORY_SOME && s->known & 1u << i) {
            export_add(out, ", %s", history_columns[i].name);
        }
    }
    sink_text(out, "]\n");
}

/* The titles have no character that is special in a quoted text. */
static int put_otava(struct sink *out, void *what) {
    const struct ordered *all = what;
    put_templates(out);
    for (uint32_t i = 0; i < all->h->count; ++i) {
        const struct history_series *s = &all->h->series[all->order[i]];
        export_add(out, "  \"%s", s->title);
        put_inherit(out, s);
        export_add(out, "    file: \"%s.csv\"\n", s->title);
    }
    sink_text(out, "test_groups:\n  \"@all\":\n");
    for (uint32_t i = 0; i < all->h->count; ++i) {
        export_add(out, "    - \"%s\"\n", all->h->series[all->order[i]].title);
    }
    return 0;
}

/* ---- The folder. */

static int refuse_to_write(const char *folder, const char *why) {
    log_error("cannot write into %.500s: %s", folder, why);
    return COMMAND_FAILED;
}

static int make_history_folder(const char *folder) {
    struct stat s;
    if (!mkdir(folder, 0777)) {
        return 0;
    }
    if (errno != EEXIST) {
        return refuse_to_write(folder, error_text(errno));
    }
    if (stat(folder, &s) || !S_ISDIR(s.st_mode)) {
        return refuse_to_write(folder, "it exists and is not a folder");
    }
    return 0;
}

static int write_into(const char *folder, const char *name, const char *suffix, target_putter *put,
                      void *what) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix) >= (int)sizeof path) {
        return refuse_to_write(folder, error_text(ENAMETOOLONG));
    }
    return export_target_write(path, REPLACE_WHOLE, put, what, path);
}

int history_write(struct history *h, const char *folder) {
    const uint32_t *order = NULL;
    if (!make_titles(h)) {
        order = order_by(&h->memory, h->count, is_title_before, h);
    }
    if (!order) {
        return command_lack_memory("export", COMMAND_FAILED);
    }
    if (make_history_folder(folder)) {
        return COMMAND_FAILED;
    }
    for (uint32_t i = 0; i < h->count; ++i) {
        struct series_of of = {h, &h->series[order[i]]};
        int status = write_into(folder, of.s->title, ".csv", put_series, &of);
        if (status != COMMAND_GOOD) {
            return status;
        }
    }
    struct ordered all = {h, order};
    return write_into(folder, "otava", ".yaml", put_otava, &all);
}
