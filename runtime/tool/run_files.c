/* SPDX-License-Identifier: Apache-2.0 */
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
#include "base/log.h"

static int too_long(const char *path) {
    log_line("%.500s: %s", path, strerror(ENAMETOOLONG));
    return -1;
}

/* Memory first: a run file may be as large as STINT_MEMORY. */
static int make_folder(struct run_place *p) {
    const char *const places[] = {"/dev/shm", getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        int n = places[i] && *places[i]
                    ? snprintf(p->folder, sizeof p->folder, "%s/stint-XXXXXX", places[i])
                    : -1;
        if (n > 0 && (size_t)n < sizeof p->folder && mkdtemp(p->folder)) {
            return 0;
        }
    }
    p->folder[0] = '\0';
    log_line("no folder for the run (/dev/shm, XDG_RUNTIME_DIR, TMPDIR): give --file FILE");
    return -1;
}

/* A % of the folder's name is none of the pattern. */
static int make_pattern(struct run_place *p, const char *folder, const char *name) {
    size_t at = 0;
    for (; *folder && at + 2 < sizeof p->pattern; ++folder) {
        p->pattern[at++] = *folder;
        if (*folder == '%') {
            p->pattern[at++] = '%';
        }
    }
    int n = snprintf(p->pattern + at, sizeof p->pattern - at, "/%s", name);
    return *folder || n < 0 || (size_t)n >= sizeof p->pattern - at ? too_long(name) : 0;
}

int run_place_make(struct run_place *out, const char *file) {
    struct timespec now;
    char here[PATH_MAX];
    memset(out, 0, sizeof *out);
    clock_gettime(CLOCK_REALTIME, &now);
    out->since_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (!file) {
        return make_folder(out) ? -1 : make_pattern(out, out->folder, "run-%p.stint");
    }
    if (*file == '/') {
        return make_pattern(out, "", file + 1);
    }
    if (!getcwd(here, sizeof here)) { /* the program may go elsewhere */
        log_line("--file %.500s: %s", file, strerror(errno));
        return -1;
    }
    return make_pattern(out, here, file);
}

/* ---- What is there. */

/* The pattern's last part for fnmatch: %p and the like are anything, and so is what follows. */
static int glob_of(char *out, size_t size, const char *name) {
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

/* When the run began, if this is a run file; 0 if it is not. */
static uint64_t began(const char *path, uint32_t *pid) {
    struct arena_header h;
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int yes = fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) &&
              pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
              !memcmp(h.magic, ARENA_MAGIC, sizeof h.magic);
    if (fd >= 0) {
        close(fd);
    }
    *pid = yes ? h.pid : 0;
    return yes ? h.start.real_ns : 0;
}

static int add(struct run_files *f, const char *path) {
    char **more = realloc(f->path, (f->count + 1) * sizeof *more);
    if (!more) {
        return -1;
    }
    f->path = more;
    f->path[f->count] = strdup(path);
    return f->path[f->count] ? (++f->count, 0) : -1;
}

static int earlier(const void *left, const void *right) {
    const char *const *a = left, *const *b = right;
    uint32_t pid;
    uint64_t at = began(*a, &pid), bt = began(*b, &pid);
    return at < bt ? -1 : at > bt ? 1 : strcmp(*a, *b);
}

static int list_folder(struct run_files *out, DIR *folder, const char *prefix, const char *glob,
                       uint64_t since) {
    char path[PATH_MAX];
    struct dirent *e;
    uint32_t pid;
    while ((e = readdir(folder))) {
        int n = snprintf(path, sizeof path, "%s%s", prefix, e->d_name);
        if (n > 0 && (size_t)n < sizeof path && !fnmatch(glob, e->d_name, 0) &&
            began(path, &pid) >= since && add(out, path)) {
            return -1;
        }
    }
    return 0;
}

/* The pattern's folder with its slash; one that the program's name or number is part of is not
 * looked for. */
static void folder_of(char out[PATH_MAX], const char *pattern, const char *name) {
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
    folder_of(prefix, place->pattern, name);
    DIR *folder = opendir(prefix);
    if (!folder || glob_of(glob, sizeof glob, name)) {
        log_line("%.500s: %s", prefix, strerror(folder ? ENAMETOOLONG : errno));
        if (folder) {
            closedir(folder);
        }
        return -1;
    }
    int failed = list_folder(out, folder, prefix, glob, *place->folder ? 1 : place->since_ns);
    closedir(folder);
    if (out->count) {
        qsort(out->path, out->count, sizeof *out->path, earlier);
    }
    if (failed) {
        log_line("no memory");
    }
    return failed;
}

size_t run_files_of(const struct run_files *files, uint32_t pid) {
    for (size_t i = 0; i < files->count; ++i) {
        uint32_t writer;
        if (began(files->path[i], &writer) && writer == pid) {
            return i;
        }
    }
    return 0;
}

void run_place_leave(const struct run_place *place, const struct run_files *files, int kept) {
    if (!*place->folder || kept) {
        return;
    }
    for (size_t i = 0; i < files->count; ++i) {
        unlink(files->path[i]);
    }
    if (rmdir(place->folder) && errno == ENOTEMPTY) {
        log_line("%.500s stays: something else is in it", place->folder);
    }
}

void run_files_free(struct run_files *files) {
    for (size_t i = 0; i < files->count; ++i) {
        free(files->path[i]);
    }
    free(files->path);
    memset(files, 0, sizeof *files);
}
