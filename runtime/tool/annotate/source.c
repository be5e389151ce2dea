/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/common/sha256.h"

#define SOURCE_BYTES ((off_t)1 << 28) /* more is not a source */
#define CONTENT_TEXT (24u + SHA256_TEXT)

#define NOTE_UNREAD "; the source cannot be read"
#define NOTE_CHANGED "; the source is not the one that was built"
#define NOTE_REFUSED "; the source is not shown: it is not the one that was built (--source-root)"
#define NOTE_NO_RECORD                                                                             \
    "; the source is not shown: the run does not say what was built (--source-root)"

/* The bytes of a regular file. 0, or -1 if it cannot be read. */
static int read_bytes(struct annotate_source *source, struct scratch *memory, const char *path) {
    struct stat s;
    size_t length = 0;
    char *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size <= SOURCE_BYTES) {
        bytes = scratch_get(memory, (size_t)s.st_size + 1);
        while (bytes && length < (size_t)s.st_size) {
            ssize_t got = read(fd, bytes + length, (size_t)s.st_size - length);
            if (got <= 0) {
                break;
            }
            length += (size_t)got;
        }
    }
    close(fd);
    if (!bytes) {
        return -1;
    }
    source->device = s.st_dev;
    source->inode = s.st_ino;
    source->bytes = bytes;
    source->length = length;
    return 0;
}

/* Whether the bytes are those that were built. */
static int is_as_built(const struct annotate_source *source, const struct line_file *file) {
    char content[CONTENT_TEXT], digest[SHA256_TEXT];
    if (file->is_mixed || !file->content) {
        return 0;
    }
    sha256_text(digest, source->bytes, source->length);
    snprintf(content, sizeof content, "%zu %s", source->length, digest);
    return strlen(content) == file->content_length &&
           !memcmp(content, file->content, file->content_length);
}

/* The user asked for this path. 0, or -1 if it cannot be read. */
static int read_wanted(struct annotate_source *source, struct scratch *memory,
                       const struct line_file *file, const char *path) {
    if (read_bytes(source, memory, path)) {
        return -1;
    }
    if (file->content && !is_as_built(source, file)) {
        source->note = NOTE_CHANGED;
    }
    return 0;
}

/* Whether the file is below the folder, symbolic links followed. */
static int is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    if (strcmp(folder, "/") == 0) {
        return 1;
    }
    return !strncmp(path, folder, length) && path[length] == '/';
}

/* The path itself if it is below the folder, else the longest end of it that names a file there. */
static int read_below(struct annotate_source *source, struct scratch *memory,
                      const struct line_file *file, const char *root) {
    char folder[PATH_MAX], joined[PATH_MAX], path[PATH_MAX];
    if (!realpath(root, folder)) {
        return -1;
    }
    if (realpath(file->name, path) && is_below(path, folder) &&
        !read_wanted(source, memory, file, path)) {
        return 0;
    }
    for (const char *end = file->name; end; end = strchr(end, '/')) {
        end += *end == '/';
        if ((size_t)snprintf(joined, sizeof joined, "%s/%s", folder, end) < sizeof joined &&
            realpath(joined, path) && is_below(path, folder) &&
            !read_wanted(source, memory, file, path)) {
            return 0;
        }
    }
    return -1;
}

/* The user asked for nothing: the path that the run names. */
static void read_named(struct annotate_source *source, struct scratch *memory,
                       const struct line_file *file) {
    if (read_bytes(source, memory, file->name)) {
        source->note = NOTE_UNREAD;
    } else if (!is_as_built(source, file)) {
        source->bytes = NULL;
        source->length = 0;
        source->note = NOTE_REFUSED;
        if (!file->content) {
            source->note = NOTE_NO_RECORD;
        }
    }
}

void source_take(struct annotate_source *source, struct scratch *memory,
                 const struct line_file *file, const struct source_places *places) {
    memset(source, 0, sizeof *source);
    source->note = "";
    if (places->only) {
        if (read_wanted(source, memory, file, places->only)) {
            source->note = NOTE_UNREAD;
        }
        return;
    }
    for (uint32_t i = 0; i < places->roots; ++i) {
        if (!read_below(source, memory, file, places->root[i])) {
            return;
        }
    }
    read_named(source, memory, file);
}
