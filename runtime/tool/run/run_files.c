/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run files of `stint run`: where the program and the processes it starts write them, and which
 * ones there are at the end. cmd_run.c makes a place before it starts the program, lists the files
 * after, and leaves the place.
 */
#include "run_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/error_text.h"
#include "system/log.h"

static int refuse_long_path(const char *path) {
    log_error("%.500s: %s", path, error_text(ENAMETOOLONG));
    return -1;
}

int run_folder_make(char *template) {
    return mkdtemp(template) && !chmod(template, 0700) ? 0 : -1;
}

/* Memory first: a run file may be as large as STINT_MEMORY. */
static int make_folder(struct run_place *p) {
    const char *const places[] = {"/dev/shm", getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        if (!places[i] || !*places[i]) {
            continue;
        }
        int n = snprintf(p->folder, sizeof p->folder, "%s/stint-XXXXXX", places[i]);
        if (n > 0 && (size_t)n < sizeof p->folder && !run_folder_make(p->folder)) {
            return 0;
        }
    }
    p->folder[0] = '\0';
    log_error("no folder for the run (/dev/shm, XDG_RUNTIME_DIR, TMPDIR): give --file FILE");
    return -1;
}

/* A % in the folder's name is doubled, so that the pattern does not replace it. */
static int make_pattern(struct run_place *p, const char *folder, const char *name) {
    size_t at = 0;
    for (; *folder && at + 2 < sizeof p->pattern; ++folder) {
        p->pattern[at++] = *folder;
        if (*folder == '%') {
            p->pattern[at++] = '%';
        }
    }
    int n = snprintf(p->pattern + at, sizeof p->pattern - at, "/%s", name);
    if (*folder || n < 0 || (size_t)n >= sizeof p->pattern - at) {
        return refuse_long_path(name);
    }
    return 0;
}

int run_place_make(struct run_place *out, const char *file) {
    struct timespec now;
    char here[PATH_MAX];
    memset(out, 0, sizeof *out);
    clock_gettime(CLOCK_REALTIME, &now);
    out->since_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (!file) {
        if (make_folder(out)) {
            return -1;
        }
        return make_pattern(out, out->folder, "run-%p.stint");
    }
    if (*file == '/') {
        return make_pattern(out, "", file + 1);
    }
    if (!getcwd(here, sizeof here)) { /* the program may change its directory */
        log_error("--file %.500s: %s", file, error_text(errno));
        return -1;
    }
    return make_pattern(out, here, file);
}

/* ---- The files at the end. */

/* The pattern's last part for fnmatch: anything for %p and the like, and anything after it. */
static int make_glob(char *out, size_t size, const char *name) {
    size_t at = 0;
    for (; *name && at + 3 < size; ++name) {
        if (*name == '%' && name[1] && name[1] != '%') {
            out[at++] = '*';
            ++name;
            continue;
        }
        name += *name == '%' && name[1] == '%';
        if (strchr("*?[\\", *name)) {
            out[at++] = '\\';
        }
        out[at++] = *name;
    }
    out[at] = '*';
    out[at + 1] = '\0';
    return *name ? -1 : 0;
}

/* The time of a run's start and its process; 0 if this is not a run file. */
static uint64_t read_start_time(const char *path, uint32_t *pid) {
    struct arena_header h;
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *pid = 0;
    if (fd < 0) {
        return 0;
    }
    int is_run_file = !fstat(fd, &s) && S_ISREG(s.st_mode) &&
                      pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                      !memcmp(h.magic, ARENA_MAGIC, sizeof h.magic);
    close(fd);
    if (!is_run_file) {
        return 0;
    }
    *pid = h.pid;
    return h.start.real_ns;
}

static int files_add(struct run_files *f, const char *path) {
    char **more = realloc(f->path, (f->count + 1) * sizeof *more);
    if (!more) {
        return -1;
    }
    f->path = more;
    f->path[f->count] = strdup(path);
    if (!f->path[f->count]) {
        return -1;
    }
    ++f->count;
    return 0;
}

static int compare_starts(const void *left, const void *right) {
    const char *const *a = left, *const *b = right;
    uint32_t pid;
    uint64_t at = read_start_time(*a, &pid), bt = read_start_time(*b, &pid);
    if (at != bt) {
        return (at > bt) - (at < bt);
    }
    return strcmp(*a, *b);
}

