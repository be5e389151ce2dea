/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a catalogue (gen/instrument/catalog.py writes it) for cmd_report.c and compares it with the
 * sites of runs. A run has a site from its first call on that is recorded.
 *
 * The file is untrusted: any JSON may follow any other, nested at most DEPTH_MAX deep. Its strings are
 * decoded where they are, because no escape is shorter than its character. Of each site name,
 * line and the last part of the file are compared: the folder depends on how a compiler was called.
 */
#include "catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "base/number.h"

#define BYTES_MAX ((off_t)256 << 20)
#define DEPTH_MAX 64

/* ---- JSON. */

struct json {
    char *at; /* the file ends with a NUL, which is in no JSON */
    int depth;
};

static void skip_blanks(struct json *j) {
    j->at += strspn(j->at, " \t\r\n");
}

/* Whether the next character is this one, which is then read. */
static int take_char(struct json *j, char c) {
    skip_blanks(j);
    if (*j->at != c) {
        return 0;
    }
    ++j->at;
    return 1;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if ((c | 32) >= 'a' && (c | 32) <= 'f') {
        return (c | 32) - 'a' + 10;
    }
    return -1;
}

/* Four hexadecimal digits, or -1. */
static int32_t take_hex(struct json *j) {
    int32_t code = 0;
    for (int i = 0; i < 4; ++i) {
        int digit = hex_digit(*j->at);
        if (digit < 0) {
            return -1;
        }
        code = code << 4 | digit;
        ++j->at;
    }
    return code;
}

static char *put_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* After "\u". NULL for what is not a character. */
static char *take_unicode(struct json *j, char *to) {
    int32_t code = take_hex(j);
    if (code >= 0xd800 && code < 0xdc00 && j->at[0] == '\\' && j->at[1] == 'u') {
        j->at += 2;
        int32_t low = take_hex(j);
        if (low < 0xdc00 || low >= 0xe000) {
            return NULL;
        }
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    }
    if (code <= 0 || (code >= 0xd800 && code < 0xe000)) {
        return NULL;
    }
    return put_utf8(to, (uint32_t)code);
}

static char *take_escape(struct json *j, char *to) {
    static const char from[] = "\"\\/bfnrt", what[] = "\"\\/\b\f\n\r\t";
    char c = *j->at;
    if (c == 'u') {
        ++j->at;
        return take_unicode(j, to);
    }
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) {
        return NULL;
    }
    ++j->at;
    *to++ = what[found - from];
    return to;
}

/* A string, decoded, or NULL. */
static const char *take_string(struct json *j) {
    if (!take_char(j, '"')) {
        return NULL;
    }
    char *start = j->at, *to = j->at;
    while (*j->at != '"') {
        char c = *j->at;
        if ((unsigned char)c < ' ') { /* the end of the file as well */
            return NULL;
        }
        ++j->at;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        to = take_escape(j, to);
        if (!to) {
            return NULL;
        }
    }
    ++j->at;
    *to = '\0';
    return start;
}

typedef int (*json_member)(struct json *j, const char *key, void *data);
typedef int (*json_element)(struct json *j, void *data);

/* Each member of an object; take reads its value. 0, or -1. */
static int take_object(struct json *j, json_member take, void *data) {
    if (!take_char(j, '{') || ++j->depth > DEPTH_MAX) {
        return -1;
    }
    if (!take_char(j, '}')) {
        do {
            const char *key = take_string(j);
            if (!key || !take_char(j, ':') || take(j, key, data)) {
                return -1;
            }
        } while (take_char(j, ','));
        if (!take_char(j, '}')) {
            return -1;
        }
    }
    --j->depth;
    return 0;
}

static int take_array(struct json *j, json_element take, void *data) {
    if (!take_char(j, '[') || ++j->depth > DEPTH_MAX) {
        return -1;
    }
    if (!take_char(j, ']')) {
        do {
            if (take(j, data)) {
                return -1;
            }
        } while (take_char(j, ','));
        if (!take_char(j, ']')) {
            return -1;
        }
    }
    --j->depth;
    return 0;
}

