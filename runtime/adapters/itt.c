/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ITT in libstint-ranges.so: the tasks of TBB, oneDNN, OpenVINO and other users of Intel's
 * instrumentation interface as scopes. A static part in each of these modules loads the library
 * that INTEL_LIBITTNOTIFY64 names and calls __itt_api_init with its list of functions; the adapter
 * enters those it has, and for the others the one that does nothing.
 *
 * Tasks are scopes of their thread, a stack per domain. Overlapped tasks, regions and frames are
 * intervals, found again by their domain and number. A handle that is not one of those handed out
 * is counted, and the call has no effect. All functions may be called from any thread.
 *
 * The layouts are those that the reference of ITT and its public headers state; the test
 * itt_in.layout compares them with the headers where these are installed.
 */
/* Signatures are those of the interfaces. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "itt.h"

#include <string.h>

#include "base/hash.h"
#include "range_stack.h"
#include "range_tables.h"

/* ---- Handles. */

struct itt_own_domain {
    struct itt_domain public;
    const struct range_domain *domain;
};

static void domain_fill(void *body, struct range_name name) {
    struct itt_own_domain *d = body;
    d->public.flags = 1;
    d->public.name = name.bytes;
    d->public.extra2 = d;
    d->domain = range_domain_get(RANGE_ITT, name);
}

static void itt_string_fill(void *body, struct range_name name) {
    struct itt_string *s = body;
    s->name = name.bytes;
}

struct itt_counter {
    const char *name;
    int64_t value; /* of inc and dec, atomic */
    uint64_t type; /* of set_value */
};

static void counter_fill(void *body, struct range_name name) {
    struct itt_counter *c = body;
    c->name = name.bytes;
}

static const struct range_shape domain_shape = {0x6974742d646f6d61, sizeof(struct itt_own_domain),
                                                domain_fill};
static const struct range_shape string_shape = {0x6974742d73747269, sizeof(struct itt_string),
                                                itt_string_fill};
static const struct range_shape counter_shape = {0x6974742d636f756e, sizeof(struct itt_counter),
                                                 counter_fill};

static void *handle_get(const struct range_shape *shape, const char *name, void *spare) {
    void *handle = NULL;
    if (name && *name) {
        handle = range_thing_get(shape, (struct range_name){name, strlen(name)});
    }
    if (!handle) {
        handle = spare;
    }
    return handle;
}

/* A caller reads the flags of what it gets, so it gets one that is switched off. */
static struct itt_domain *itt_domain_create(const char *name) {
    static struct itt_own_domain spare = {.public = {.name = "no room"}};
    return handle_get(&domain_shape, name, &spare);
}

static struct itt_string *itt_string_create(const char *name) {
    static struct itt_string spare = {.name = "no room"};
    return handle_get(&string_shape, name, &spare);
}

static struct itt_counter *itt_counter_create_typed(const char *name, const char *domain,
                                                    int type) {
    struct itt_counter *c = handle_get(&counter_shape, name, NULL);
    if (c) {
        c->type = (uint64_t)type;
    }
    return c;
}

static struct itt_counter *itt_counter_create(const char *name, const char *domain) {
    return itt_counter_create_typed(name, domain, ITT_U64);
}

/* A string that a module made itself, by its address. */
struct itt_foreign {
    struct itt_string *own;
};
static const struct range_shape foreign_shape = {0x6974742d666f7265, sizeof(struct itt_foreign),
                                                 range_thing_clear};

static void itt_take_lists(const struct itt_global *global) {
    for (struct itt_domain *d = global->domains; d; d = d->next) {
        d->extra2 = itt_domain_create(d->name);
    }
    for (struct itt_string *s = global->strings; s; s = s->next) {
        struct range_name address = {(const char *)&s, sizeof s};
        struct itt_foreign *foreign = range_thing_get(&foreign_shape, address);
        if (foreign) {
            __atomic_store_n(&foreign->own, itt_string_create(s->name), __ATOMIC_RELEASE);
        }
    }
}

/* The macros of ITT read the domain before they call. NULL for one that is not of the tool. */
static const struct range_domain *itt_domain_find(const struct itt_domain *domain) {
    if (!domain || !range_thing_is(&domain_shape, domain->extra2)) {
        return NULL;
    }
    return ((const struct itt_own_domain *)domain->extra2)->domain;
}

