/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and opens run files again and again, for `stint export --follow` and `stint report
 * --every`. A file is known by device and inode. It stays open, so that the last counts of a
 * program are read even if its file was removed or replaced, and so that its inode is not used for
 * another file. A file that cannot be read is reported once, until it changes.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/scratch.h"
#include "runfile/run_open.h"
#include "tool/common/command.h"
#include "tool/common/run_inputs.h"

static struct watched *find_watched(const struct run_watch *w, const struct stat *s) {
    for (uint32_t i = 0; i < w->runs; ++i) {
        if (w->run[i].device == s->st_dev && w->run[i].inode == s->st_ino) {
            return &w->run[i];
        }
    }
    return NULL;
}

static void watch_add(struct run_watch *w, const char *path, int fd, const struct stat *s) {
    size_t needed = (w->runs + 1) * sizeof *w->run;
    if (needed > w->room) {
        void *more = pages_grow(w->run, w->room, 2 * needed);
        if (more) {
            w->run = more;
            w->room = 2 * needed;
        }
    }
    char *copy = strdup(path);
    if (needed > w->room || !copy) {
        free(copy);
        close(fd);
        w->missed = error_text(ENOMEM);
        return;
    }
    w->run[w->runs++] = (struct watched){
        .path = copy, .fd = fd, .device = s->st_dev, .inode = s->st_ino, .listed = 1};
}

/* Whether the file is one of those that are open. */
static int is_watched(struct run_watch *w, const struct stat *s) {
    struct watched *known = find_watched(w, s);
    if (known) {
        known->listed = 1;
    }
    return known != NULL;
}

/* A file that is not there yet is waited for. */
static void look_at(struct run_watch *w, const char *path) {
    struct stat s;
    if (name_ends_in(path, RUN_UNFINISHED) || stat(path, &s) || is_watched(w, &s)) {
        return;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && error_is_shortage(errno)) {
        w->missed = error_text(errno);
    }
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &s) || !S_ISREG(s.st_mode) || !s.st_size || is_watched(w, &s)) {
        close(fd);
        return;
    }
    watch_add(w, path, fd, &s);
}

static void watched_free(struct run_watch *w, struct watched *f) {
    if (f->state && w->free_state) {
        w->free_state(f->state);
    }
    close(f->fd);
    free(f->path);
}

/* Those without a name, after their end. */
static void drop_unlisted(struct run_watch *w) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->runs; ++i) {
        struct watched *f = &w->run[i];
        if (!f->listed && (f->ended || f->refused)) {
            watched_free(w, f);
        } else {
            w->run[kept++] = *f;
        }
    }
    w->runs = kept;
}

const char *run_watch_look(struct run_watch *w) {
    w->missed = NULL;
    for (uint32_t i = 0; i < w->runs; ++i) {
        w->run[i].listed = 0;
    }
    for (int i = 0; i < w->name_count; ++i) {
        glob_t found;
        int result = glob(w->names[i], GLOB_NOCHECK, NULL, &found);
        if (result == GLOB_NOSPACE) {
            w->missed = error_text(ENOMEM);
        }
        for (size_t k = 0; !result && k < found.gl_pathc; ++k) {
            look_at(w, found.gl_pathv[k]);
        }
        if (!result) {
            globfree(&found);
        }
    }
    drop_unlisted(w);
    return w->missed;
}

static int is_name_current(const struct watched *f) {
    struct stat s;
    return !stat(f->path, &s) && s.st_dev == f->device && s.st_ino == f->inode;
}

/* By its name, for messages, as long as that leads to it; else by the descriptor. */
static int open_watched(struct watched *f, struct run *r) {
    char path[64];
    if (is_name_current(f)) {
        int failed = run_open(r, f->path);
        if (failed || is_name_current(f)) {
            return failed;
        }
        run_close(r);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    int failed = run_open(r, path);
    if (!failed) {
        r->path = f->path;
    }
    return failed;
}

static int is_unchanged(const struct watched *f, const struct stat *s) {
    return f->bytes == s->st_size && f->changed.tv_sec == s->st_mtim.tv_sec &&
           f->changed.tv_nsec == s->st_mtim.tv_nsec;
}

int run_watch_open(struct watched *f, struct run *r) {
    struct stat s;
    if (fstat(f->fd, &s)) {
        return -1;
    }
    if ((f->ended || f->refused) && is_unchanged(f, &s)) {
        return 1;
    }
    int was_ended = f->ended;
    f->changed = s.st_mtim;
    f->bytes = s.st_size;
    f->ended = 0;
    f->refused = open_watched(f, r);
    if (!f->refused && r->state != RUN_LIVE && !was_ended) {
        /* It may have ended after its counts were read and before its state was. */
        run_close(r);
        f->refused = open_watched(f, r);
    }
    if (f->refused) {
        return f->refused;
    }
    f->ended = r->state != RUN_LIVE;
    if (!f->warned && *r->warning) {
        command_warn(r);
        f->warned = 1;
    }
    return 0;
}

static int has_ended_run(const struct run_watch *w, const char *name) {
    struct stat s;
    const struct watched *f = stat(name, &s) ? NULL : find_watched(w, &s);
    return f && (f->ended || f->refused);
}

int run_watch_all_ended(const struct run_watch *w) {
    for (int i = 0; i < w->name_count; ++i) {
        if (strpbrk(w->names[i], "*?[") || (!w->missed && !has_ended_run(w, w->names[i]))) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < w->runs; ++i) {
        if (!w->run[i].ended && !w->run[i].refused) {
            return 0;
        }
    }
    return 1;
}

void run_watch_free(struct run_watch *w) {
    for (uint32_t i = 0; i < w->runs; ++i) {
        watched_free(w, &w->run[i]);
    }
    pages_put(w->run, w->room);
}
