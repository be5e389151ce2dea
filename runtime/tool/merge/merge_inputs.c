/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the files of a merge. In a folder a file counts if it begins as a run file does; other
 * files there are not mentioned, nor is the file that is written, which a merge of the same folder
 * before this one left there. Of each file only the header is read: the run itself is checked when
 * it is opened. cmd_merge.c calls.
 */
#include "merge_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/log.h"
#include "base/order.h"

#define INPUTS_FIRST 64u
#define TEMPORARY ".tmp" /* the end of the name of a file that is being made */

static int fail_inputs(void) {
    log_error("merge: not enough memory");
    return -1;
}

void merge_inputs_leave_out(struct merge_inputs *in, const char *path, const char *why) {
    log_error("%.500s: %s; left out", path, why);
    ++in->left_out;
}

void merge_inputs_free(struct merge_inputs *in) {
    scratch_free(&in->memory);
}

/* ---- The list. */

static const struct merge_input *find_input(const struct merge_inputs *in, uint32_t hash,
                                            const struct stat *s) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(&in->known, hash, &walk);
    while (i != HASH_MAP_NONE &&
           (in->input[i].device != s->st_dev || in->input[i].inode != s->st_ino)) {
        i = hash_map_next(&in->known, &walk);
    }
    return i == HASH_MAP_NONE ? NULL : &in->input[i];
}

static int inputs_make_room(struct merge_inputs *in) {
    if (in->count < in->room) {
        return 0;
    }
    uint32_t room = in->room ? 2 * in->room : INPUTS_FIRST;
    struct merge_input *more = scratch_array(&in->memory, room, sizeof *more);
    if (!more) {
        return -1;
    }
    if (in->count) {
        memcpy(more, in->input, in->count * sizeof *more);
    }
    in->input = more;
    in->room = room;
    return 0;
}

/* A header that is not one of a run file is refused when the file is opened. */
static void read_input(struct merge_input *to, int fd, const struct stat *s) {
    struct arena_header h;
    to->start_ns = UINT64_MAX;
    to->bytes = (uint64_t)s->st_size;
    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        memcmp(h.magic, ARENA_MAGIC, sizeof h.magic)) {
        return;
    }
    to->start_ns = h.start.real_ns;
    to->rank = h.about.rank;
    to->pid = h.pid;
    to->clock_kind = h.clock_kind;
    memcpy(to->boot_id, h.boot_id, sizeof to->boot_id);
    if (h.end.ticks) { /* the rest of the file is a hole */
        to->bytes = u64_min(to->bytes, h.used);
    }
}

static char *copy_path(struct merge_inputs *in, const char *folder, const char *name) {
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = scratch_get(&in->memory, bytes);
    if (path && *folder) {
        snprintf(path, bytes, "%s/%s", folder, name);
    } else if (path) {
        snprintf(path, bytes, "%s", name);
    }
    return path;
}

/* Adds an open file. -1 after one line. */
static int add_input(struct merge_inputs *in, const char *path, int fd, const struct stat *s) {
    uint64_t device = hash_number((uint64_t)s->st_dev);
    uint32_t hash = (uint32_t)hash_add(device, (uint64_t)s->st_ino);
    const struct merge_input *same = find_input(in, hash, s);
    if (same) {
        char why[600];
        snprintf(why, sizeof why, "the same file as %.500s", same->path);
        merge_inputs_leave_out(in, path, why);
        return 0;
    }
    if (inputs_make_room(in) || hash_map_add(&in->known, hash, in->count)) {
        return fail_inputs();
    }
    struct merge_input *to = &in->input[in->count++];
    *to = (struct merge_input){.path = path, .device = s->st_dev, .inode = s->st_ino};
    read_input(to, fd, s);
    return 0;
}

static int is_output(const struct merge_inputs *in, const struct stat *s) {
    return in->has_out && in->out.st_dev == s->st_dev && in->out.st_ino == s->st_ino;
}

/* ---- Folders. */

static int starts_as_run_file(int fd) {
    char magic[sizeof((struct arena_header *)0)->magic];
    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           !memcmp(magic, ARENA_MAGIC, sizeof magic);
}

/* Whether a process was killed before the file got its name. */
static int is_half_written(const char *name) {
    size_t length = strlen(name), end = sizeof TEMPORARY - 1;
    return length > end && !strcmp(name + length - end, TEMPORARY);
}

static int take_from_folder(struct merge_inputs *in, const char *path) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), failed = 0;
    if (fd < 0) {
        merge_inputs_leave_out(in, path, error_text(errno));
        return 0;
    }
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && !is_output(in, &s) && starts_as_run_file(fd)) {
        if (is_half_written(path)) {
            merge_inputs_leave_out(in, path, "half-written: its program has not begun to record");
        } else {
            failed = add_input(in, path, fd, &s);
        }
    }
    close(fd);
    return failed;
}