static const struct range_domain *itt_domain_of(const struct itt_domain *domain) {
    const struct range_domain *d = itt_domain_find(domain);
    if (!d) {
        stint_impl_lose_range();
    }
    return d;
}

static struct range_name itt_name_of(const struct itt_string *string, const char *without) {
    if (!range_thing_is(&string_shape, string)) {
        struct range_name address = {(const char *)&string, sizeof string};
        const struct itt_foreign *foreign = range_thing_find(&foreign_shape, address);
        string = NULL;
        if (foreign) {
            string = __atomic_load_n(&foreign->own, __ATOMIC_ACQUIRE);
        }
    }
    if (string) {
        without = string->name;
    }
    return (struct range_name){without, strlen(without)};
}

/* ---- Tasks. */

static void itt_task_begin(const struct itt_domain *domain, struct itt_id task,
                           struct itt_id parent, const struct itt_string *name) {
    const struct range_domain *d = itt_domain_of(domain);
    if (d) {
        struct range_name n = itt_name_of(name, "task");
        range_push(d, &n, d->set);
    }
}

static void itt_task_begin_fn(const struct itt_domain *domain, struct itt_id task,
                              struct itt_id parent, void *function) {
    itt_task_begin(domain, task, parent, NULL);
}

static void itt_task_end(const struct itt_domain *domain) {
    const struct range_domain *d = itt_domain_find(domain);
    if (d) {
        range_pop(d);
    } else {
        stint_impl_lose_end();
    }
}

/* ---- Overlapped tasks, regions and frames: intervals with a number of the program. */

#define OPEN_IDS 4096
#define OPEN_TRIES 32
#define OPEN_TAKEN 1 /* a key that is being written */

static struct {
    uint64_t key; /* 0: free. Atomic */
    uint64_t range;
} open_ids[OPEN_IDS];

static uint64_t open_key(const struct itt_domain *domain, const struct itt_id *id) {
    uint64_t h = hash_number((uint64_t)(uintptr_t)domain);
    if (id) {
        h = hash_add(hash_add(h, id->number), id->address);
    }
    return h | 2; /* neither free nor taken */
}

