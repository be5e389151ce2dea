/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <errno.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/scratch.h"
#include "base/write_all.h"
#include "system/log.h"

#define TEXT_CHUNK ((uint64_t)4096)
#define COMMIT_STEP ((uint64_t)1 << 20)

static int fail_file(struct merge_file *f, const char *why) {
    if (!f->failed) {
        log_error("merge: cannot write %.500s: %s", f->file.path, why);
    }
    f->failed = 1;
    return -1;
}

int merge_file_open(struct merge_file *f, const char *path, uint64_t bytes) {
    memset(f, 0, sizeof *f);
    const char *why = replace_file_open(&f->file, path, REPLACE_NAMED | REPLACE_BY_RUN, 0666);
    if (why) {
        return fail_file(f, why);
    }
    do {
        f->base = pages_reserve(bytes);
    } while (!f->base && (bytes /= 2) >= COMMIT_STEP);
    if (!f->base) {
        return fail_file(f, "not enough memory");
    }
    f->size = bytes;
    merge_file_get(f, sizeof(struct arena_header));
    return f->failed ? -1 : 0;
}

/* Gives the first `end` bytes memory. 0, or -1 without. */
static int commit_up_to(struct merge_file *f, uint64_t end) {
    if (end <= f->committed) {
        return 0;
    }
    uint64_t want = u64_min((end + COMMIT_STEP - 1) / COMMIT_STEP * COMMIT_STEP, f->size);
    if (pages_commit(f->base + f->committed, want - f->committed)) {
        return -1;
    }
    f->committed = want;
    return 0;
}

uint32_t merge_file_get(struct merge_file *f, uint64_t bytes) {
    uint64_t want = (bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    uint64_t at = f->used;
    if (f->failed || want > f->size || at > f->size - want ||
        at / STINT_IMPL_UNIT > UINT32_MAX - 1) {
        fail_file(f, "the runs hold more than their files have room for, or than ulimit -v allows");
        return 0;
    }
    if (commit_up_to(f, at + want)) {
        fail_file(f, "not enough memory");
        return 0;
    }
    f->used += want;
    return (uint32_t)(at / STINT_IMPL_UNIT);
}

void *merge_file_need(struct merge_file *f, uint32_t *unit, uint64_t bytes) {
    if (!*unit) {
        *unit = merge_file_get(f, bytes);
    }
    return *unit ? merge_file_at(f, *unit) : NULL;
}

uint32_t merge_file_put(struct merge_file *f, const void *from, uint64_t bytes) {
    uint32_t unit = merge_file_get(f, bytes);
    if (unit) {
        memcpy(merge_file_at(f, unit), from, bytes);
    }
    return unit;
}

uint32_t merge_file_text(struct merge_file *f, const char *bytes, size_t length) {
    uint64_t want = (sizeof(struct arena_text) + length + 1 + 7) / 8 * 8;
    if (want > f->text_end - f->text_next) {
        uint64_t piece = u64_max(want, TEXT_CHUNK);
        uint32_t unit = merge_file_get(f, piece);
        if (!unit) {
            return 0;
        }
        f->text_next = (uint64_t)unit * STINT_IMPL_UNIT;
        f->text_end = f->text_next + piece;
    }
    if (f->text_next / 8 > UINT32_MAX) {
        fail_file(f, "too many names");
        return 0;
    }
    struct arena_text *t = (struct arena_text *)(void *)(f->base + f->text_next);
    uint32_t text = (uint32_t)(f->text_next / 8);
    t->length = (uint32_t)length;
    memcpy(t->bytes, bytes, length);
    f->text_next += want;
    return text;
}

int merge_file_publish(struct merge_file *f) {
    struct arena_header *h = merge_file_header(f);
    h->size = h->used = f->used;
    if (f->failed) {
        return -1;
    }
    if (write_all(f->file.fd, f->base, f->used, WRITE_WAIT_FOR_EVER) < f->used) {
        return fail_file(f, error_text(errno));
    }
    const char *why = replace_file_commit(&f->file);
    return why ? fail_file(f, why) : 0;
}

void merge_file_close(struct merge_file *f) {
    pages_put(f->base, f->size);
    replace_file_abort(&f->file);
    f->base = NULL;
}
