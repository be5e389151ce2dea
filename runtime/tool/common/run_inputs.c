/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the run files that a command line names. In a folder a file counts if it begins as a run
 * file does, or if its name ends in .stint; other files there are not mentioned, nor is the file
 * that is written, which the same command left there before. Of each file only the header is read:
 * the run itself is checked when it is opened. The commands merge and export call.
 */
#include "run_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/order.h"
#include "command.h"
#include "runfile/run_open.h"
#include "system/log.h"
#include "system/replace_file.h"

#define SUFFIX ".stint"

void run_inputs_leave_out(struct run_inputs *in, const char *path, const char *why) {
    log_error("%.500s: %s; left out", path, why);
    ++in->left_out;
}

/* Names an input that cannot be read and leaves it out, but not for a shortage of this process,
 * which is none of the input's: then -1. */
static int leave_out_for(struct run_inputs *in, const char *path, int error) {
    if (error_is_shortage(error)) {
        log_error("%.500s: %s", path, error_text(error));
        return -1;
    }
    run_inputs_leave_out(in, path, error_text(error));
    return 0;
}

void run_inputs_free(struct run_inputs *in) {
    scratch_free(&in->memory);
}

/* ---- The list. */

static const struct run_input *find_input(const struct run_inputs *in, uint32_t hash,
                                          const struct stat *s) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(&in->known, hash, &walk);
    while (i != HASH_MAP_NONE &&
           (in->input[i].device != s->st_dev || in->input[i].inode != s->st_ino)) {
        i = hash_map_next(&in->known, &walk);
    }
    return i == HASH_MAP_NONE ? NULL : &in->input[i];
}

/* A header that is not one of a run file is refused when the file is opened. */
static void read_input(struct run_input *to, int fd, const struct stat *s) {
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
    to->parent_pid = h.parent_pid;
    to->clock_kind = h.clock_kind;
    memcpy(to->boot_id, h.boot_id, sizeof to->boot_id);
    if (h.end.ticks) { /* the rest of the file is a hole */
        to->bytes = u64_min(to->bytes, h.used);
    }
}

static char *copy_path(struct run_inputs *in, const char *folder, const char *name) {
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
static int add_input(struct run_inputs *in, const char *path, int fd, const struct stat *s) {
    uint64_t device = hash_number((uint64_t)s->st_dev);
    uint32_t hash = (uint32_t)hash_add(device, (uint64_t)s->st_ino);
    const struct run_input *same = find_input(in, hash, s);
    if (same) {
        char why[600];
        snprintf(why, sizeof why, "the same file as %.500s", same->path);
        run_inputs_leave_out(in, path, why);
        return 0;
    }
    in->input = scratch_array_grow(&in->memory, in->input, in->count, &in->room, sizeof *in->input);
    if (scratch_failed(&in->memory) || hash_map_add(&in->known, hash, in->count)) {
        return command_lack_memory(in->command, -1);
    }
    struct run_input *to = &in->input[in->count++];
    *to = (struct run_input){.path = path, .device = s->st_dev, .inode = s->st_ino};
    read_input(to, fd, s);
    return 0;
}

static int is_output(const struct run_inputs *in, const struct stat *s) {
    return in->has_out && in->out.st_dev == s->st_dev && in->out.st_ino == s->st_ino;
}

/* ---- Folders. */

int name_ends_in(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && !strcmp(name + length - end, suffix);
}

static int take_from_folder(struct run_inputs *in, const char *path) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), failed = 0;
    if (fd < 0) {
        return leave_out_for(in, path, errno);
    }
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && !is_output(in, &s) &&
        (replace_file_is_run(fd) || name_ends_in(path, SUFFIX))) {
        /* The process was killed before the file got its name. */
        if (name_ends_in(path, RUN_UNFINISHED)) {
            run_inputs_leave_out(in, path, "half-written: its program has not begun to record");
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
static int list_names(struct run_inputs *in, const char *path, DIR *folder, struct names *names) {
    uint32_t room = 0;
    const struct dirent *entry;
    memset(names, 0, sizeof *names);
    while ((entry = readdir(folder))) {
        char *name = copy_path(in, path, entry->d_name);
        names->name =
            scratch_array_grow(&in->memory, names->name, names->count, &room, sizeof *names->name);
        if (scratch_failed(&in->memory)) {
            return command_lack_memory(in->command, -1);
        }
        if (entry->d_type != DT_DIR) {
            names->name[names->count++] = name;
        }
    }
    return 0;
}

static int take_folder(struct run_inputs *in, const char *path) {
    struct names names;
    DIR *folder = opendir(path);
    if (!folder) {
        return leave_out_for(in, path, errno);
    }
    int failed = list_names(in, path, folder, &names);
    closedir(folder);
    if (failed) {
        return -1;
    }
    const uint32_t *order = order_by(&in->memory, names.count, is_name_before, &names);
    if (scratch_failed(&in->memory)) {
        return command_lack_memory(in->command, -1);
    }
    for (uint32_t i = 0; i < names.count; ++i) {
        if (take_from_folder(in, names.name[order[i]])) {
            return -1;
        }
    }
    return 0;
}

/* ---- The command line. */

static int take_path(struct run_inputs *in, const char *out, const char *path) {
    struct stat s;
    if (stat(path, &s)) {
        return leave_out_for(in, path, errno);
    }
    if (S_ISDIR(s.st_mode)) {
        return take_folder(in, path);
    }
    if (is_output(in, &s)) {
        log_error("%s: -o %.500s: the same file as the input %.500s; nothing was written",
                  in->command, out, path);
        return -1;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return leave_out_for(in, path, errno);
    }
    int failed = add_input(in, path, fd, &s);
    close(fd);
    return failed;
}

int run_inputs_take(struct run_inputs *in, const char *command, const char *out, int count,
                    char **paths) {
    memset(in, 0, sizeof *in);
    in->command = command;
    in->has_out = out && !stat(out, &in->out);
    if (hash_map_start(&in->known, &in->memory, 0)) {
        return command_lack_memory(in->command, -1);
    }
    for (int i = 0; i < count; ++i) {
        if (take_path(in, out, paths[i])) {
            return -1;
        }
    }
    return 0;
}

static int is_input_before(const void *what, uint32_t a, uint32_t b) {
    const struct run_inputs *in = what;
    const struct run_input *one = &in->input[a], *other = &in->input[b];
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

const uint32_t *run_inputs_by_start(struct run_inputs *in) {
    return order_by(&in->memory, in->count, is_input_before, in);
}

/* ---- The runs. */

int run_inputs_open(struct run_inputs *in, struct run *r, const char *path) {
    int failed = run_open(r, path);
    if (failed) {
        in->left_out += failed == RUN_REFUSED;
        return failed;
    }
    if (*r->warning) {
        run_inputs_leave_out(in, path, r->warning);
        run_close(r);
        return RUN_REFUSED;
    }
    return 0;
}