static int list_folder(struct run_files *out, DIR *folder, const char *prefix, const char *glob,
                       uint64_t since) {
    char path[PATH_MAX];
    struct dirent *e;
    uint32_t pid;
    while ((e = readdir(folder))) {
        int n = snprintf(path, sizeof path, "%s%s", prefix, e->d_name);
        if (n > 0 && (size_t)n < sizeof path && !fnmatch(glob, e->d_name, 0) &&
            read_start_time(path, &pid) >= since && files_add(out, path)) {
            return -1;
        }
    }
    return 0;
}

/* The pattern's folder with its slash. %p and the like in it are not replaced. */
static void copy_folder(char out[PATH_MAX], const char *pattern, const char *name) {
    size_t at = 0;
    for (; pattern < name; ++pattern) {
        out[at++] = *pattern;
        pattern += *pattern == '%' && pattern[1] == '%';
    }
    out[at] = '\0';
}

int run_files_list(struct run_files *out, const struct run_place *place) {
    char prefix[PATH_MAX], glob[2 * NAME_MAX];
    const char *name = strrchr(place->pattern, '/') + 1;
    memset(out, 0, sizeof *out);
    copy_folder(prefix, place->pattern, name);
    DIR *folder = opendir(prefix);
    if (!folder || make_glob(glob, sizeof glob, name)) {
        log_error("%.500s: %s", prefix, error_text(folder ? ENAMETOOLONG : errno));
        if (folder) {
            closedir(folder);
        }
        return -1;
    }
    uint64_t since_ns = place->since_ns;
    if (*place->folder) {
        since_ns = 1; /* a new folder: all files are of this run */
    }
    int failed = list_folder(out, folder, prefix, glob, since_ns);
    closedir(folder);
    if (out->count) {
        qsort(out->path, out->count, sizeof *out->path, compare_starts);
    }
    if (failed) {
        log_error("run: not enough memory");
    }
    return failed;
}

size_t run_files_of(const struct run_files *files, uint32_t pid) {
    for (size_t i = 0; i < files->count; ++i) {
        uint32_t writer;
        if (read_start_time(files->path[i], &writer) && writer == pid) {
            return i;
        }
    }
    return 0;
}

/* The last one of the pattern, as run_files_stray. */
static int find_newest_run(char out[PATH_MAX], const char *pattern, uint64_t since_ns) {
    struct run_place place;
    struct run_files files;
    if (run_place_make(&place, pattern)) {
        return -1;
    }
    place.since_ns = since_ns;
    int failed = run_files_list(&files, &place);
    int found = !failed && files.count;
    if (found) {
        snprintf(out, PATH_MAX, "%s", files.path[files.count - 1]);
    }
    run_files_free(&files);
    return failed ? -1 : found;
}

int run_files_stray(char out[PATH_MAX], char **argv, uint64_t since_ns) {
    static const char setting[] = "STINT_FILE=";
    int found = 0;
    for (; *argv && !found; ++argv) {
        char pattern[PATH_MAX];
        const char *value = strstr(*argv, setting);
        if (!value) {
            continue;
        }
        value += sizeof setting - 1;
        value += *value == '\'' || *value == '"'; /* it may be a line for a shell */
        size_t n = strcspn(value, " \t\n;&|'\"");
        if (n && n < sizeof pattern) {
            memcpy(pattern, value, n);
            pattern[n] = '\0';
            found = find_newest_run(out, pattern, since_ns);
        }
    }
    return found ? found : find_newest_run(out, "%p", since_ns);
}

void run_place_leave(const struct run_place *place, const struct run_files *files, int kept) {
    if (!*place->folder || kept) {
        return;
    }
    for (size_t i = 0; i < files->count; ++i) {
        unlink(files->path[i]);
    }
    if (rmdir(place->folder) && errno == ENOTEMPTY) {
        log_warning("%.500s is not removed: it has other files", place->folder);
    }
}

void run_files_free(struct run_files *files) {
    for (size_t i = 0; i < files->count; ++i) {
        free(files->path[i]);
    }
    free(files->path);
    memset(files, 0, sizeof *files);
}
