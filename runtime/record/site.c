/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of sites and of names made at run time, by content. Everything here runs under the
 * registry's lock, which all threads share, so what one call does has a bound: a keyed hash
 * (base/hash.h) and a table that grows a few places at a time.
 */
#include "site.h"

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/name.h"
#include "base/scratch.h"
#include "registry.h"
#include "system/config.h"
#include "system/filter.h"
#include "watch.h"

#define FIRST_PLACES 1024
/* Places of the old table that move with each new site. 2 are enough: the new table is half full
 * when as many sites are new as the old one has places / 2. */
#define MOVED_AT_ONCE 8

/* Content -> id, open addressing, at most half full. */
struct site_places {
    uint32_t *ids;
    size_t size; /* power of two */
};

/* Guarded by the registry's lock. A table that is full is not copied at once, which would hold the
 * lock for as long as there are names: its places move to the new one a few at a time, and until
 * all have moved both are looked at. */
static struct {
    struct site_places now, old;
    size_t moved; /* places of the old table */
    size_t count;
} site_table;

struct site_content {
    struct site_text name, file, function;
    uint32_t line;
    uint8_t level, role, dynamic;
    uint8_t plain; /* of the first place that has the content */
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
    uint64_t h = hash_bytes(c->name.bytes, c->name.length);
    if (c->dynamic) {
        return ~h;
    }
    h = hash_mix(h ^ hash_bytes(c->file.bytes, c->file.length));
    h = hash_mix(h ^ hash_bytes(c->function.bytes, c->function.length));
    return hash_mix(h ^ c->line);
}

static struct site_text text_at(uint32_t text) {
    const struct arena_text *t = arena_text_at(text);
    struct site_text out = {t->bytes, t->length};
    return out;
}

static uint64_t site_hash(uint32_t id) {
    const struct arena_site *s = arena_site_at(id);
    struct site_content c = {.name = text_at(s->name),
                             .file = text_at(s->file),
                             .function = text_at(s->function),
                             .line = s->line,
                             .dynamic = s->dynamic};
    return content_hash(&c);
}

/* A place for what is known not to be there. */
static void places_put(struct site_places *p, uint32_t id) {
    size_t at = site_hash(id) & (p->size - 1);
    while (p->ids[at]) {
        at = (at + 1) & (p->size - 1);
    }
    p->ids[at] = id;
}

static void places_free(struct site_places *p) {
    pages_put(p->ids, p->size * sizeof *p->ids);
    p->ids = NULL;
    p->size = 0;
}

static void table_move(size_t places) {
    for (; places && site_table.moved < site_table.old.size; --places) {
        uint32_t id = site_table.old.ids[site_table.moved++];
        if (id) {
            places_put(&site_table.now, id);
        }
    }
    if (site_table.old.size && site_table.moved == site_table.old.size) {
        places_free(&site_table.old);
    }
}

static int table_grow(void) {
    size_t size = u64_max(site_table.now.size * 2, FIRST_PLACES);
    uint32_t *ids = pages_get(size * sizeof *ids);
    if (!ids) {
        return -1;
    }
    site_table.old = site_table.now;
    site_table.now.ids = ids;
    site_table.now.size = size;
    site_table.moved = 0;
    return 0;
}

/* Consecutive sites are mostly of one file and function: their texts are shared. */
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
    s->plain = c->plain;
    STINT_IMPL_STORE(&s->watched, watch_mark(c->name.bytes, c->name.length));
    if (!s->name || !s->file || !s->function) {
        return 0;
    }
    __atomic_store_n(&h->site_count, index + 1, __ATOMIC_RELEASE);
    return index + 1;
}

static uint32_t places_find(const struct site_places *p, const struct site_content *c,
                            uint64_t hash) {
    size_t at = hash & (p->size - 1);
    while (p->size && p->ids[at]) {
        if (site_is(arena_site_at(p->ids[at]), c)) {
            return p->ids[at];
        }
        at = (at + 1) & (p->size - 1);
    }
    return 0;
}