static void open_begin(const struct itt_domain *domain, const struct itt_id *id,
                       struct range_name name) {
    const struct range_domain *d = itt_domain_of(domain);
    uint64_t key = open_key(domain, id);
    for (uint32_t i = 0; d && i < OPEN_TRIES; ++i) {
        uint64_t free_key = 0, *at = &open_ids[(key + i) % OPEN_IDS].key;
        if (__atomic_compare_exchange_n(at, &free_key, OPEN_TAKEN, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            open_ids[(key + i) % OPEN_IDS].range = range_start(d, name, d->set);
            __atomic_store_n(at, key, __ATOMIC_RELEASE);
            return;
        }
    }
    if (d) {
        stint_impl_lose_range();
    }
}

static void open_end(const struct itt_domain *domain, const struct itt_id *id) {
    uint64_t key = open_key(domain, id);
    for (uint32_t i = 0; i < OPEN_TRIES; ++i) {
        uint64_t is = key, *at = &open_ids[(key + i) % OPEN_IDS].key;
        if (__atomic_compare_exchange_n(at, &is, OPEN_TAKEN, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            range_finish(open_ids[(key + i) % OPEN_IDS].range);
            __atomic_store_n(at, 0, __ATOMIC_RELEASE);
            return;
        }
    }
    stint_impl_lose_end();
}

static void itt_overlapped_begin(const struct itt_domain *domain, struct itt_id id,
                                 struct itt_id parent, const struct itt_string *name) {
    open_begin(domain, &id, itt_name_of(name, "task"));
}

static void itt_overlapped_end(const struct itt_domain *domain, struct itt_id id) {
    open_end(domain, &id);
}

static void itt_frame_begin(const struct itt_domain *domain, const struct itt_id *id) {
    static const struct range_name name = {"frame", 5};
    open_begin(domain, id, name);
}

static void itt_frame_end(const struct itt_domain *domain, const struct itt_id *id) {
    open_end(domain, id);
}

/* ---- Numbers and marks. */

static double itt_number(int type, const void *data) {
    union {
        uint64_t u64; /* first: all of it is set */
        int64_t s64;
        uint32_t u32;
        int32_t s32;
        uint16_t u16;
        int16_t s16;
        float real4;
        double real8;
    } from = {0};
    static const unsigned char sizes[] = {0, 8, 8, 4, 4, 2, 2, 4, 8};
    memcpy(&from, data, sizes[type]);
    const double all[] = {0,        (double)from.u64, (double)from.s64,   from.u32,  from.s32,
                          from.u16, from.s16,         (double)from.real4, from.real8};
    return all[type];
}

static void itt_value(const char *name, int type, const void *data) {
    if (data && type >= ITT_U64 && type <= ITT_DOUBLE) {
        stint_impl_value_named(name, UINT64_MAX, itt_number(type, data));
    }
}

static void itt_metadata_add(const struct itt_domain *domain, struct itt_id id,
                             const struct itt_string *key, int type, size_t count,
                             const void *data) {
    if (itt_domain_of(domain) && count) {
        itt_value(itt_name_of(key, "metadata").bytes, type, data);
    }
}

static void itt_counter_set(struct itt_counter *counter, const void *data) {
    if (range_thing_is(&counter_shape, counter)) {
        itt_value(counter->name, (int)counter->type, data);
    }
}

static void itt_counter_add(struct itt_counter *counter, uint64_t more) {
    if (range_thing_is(&counter_shape, counter)) {
        int64_t now = __atomic_add_fetch(&counter->value, (int64_t)more, __ATOMIC_RELAXED);
        stint_impl_value_named(counter->name, UINT64_MAX, (double)now);
    }
}

static void itt_counter_inc(struct itt_counter *counter) {
    itt_counter_add(counter, 1);
}

static void itt_marker(const struct itt_domain *domain, struct itt_id id,
                       const struct itt_string *name, int scope) {
    if (itt_domain_of(domain)) {
        stint_impl_mark_named(itt_name_of(name, "marker").bytes, UINT64_MAX);
    }
}

/* ---- The switch. */

static void itt_pause(void) {
    stint_timers_enable(0);
}

static void itt_resume(void) {
    stint_timers_enable(1);
}

/* ---- The list of a module. */

#define FUNCTION(name, function)                                                                   \
    { "__itt_" name, (itt_function)function }

static const struct {
    const char *name;
    itt_function function;
} itt_functions[] = {
    FUNCTION("domain_create", itt_domain_create),
    FUNCTION("string_handle_create", itt_string_create),
    FUNCTION("task_begin", itt_task_begin),
    FUNCTION("task_begin_fn", itt_task_begin_fn),
    FUNCTION("task_end", itt_task_end),
    FUNCTION("task_begin_overlapped", itt_overlapped_begin),
    FUNCTION("task_end_overlapped", itt_overlapped_end),
    FUNCTION("region_begin", itt_overlapped_begin),
    FUNCTION("region_end", itt_overlapped_end),
    FUNCTION("frame_begin_v3", itt_frame_begin),
    FUNCTION("frame_end_v3", itt_frame_end),
    FUNCTION("metadata_add", itt_metadata_add),
    FUNCTION("counter_create", itt_counter_create),
    FUNCTION("counter_create_typed", itt_counter_create_typed),
    FUNCTION("counter_set_value", itt_counter_set),
    FUNCTION("counter_inc", itt_counter_inc),
    FUNCTION("counter_inc_delta", itt_counter_add),
    FUNCTION("marker", itt_marker),
    FUNCTION("pause", itt_pause),
    FUNCTION("resume", itt_resume),
};

__attribute__((visibility("default"))) void stint_itt_init(struct itt_global *global,
                                                           int groups) __asm__("__itt_api_init");

void stint_itt_init(struct itt_global *global, int groups) {
    int is_off = range_is_off(RANGE_ITT);
    if (!global || !global->api_list) {
        return;
    }
    if (!is_off) {
        itt_take_lists(global);
    }
    for (const struct itt_api *a = global->api_list; a->name; ++a) {
        itt_function function = (itt_function)(uintptr_t)a->null_function;
        for (size_t i = 0; !is_off && i < sizeof itt_functions / sizeof *itt_functions; ++i) {
            if (!strcmp(a->name, itt_functions[i].name)) {
                function = itt_functions[i].function;
            }
        }
        if (a->function) {
            *a->function = (void *)(uintptr_t)function;
        }
    }
}
