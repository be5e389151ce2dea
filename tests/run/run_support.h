/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder to put run files in, children that write them, and what is in them afterwards. The
 * parent of a case records nothing itself.
 */
#ifndef STINT_TESTS_RUN_SUPPORT_H
#define STINT_TESTS_RUN_SUPPORT_H

#include <dirent.h>
#include <sys/stat.h>

#include "support.h"
#include "traced.h"

#define RUN static inline __attribute__((unused))

static char run_folder[64];
static pid_t run_folder_owner;

RUN void run_folder_drop(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", run_folder);
    CHECK(getpid() != run_folder_owner || !system(command));
}

/* The folder is removed at the end of the case, or where the case makes the next one. */
RUN void run_folder_make(void) {
    if (run_folder_owner) {
        run_folder_drop();
    } else {
        atexit(run_folder_drop);
    }
    run_folder_owner = getpid();
    strcpy(run_folder, "/tmp/stint-run-XXXXXX");
    CHECK(mkdtemp(run_folder) != NULL);
}

/* The path of a file in the folder; the text lives until the eighth call after it. */
RUN const char *run_path(const char *name) {
    static char paths[8][400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", run_folder, name);
    return path;
}

/* Entries of the folder, or those with that text in their name. */
RUN unsigned run_entries(const char *text) {
    unsigned n = 0;
    DIR *d = opendir(run_folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        n +=
            strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && (!text || strstr(e->d_name, text));
    }
    if (d) {
        closedir(d);
    }
    return n;
}

/* Makes the folder, for programs whose run file has that name in it. */
RUN void run_begin(const char *file) {
    run_folder_make();
    setenv("STINT_FILE", run_path(file), 1);
}

/* Writes count names, each once. */
RUN void run_names(unsigned count) {
    char name[32];
    for (unsigned i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "name %u", i);
        timed(name, 1);
    }
}

/* ---- Children. */

RUN pid_t run_start(void (*body)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        alarm(harness_child_seconds());
        body();
        exit(0); /* with all that an end brings */
    }
    CHECK(child > 0);
    return child;
}

RUN int run_wait(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

RUN void run_body(void (*body)(void)) {
    CHECK_EQ_U64((uint64_t)run_wait(run_start(body)), 0);
}

RUN void run_call(void *body) {
    ((void (*)(void))(uintptr_t)body)();
}

RUN void run_captured_body(void *body) {
    run_body((void (*)(void))(uintptr_t)body);
}

/* The output on stderr of a child that ends well. */
RUN char *run_said(void (*body)(void)) {
    return harness_capture(2, run_captured_body, (void *)(uintptr_t)body);
}

/* Checks that a child ends well and writes so many lines, with both texts in them. */
RUN void run_says(void (*body)(void), unsigned lines, const char *text, const char *more) {
    char *said = run_said(body);
    CHECK_EQ_U64(lines_of(said), lines);
    CHECK_CONTAINS(said, text);
    CHECK_CONTAINS(said, more);
}

RUN void run_silent(void (*body)(void)) {
    CHECK_STR_EQ(run_said(body), "");
}

/* ---- What is in a file. */

struct run_file {
    char *bytes;
    uint64_t size; /* in use */
    struct traced t;
};

RUN const struct arena_header *run_header(const struct run_file *f) {
    return (const struct arena_header *)(const void *)f->bytes;
}

/* 0, or -1 when there is none. */
RUN int run_load(struct run_file *out, const char *path) {
    struct stat s;
    memset(out, 0, sizeof *out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) || s.st_size < (off_t)sizeof(struct arena_header)) {
        return -1;
    }
    struct arena_header h;
    CHECK(pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    out->size = h.used < (uint64_t)s.st_size ? h.used : (uint64_t)s.st_size;
    out->bytes = (char *)aligned_alloc(STINT_IMPL_UNIT, (out->size + 63) / 64 * 64);
    for (uint64_t at = 0; at < out->size;) {
        ssize_t n = pread(fd, out->bytes + at, out->size - at, (off_t)at);
        if (n <= 0) {
            break;
        }
        at += (uint64_t)n;
    }
    close(fd);
    struct clock_stamp now = h.end.ticks ? h.end : h.start;
    if (snapshot_read(&out->t.s, out->bytes, out->size, h.process_start_ns, &now)) {
        free(out->bytes);
        return -1;
    }
    CHECK(!traced_read(&out->t));
    return 0;
}

RUN void run_unload(struct run_file *f) {
    snapshot_free(&f->t.s);
    free(f->bytes);
}

/* The file there, which must be a run file; until the next call. */
RUN const struct run_file *run_loaded(const char *path) {
    static struct run_file f;
    run_unload(&f);
    CHECK(!run_load(&f, path));
    return &f;
}

RUN uint64_t run_calls(const struct run_file *f, const char *name) {
    uint64_t calls = 0;
    for (uint32_t i = 0; i < f->t.s.node_count; ++i) {
        const struct snapshot_node *n = &f->t.s.nodes[i];
        calls += n->site && !strcmp(f->t.s.sites[n->site].name, name) ? n->count : 0;
    }
    return calls;
}

/* Calls of that name in the file of that name. */
RUN uint64_t run_calls_in(const char *file, const char *name) {
    struct run_file f;
    if (!CHECK(!run_load(&f, run_path(file)))) {
        return 0;
    }
    uint64_t calls = run_calls(&f, name);
    run_unload(&f);
    return calls;
}

/* Calls of that name over all files of the folder, and in those whose program said that it ended;
 * files with such calls; files whose parent is init. */
struct run_sum {
    uint64_t calls, ended, files, orphans;
};

RUN struct run_sum run_sum(const char *name) {
    struct run_sum sum = {0, 0, 0, 0};
    DIR *d = opendir(run_folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct run_file f;
        int is_published = *e->d_name != '.' && !strstr(e->d_name, ".tmp");
        if (is_published && CHECK(!run_load(&f, run_path(e->d_name)))) {
            uint64_t calls = run_calls(&f, name);
            sum.calls += calls;
            sum.ended += run_header(&f)->end.ticks ? calls : 0;
            sum.files += calls != 0;
            sum.orphans += run_header(&f)->parent_pid == 1;
            run_unload(&f);
        }
    }
    if (d) {
        closedir(d);
    }
    return sum;
}

#endif