static int skip_value(struct json *j, void *data);

static int skip_member(struct json *j, const char *key, void *data) {
    (void)key;
    return skip_value(j, data);
}

/* Numbers and words are not checked: they are of no use here. */
static int skip_value(struct json *j, void *data) {
    skip_blanks(j);
    if (*j->at == '{') {
        return take_object(j, skip_member, data);
    }
    if (*j->at == '[') {
        return take_array(j, skip_value, data);
    }
    if (*j->at == '"') {
        return take_string(j) ? 0 : -1;
    }
    size_t length = strspn(j->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    j->at += length;
    return length ? 0 : -1;
}

/* A string, or null, which is NULL. */
static int take_text(struct json *j, const char **out) {
    skip_blanks(j);
    if (!strncmp(j->at, "null", 4)) {
        j->at += 4;
        *out = NULL;
        return 0;
    }
    *out = take_string(j);
    return *out ? 0 : -1;
}

static int take_line(struct json *j, uint32_t *out) {
    uint64_t line;
    skip_blanks(j);
    const char *end = number_parse_whole(j->at, UINT32_MAX, &line);
    if (!end) {
        return -1;
    }
    j->at += end - j->at;
    *out = (uint32_t)line;
    return 0;
}

/* ---- The catalogue. */

static int take_site_member(struct json *j, const char *key, void *data) {
    struct catalog_site *site = data;
    if (!strcmp(key, "name")) {
        return take_text(j, &site->name);
    }
    if (!strcmp(key, "file")) {
        return take_text(j, &site->file);
    }
    if (!strcmp(key, "function")) {
        return take_text(j, &site->function);
    }
    if (!strcmp(key, "line")) {
        return take_line(j, &site->line);
    }
    if (!strcmp(key, "kind")) {
        const char *kind;
        if (take_text(j, &kind)) {
            return -1;
        }
        site->timed = kind && strcmp(kind, "mark") != 0 && strcmp(kind, "value") != 0;
        return 0;
    }
    return skip_value(j, NULL);
}

static int take_site(struct json *j, void *data) {
    struct catalog *c = data;
    struct catalog_site *site = &c->sites[c->count];
    if (take_object(j, take_site_member, site) || !site->file) {
        return -1;
    }
    ++c->count;
    return 0;
}

struct catalog_parse {
    struct catalog *catalog;
    int known; /* of the right schema */
};

static int take_catalog_member(struct json *j, const char *key, void *data) {
    struct catalog_parse *p = data;
    if (!strcmp(key, "schema")) {
        const char *schema;
        if (take_text(j, &schema)) {
            return -1;
        }
        p->known = schema && !strcmp(schema, "stint.catalog/1");
        return 0;
    }
    if (!strcmp(key, "sites") && !p->catalog->count) {
        return take_array(j, take_site, p->catalog);
    }
    return skip_value(j, NULL);
}

static const char *file_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint32_t hash_site(const char *name, size_t length, uint32_t line) {
    return (uint32_t)hash_mix(hash_bytes(name, length) ^ line);
}

/* No object is shorter than two bytes, and each site is one. */
static int catalog_parse(struct catalog *c) {
    struct catalog_parse p = {.catalog = c};
    struct json j = {.at = c->bytes};
    size_t objects = 1;
    for (const char *at = c->bytes; (at = strchr(at, '{')) != NULL; ++at) {
        ++objects;
    }
    c->sites = scratch_array(&c->memory, objects, sizeof *c->sites);
    if (!c->sites || hash_map_start(&c->site_of, &c->memory, objects)) {
        log_line("%.500s: not enough memory", c->path);
        return -1;
    }
    int failed = take_object(&j, take_catalog_member, &p);
    skip_blanks(&j);
    if (failed || !p.known || *j.at) {
        log_line("%.500s: not a catalogue of stint_catalog (byte %llu)", c->path,
                 (unsigned long long)(j.at - c->bytes));
        return -1;
    }
    for (uint32_t i = 0; i < c->count; ++i) {
        const struct catalog_site *site = &c->sites[i];
        if (site->name && site->timed) {
            hash_map_add(&c->site_of, hash_site(site->name, strlen(site->name), site->line), i);
        }
    }
    return 0;
}

/* NULL, or why not. */
static const char *read_bytes(struct catalog *c, int fd) {
    struct stat s;
    if (fstat(fd, &s)) {
        return error_text(errno);
    }
    if (!S_ISREG(s.st_mode)) {
        return "not a regular file";
    }
    if (s.st_size > BYTES_MAX) {
        return "too large for a catalogue";
    }
    c->size = (size_t)s.st_size + 1;
    c->bytes = pages_get(c->size);
    if (!c->bytes) {
        return error_text(ENOMEM);
    }
    for (size_t got = 0; got + 1 < c->size;) {
        ssize_t n = read(fd, c->bytes + got, c->size - 1 - got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return error_text(errno);
        }
        if (n == 0) {
            break; /* it was cut meanwhile */
        }
        got += (size_t)n;
    }
    return NULL;
}

int catalog_read(struct catalog *c, const char *path) {
    memset(c, 0, sizeof *c);
    c->path = path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        log_line("%.500s: %s", path, error_text(errno));
        return -1;
    }
    const char *error = read_bytes(c, fd);
    close(fd);
    if (error) {
        log_line("%.500s: %s", path, error);
    }
    if (!error && !catalog_parse(c)) {
        return 0;
    }
    catalog_free(c);
    return -1;
}