/* The number of known content, 0 = never seen. */
static uint32_t site_find(const struct site_content *c) {
    uint64_t hash = content_hash(c);
    uint32_t id = places_find(&site_table.now, c, hash);
    if (!id) {
        id = places_find(&site_table.old, c, hash);
    }
    return id;
}

static uint32_t site_add(const struct site_content *c) {
    uint32_t id = site_find(c);
    if (id) {
        return id;
    }
    /* Without memory the table fills up further, but for one place: a search must end. */
    if (site_table.count * 2 >= site_table.now.size && table_grow() &&
        site_table.count + 1 >= site_table.now.size) {
        return 0;
    }
    id = site_store(c);
    if (id) {
        places_put(&site_table.now, id);
        ++site_table.count;
        table_move(MOVED_AT_ONCE);
    }
    return id;
}

static struct site_text string_text(const char *s) {
    struct site_text t = {"", 0};
    if (s) {
        t.bytes = s;
        t.length = strlen(s);
    }
    return t;
}

/* Readers refuse longer texts. */
static struct site_text place_text(const char *s) {
    struct site_text t = string_text(s);
    t.length = name_cut(t.bytes, t.length);
    return t;
}

/* Cut at a whole UTF-8 character. */
static struct site_text cut_name(struct site_text name) {
    if (name.length > ARENA_NAME_BYTES) {
        arena_lose(STINT_STATUS_NAME_CUT, 1);
        name.length = name_cut(name.bytes, name.length);
    }
    return name;
}

/* The word of what is switched on. */
static uint64_t make_word(uint32_t id) {
    uint64_t word = (uint64_t)registry_gate() << 32 | id;
    if (!id) {
        word |= STINT_IMPL_SITE_NO_ID;
    }
    return word;
}

static uint64_t make_word_off(void) {
    return (uint64_t)registry_gate() << 32;
}

static int is_recording(void) {
    return config_recording() && arena.base;
}

uint64_t site_resolve(struct stint_impl_site *site) {
    registry_lock();
    uint64_t word = STINT_IMPL_LOAD(&site->word);
    uint32_t id = 0;
    if (site_gate_of(word) >= registry_arena_gate()) {
        id = site_id_of(word);
    }
    struct site_content c = {.name = cut_name(string_text(site->name)),
                             .file = place_text(site->file),
                             .function = place_text(site->function),
                             .line = site->line,
                             .level = site->level,
                             .role = site->role,
                             .plain = site->plain != 0};
    int off = !is_recording() || site->level > config.level ||
              !filter_allows(c.name.bytes, c.name.length);
    if (!off && !id) {
        id = site_add(&c);
    }
    if (off) {
        word = make_word_off();
    } else {
        word = make_word(id);
    }
    STINT_IMPL_PUBLISH(&site->word, word);
    registry_unlock();
    return word;
}

uint64_t site_resolve_place(struct stint_impl_site *site) {
    registry_lock();
    uint64_t word = make_word(0);
    if (!is_recording() || site->level > config.level) {
        word = make_word_off();
    }
    STINT_IMPL_PUBLISH(&site->word, word);
    registry_unlock();
    return word;
}

uint64_t site_resolve_name(struct site_text name, const struct stint_impl_site *place) {
    registry_lock();
    struct site_content c = {.name = cut_name(name),
                             .file = string_text(NULL),
                             .function = string_text(NULL),
                             .line = 0,
                             .dynamic = 1};
    if (place) {
        c.file = place_text(place->file);
        c.function = place_text(place->function);
        c.plain = place->plain != 0;
    }
    int off = !is_recording() || !filter_allows(c.name.bytes, c.name.length);
    uint64_t word;
    if (off) { /* with the id: what is open must still be closed */
        word = make_word_off() | STINT_IMPL_SITE_OFF | site_find(&c);
    } else {
        word = make_word(site_add(&c));
    }
    registry_unlock();
    return word;
}

void site_forget_all(int whole) {
    if (whole) {
        places_free(&site_table.now);
        places_free(&site_table.old);
    }
    memset(&site_table, 0, sizeof site_table);
    last_file = last_function = 0;
}