struct names {
    char **name;
    uint32_t count;
};

static int is_name_before(const void *what, uint32_t a, uint32_t b) {
    const struct names *names = what;
    return strcmp(names->name[a], names->name[b]) < 0;
}

/* The names in a folder; -1 after one line. */
static int list_names(struct merge_inputs *in, const char *path, DIR *folder, struct names *names) {
    uint32_t room = 0;
    const struct dirent *entry;
    memset(names, 0, sizeof *names);
    while ((entry = readdir(folder))) {
        if (names->count == room) {
            room = room ? 2 * room : INPUTS_FIRST;
            char **more = scratch_array(&in->memory, room, sizeof *more);
            if (!more) {
                return fail_inputs();
            }
            if (names->count) {
                memcpy(more, names->name, names->count * sizeof *more);
            }
            names->name = more;
        }
        char *name = copy_path(in, path, entry->d_name);
        if (!name) {
            return fail_inputs();
        }
        if (entry->d_type != DT_DIR) {
            names->name[names->count++] = name;
        }
    }
    return 0;
}

static int take_folder(struct merge_inputs *in, const char *path) {
    struct names names;
    DIR *folder = opendir(path);
    if (!folder) {
        merge_inputs_leave_out(in, path, error_text(errno));
        return 0;
    }
    int failed = list_names(in, path, folder, &names);
    closedir(folder);
    if (failed) {
        return -1;
    }
    const uint32_t *order = order_by(&in->memory, names.count, is_name_before, &names);
    if (!order) {
        return fail_inputs();
    }
    for (uint32_t i = 0; i < names.count; ++i) {
        if (take_from_folder(in, names.name[order[i]])) {
            return -1;
        }
    }
    return 0;
}

/* ---- The command line. */

static int take_path(struct merge_inputs *in, const char *out, const char *path) {
    struct stat s;
    if (stat(path, &s)) {
        merge_inputs_leave_out(in, path, error_text(errno));
        return 0;
    }
    if (S_ISDIR(s.st_mode)) {
        return take_folder(in, path);
    }
    if (is_output(in, &s)) {
        log_error("merge: -o %.500s: the same file as the input %.500s; nothing was merged", out,
                  path);
        return -1;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        merge_inputs_leave_out(in, path, error_text(errno));
        return 0;
    }
    int failed = add_input(in, path, fd, &s);
    close(fd);
    return failed;
}

int merge_inputs_take(struct merge_inputs *in, const char *out, int count, char **paths) {
    memset(in, 0, sizeof *in);
    in->has_out = !stat(out, &in->out);
    if (hash_map_start(&in->known, &in->memory, 0)) {
        return fail_inputs();
    }
    for (int i = 0; i < count; ++i) {
        if (take_path(in, out, paths[i])) {
            return -1;
        }
    }
    return 0;
}

static int is_input_before(const void *what, uint32_t a, uint32_t b) {
    const struct merge_inputs *in = what;
    const struct merge_input *one = &in->input[a], *other = &in->input[b];
    if (one->start_ns != other->start_ns) {
        return one->start_ns < other->start_ns;
    }
    if (one->rank != other->rank) {
        return one->rank < other->rank;
    }
    if (one->pid != other->pid) {
        return one->pid < other->pid;
    }
    return strcmp(one->path, other->path) < 0;
}

const uint32_t *merge_inputs_by_start(struct merge_inputs *in) {
    return order_by(&in->memory, in->count, is_input_before, in);
}

int merge_inputs_several_clocks(const struct merge_inputs *in) {
    for (uint32_t i = 1; i < in->count; ++i) {
        const struct merge_input *first = &in->input[0], *other = &in->input[i];
        if (first->clock_kind != other->clock_kind ||
            memcmp(first->boot_id, other->boot_id, sizeof first->boot_id)) {
            return 1;
        }
    }
    return 0;
}

uint64_t merge_inputs_bytes(const struct merge_inputs *in) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        bytes = saturating_add(bytes, in->input[i].bytes + sizeof(struct arena_header));
    }
    return bytes;
}

uint64_t merge_inputs_growth(const struct merge_inputs *in) {
    const uint64_t cells = (uint64_t)in->count * sizeof(struct arena_rank_cell);
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        nodes = saturating_add(nodes, in->input[i].bytes / sizeof(struct stint_impl_node));
    }
    return saturating_multiply(nodes, sizeof(struct stint_impl_histogram) + cells);
}
