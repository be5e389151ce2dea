/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include "arena/arena.h"
#include "base/name.h"
#include "base/scratch.h"
#include "capture/watch.h"
#include "config/config.h"
#include "config/filter.h"
#include "registry.h"

/* Content -> id, open addressing, at most half full; guarded by the registry's lock. */
static struct {
    uint32_t *ids;
    size_t size; /* power of two */
    size_t count;
} table;

struct site_content {
    struct site_text name, file, function;
    uint32_t line;
    uint8_t level, role, dynamic;
};

static int text_is(uint32_t text, struct site_text want) {
    const struct arena_text *t = arena_text_at(text);
    return t->length == want.length && !memcmp(t->bytes, want.bytes, want.length);
}

static int site_is(const struct arena_site *s, const struct site_content *c) {
    return s->dynamic == c->dynamic && s->line == c->line && s->level == c->level &&
           s->role == c->role && text_is(s->name, c->name) &&
           (c->dynamic || (text_is(s->file, c->file) && text_is(s->function, c->function)));
}

static uint64_t content_hash(const struct site_content *c) {
    uint64_t h = site_hash(c->name.bytes, c->name.length);
    return c->dynamic ? ~h : h + c->line * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_of(uint32_t id) {
    const struct arena_site *s = arena_site_at(id);
    const struct arena_text *name = arena_text_at(s->name);
    struct site_content c = {.name = {name->bytes, name->length}};
    c.line = s->line;
    c.dynamic = s->dynamic;
    return content_hash(&c);
}

static int table_grow(void) {
    size_t size = table.size ? table.size * 2 : 1024;
    uint32_t *ids = pages_get(size * sizeof *ids);
    if (!ids) {
        return -1;
    }
    for (size_t i = 0; i < table.size; ++i) {
        if (table.ids[i]) {
            size_t at = hash_of(table.ids[i]) & (size - 1);
            while (ids[at]) {
                at = (at + 1) & (size - 1);
            }
            ids[at] = table.ids[i];
        }
    }
    pages_put(table.ids, table.size * sizeof *ids);
    table.ids = ids;
    table.size = size;
    return 0;
}

/* Consecutive sites mostly stand in one file and function: their texts are shared. */
static uint32_t text_shared(struct site_text want, uint32_t *last) {
    if (!*last || !text_is(*last, want)) {
        *last = arena_text_put(want.bytes, want.length);
    }
    return *last;
}

static uint32_t last_file, last_function;

static uint32_t site_store(const struct site_content *c) {
    struct arena_header *h = arena_header();
    uint32_t index = h->site_count;
    uint32_t *chunk = &h->site_chunk[index / ARENA_SITES_PER_CHUNK];
    if (index >= ARENA_SITES - 1) {
        return 0;
    }
    if (!*chunk) {
        *chunk = arena_get(ARENA_SITES_PER_CHUNK * sizeof(struct arena_site), ARENA_RECORD);
        if (!*chunk) {
            return 0;
        }
    }
    struct arena_site *s = (struct arena_site *)arena_at(*chunk) + index % ARENA_SITES_PER_CHUNK;
    s->name = arena_text_put(c->name.bytes, c->name.length);
    s->file = text_shared(c->file, &last_file);
    s->function = text_shared(c->function, &last_function);
    s->line = c->line;
    s->level = c->level;
    s->role = c->role;
    s->dynamic = c->dynamic;
    STINT_IMPL_STORE(&s->reserved[0], watch_mark(c->name.bytes, c->name.length));
    if (!s->name || !s->file || !s->function) {
        return 0;
    }
    __atomic_store_n(&h->site_count, index + 1, __ATOMIC_RELEASE);
    return index + 1;
}

/* The number of known content, 0 = never seen. */
static uint32_t site_find(const struct site_content *c) {
    size_t at = content_hash(c) & (table.size - 1);
    while (table.size && table.ids[at]) {
        if (site_is(arena_site_at(table.ids[at]), c)) {
            return table.ids[at];
        }
        at = (at + 1) & (table.size - 1);
    }
    return 0;
}

static uint32_t site_add(const struct site_content *c) {
    if (table.count * 2 >= table.size && table_grow() && table.count + 1 >= table.size) {
        return 0;
    }
    size_t at = content_hash(c) & (table.size - 1);
    while (table.ids[at]) {
        if (site_is(arena_site_at(table.ids[at]), c)) {
            return table.ids[at];
        }
        at = (at + 1) & (table.size - 1);
    }
    uint32_t id = site_store(c);
    if (id) {
        table.ids[at] = id;
        ++table.count;
    }
    return id;
}

static struct site_text text_of(const char *s) {
    struct site_text t = {s ? s : "", s ? strlen(s) : 0};
    return t;
}

/* Cut at a whole UTF-8 character. */
static struct site_text cut(struct site_text name) {
    if (name.length > ARENA_NAME_BYTES) {
        arena_lose(STINT_STATUS_NAME_CUT, 1);
        name.length = name_cut(name.bytes, name.length);
    }
    return name;
}

static uint64_t word_of(uint32_t id, int off) {
    return (uint64_t)registry_gate() << 32 | (off ? STINT_IMPL_SITE_OFF : 0) | id;
}

static int recording(void) {
    return config_recording() && arena.base;
}

uint64_t site_resolve(struct stint_impl_site *site) {
    registry_lock();
    uint64_t word = STINT_IMPL_LOAD(&site->word);
    uint32_t id = site_gate_of(word) >= registry_arena_gate() ? word & STINT_IMPL_SITE_ID : 0;
    struct site_content c = {.name = cut(text_of(site->name)),
                             .file = text_of(site->file),
                             .function = text_of(site->function),
                             .line = site->line,
                             .level = site->level,
                             .role = site->role};
    int off =
        !recording() || site->level > config.level || !filter_allows(c.name.bytes, c.name.length);
    if (!off && !id) {
        id = site_add(&c);
        if (!id) {
            arena_lose(STINT_STATUS_NO_NAME, 1);
        }
    }
    word = word_of(id, off || !id);
    STINT_IMPL_STORE(&site->word, word);
    registry_unlock();
    return word;
}

uint64_t site_resolve_place(struct stint_impl_site *site) {
    registry_lock();
    uint64_t word = word_of(0, !recording() || site->level > config.level);
    STINT_IMPL_STORE(&site->word, word);
    registry_unlock();
    return word;
}

uint64_t site_resolve_name(struct site_text name, const struct stint_impl_site *place) {
    registry_lock();
    struct site_content c = {.name = cut(name),
                             .file = text_of(place ? place->file : NULL),
                             .function = text_of(place ? place->function : NULL),
                             .line = 0,
                             .dynamic = 1};
    int off = !recording() || !filter_allows(c.name.bytes, c.name.length);
    uint32_t id = off ? site_find(&c) : site_add(&c); /* what is open must still be closed */
    uint64_t word = word_of(id, off || !id);
    if (!off && !id) {
        arena_lose(STINT_STATUS_NO_NAME, 1);
    }
    registry_unlock();
    return word;
}

void site_forget_all(void) {
    pages_put(table.ids, table.size * sizeof *table.ids);
    memset(&table, 0, sizeof table);
    last_file = last_function = 0;
}