void catalog_free(struct catalog *c) {
    scratch_free(&c->memory);
    if (c->bytes) {
        pages_put(c->bytes, c->size);
    }
    memset(c, 0, sizeof *c);
}

void catalog_reach(struct catalog *c, const struct snapshot *s) {
    c->lost_names += s->lost[STINT_STATUS_NO_NAME];
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        const struct snapshot_site *has = &s->sites[id];
        if (!has->name || !has->file) {
            continue;
        }
        struct hash_map_walk walk;
        uint32_t hash = hash_site(has->name, has->length, has->line);
        uint32_t i = hash_map_first(&c->site_of, hash, &walk);
        for (; i != HASH_MAP_NONE; i = hash_map_next(&c->site_of, &walk)) {
            struct catalog_site *site = &c->sites[i];
            if (site->line == has->line && strlen(site->name) == has->length &&
                !memcmp(site->name, has->name, has->length) &&
                !strcmp(file_part(site->file), file_part(has->file))) {
                site->reached = 1;
            }
        }
    }
}

void catalog_print(struct text *out, const struct catalog *c) {
    uint32_t timed = 0, reached = 0, unnamed = 0;
    for (uint32_t i = 0; i < c->count; ++i) {
        const struct catalog_site *site = &c->sites[i];
        timed += site->timed && site->name;
        reached += site->reached != 0;
        unnamed += site->timed && !site->name;
    }
    text_add(out, "%u of %u sites never reached\n", timed - reached, timed);
    for (uint32_t i = 0; i < c->count; ++i) {
        const struct catalog_site *site = &c->sites[i];
        if (!site->timed || !site->name || site->reached) {
            continue;
        }
        text_name(out, site->file, strlen(site->file), 0);
        text_add(out, ":%u: ", site->line);
        text_name(out, site->name, strlen(site->name), 0);
        if (site->function) {
            text_put(out, " in ", 4);
            text_name(out, site->function, strlen(site->function), 0);
        }
        text_put(out, "\n", 1);
    }
    if (c->lost_names) {
        text_add(out,
                 "memory for names was full %llu times: sites in this list may have been reached\n",
                 (unsigned long long)c->lost_names);
    }
    if (unnamed) {
        text_add(out, "%u site%s with a name made at run time: not compared\n", unnamed,
                 text_plural(unnamed));
    }
}
