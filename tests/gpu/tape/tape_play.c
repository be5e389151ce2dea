/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The player of tape_play.h: reads a tape, which may be any bytes, and lets the double of CUPTI, of
 * which it is a part, say what is on it. In place of cupti_double_names.c it has the names that the
 * tape has.
 */
#include "tape_play.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_double_state.h"
#include "tape.h"

#define THREADS 64
#define LEAD_NS 1000 /* the clock begins before the tape */
#define HOUR_NS ((uint64_t)3600 * 1000000000u)

static struct {
    uint8_t *bytes;
    size_t size;
    uint64_t first, last; /* of all times */
    long calls, records;
    size_t sizes[DOUBLE_KINDS];
    const char *names[3][DOUBLE_APIS];
    size_t first_pointer; /* of the chunks; 0: none */
} tape;

static uint64_t (*clock_of_test)(void);
static uint64_t clock_begin; /* that clock when the tape begins; 0: it has not begun */

const char *double_api_name(int domain, uint32_t cbid) {
    return domain > 0 && domain < 3 && cbid < DOUBLE_APIS ? tape.names[domain][cbid] : NULL;
}

uint32_t double_api(int domain, const char *name) {
    (void)domain, (void)name;
    return 0;
}

/* CUPTI's clock. */
static uint64_t tape_now(void) {
    uint64_t now = clock_of_test();
    clock_begin = clock_begin ? clock_begin : now;
    return tape.first - LEAD_NS + (now - clock_begin);
}

/* ---- Reading a tape */

static long tape_fail(const char *path, size_t at, const char *what) {
    fprintf(stderr, "tape: %s: at byte %zu: %s\n", path, at, what);
    return -1;
}

static int text_ends(const uint8_t *text, size_t bytes) {
    return bytes > 0 && text[bytes - 1] == '\0';
}

static void note_time(uint64_t time) {
    if (!tape.first || time < tape.first) {
        tape.first = time;
    }
    tape.last = time > tape.last ? time : tape.last;
}

/* The bytes that a record needs, and the places of its times and number; 0: it has none. */
struct record_fields {
    size_t bytes, start, end, correlation;
};

#define FIELDS(type)                                                                               \
    {                                                                                              \
        sizeof(struct type), offsetof(struct type, start), offsetof(struct type, end),             \
            offsetof(struct type, correlationId)                                                   \
    }

static const struct record_fields *record_get_fields(uint32_t kind) {
    static const struct record_fields fields[] = {
        [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = FIELDS(cupti_kernel),
        [CUPTI_ACTIVITY_KIND_MEMCPY] = FIELDS(cupti_memcpy),
        [CUPTI_ACTIVITY_KIND_MEMCPY2] = FIELDS(cupti_memcpy_peer),
        [CUPTI_ACTIVITY_KIND_MEMSET] = FIELDS(cupti_memset),
        [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = FIELDS(cupti_synchronization),
        [CUPTI_ACTIVITY_KIND_RUNTIME] = FIELDS(cupti_api),
        [CUPTI_ACTIVITY_KIND_DRIVER] = FIELDS(cupti_api)};
    static const struct record_fields none;
    return kind < sizeof fields / sizeof *fields ? &fields[kind] : &none;
}

/* Returns the size of the record, 0: what is there is none. */
static size_t record_get_size(const uint8_t *at, size_t left) {
    uint32_t kind;
    if (left < sizeof kind) {
        return 0;
    }
    memcpy(&kind, at, sizeof kind);
    size_t size = kind < DOUBLE_KINDS ? tape.sizes[kind] : 0;
    return size <= left ? size : 0;
}

/* Faults of CUPTI are on tapes, too: only times that can be count. */
static void note_record(const uint8_t *record) {
    uint32_t kind;
    uint64_t start = 0, end = 0;
    memcpy(&kind, record, sizeof kind);
    const struct record_fields *f = record_get_fields(kind);
    if (f->end) {
        memcpy(&start, record + f->start, sizeof start);
        memcpy(&end, record + f->end, sizeof end);
    }
    if (start && end >= start && end - start < HOUR_NS) {
        note_time(start);
        note_time(end);
    }
}

static const char *read_buffer(const uint8_t *data, size_t bytes) {
    struct tape_buffer b;
    memcpy(&b, data, sizeof b);
    size_t size, at = sizeof b;
    note_time(b.time);
    if (b.bytes != bytes - sizeof b) {
        return "a buffer of another size than its chunk";
    }
    for (; at < bytes; at += size) {
        size = record_get_size(data + at, bytes - at);
        if (size < sizeof(uint32_t)) {
            return "a record of an unknown kind, or cut";
        }
        note_record(data + at);
        ++tape.records;
    }
    return NULL;
}

static const char *read_chunk(const struct tape_chunk *c, const uint8_t *data, size_t at) {
    uint32_t two[2] = {0, 0};
    struct tape_callback call;
    memcpy(two, data, c->bytes < sizeof two ? c->bytes : sizeof two);
    int has_text = c->bytes > sizeof two && text_ends(data + sizeof two, c->bytes - sizeof two);
    switch (c->type) {
    case TAPE_ABOUT:
    case TAPE_CODE:
        return NULL;
    case TAPE_VERSION:
        cupti_double_version(two[0]);
        return c->bytes == sizeof two[0] ? NULL : "not a version";
    case TAPE_SIZE:
        if (c->bytes != sizeof two || two[0] >= DOUBLE_KINDS || two[1] > DOUBLE_STRIDE ||
            two[1] < record_get_fields(two[0])->bytes) {
            return "not a kind of records";
        }
        tape.sizes[two[0]] = two[1];
        cupti_double_stride(two[0], two[1]);
        return NULL;
    case TAPE_NAME:
        if (!has_text || two[0] >= 3 || two[1] >= DOUBLE_APIS) {
            return "not a name of a function";
        }
        tape.names[two[0]][two[1]] = (const char *)data + sizeof two;
        return NULL;
    case TAPE_POINTER:
        tape.first_pointer = tape.first_pointer ? tape.first_pointer : at;
        return has_text ? NULL : "not a name in a record";
    case TAPE_CALLBACK:
        if (c->bytes != sizeof call) {
            return "not a call";
        }
        memcpy(&call, data, sizeof call);
        note_time(call.time);
        ++tape.calls;
        return call.domain < 3 && call.cbid < DOUBLE_APIS ? NULL : "a call of an unknown function";
    case TAPE_BUFFER:
        return c->bytes >= sizeof(struct tape_buffer) ? NULL : "not a buffer";
    default:
        return "a chunk of an unknown type";
    }
}

/* The chunk at that place, and its data; NULL: there is none, or it is cut. */
static const uint8_t *chunk_at(size_t at, struct tape_chunk *out) {
    if (tape.size - at < sizeof *out) {
        return NULL;
    }
    memcpy(out, tape.bytes + at, sizeof *out);
    if (tape.size - at - sizeof *out < out->bytes) {
        return NULL;
    }
    return tape.bytes + at + sizeof *out;
}

static size_t chunk_next(size_t at, const struct tape_chunk *c) {
    return at + sizeof *c + c->bytes;
}

static uint8_t *file_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (!file || fseek(file, 0, SEEK_END)) {
        return NULL;
    }
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size + 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

/* Names and sizes may come after the buffers that need them: those are read in a second pass. */
static long tape_read(const char *path, int buffers) {
    struct tape_chunk c;
    const uint8_t *data;
    for (size_t at = 8; at < tape.size; at = chunk_next(at, &c)) {
        data = chunk_at(at, &c);
        if (!data) {
            return tape_fail(path, at, "the file ends within a chunk");
        }
        const char *wrong = NULL;
        if (!buffers) {
            wrong = read_chunk(&c, data, at);
        } else if (c.type == TAPE_BUFFER) {
            wrong = read_buffer(data, c.bytes);
        }
        if (wrong) {
            return tape_fail(path, at, wrong);
        }
    }
    return 0;
}

long tape_load(const char *path) {
    cupti_double_reset(NULL, tape_now);
    double_cupti.offset = 0;
    tape.bytes = file_read(path, &tape.size);
    if (!tape.bytes) {
        return tape_fail(path, 0, "cannot be read");
    }
    if (tape.size < 8 || memcmp(tape.bytes, TAPE_MAGIC, 7) != 0) {
        return tape_fail(path, 0, "not a tape");
    }
    if (tape.bytes[7] != (uint8_t)TAPE_MAGIC[7]) {
        return tape_fail(path, 7, "a tape of another version");
    }
    if (tape_read(path, 0) || tape_read(path, 1)) {
        return -1;
    }
    return tape.records;
}

long tape_count_calls(void) {
    return tape.calls;
}

uint64_t tape_span(void) {
    return tape.last - tape.first + LEAD_NS;
}

void tape_set_clock(uint64_t (*clock)(void)) {
    clock_of_test = clock;
}

/* ---- Records */

static const char *pointer_find(uint64_t address) {
    struct tape_chunk c;
    const uint8_t *data;
    const char *found = "?";
    for (size_t at = tape.first_pointer; at && at < tape.size; at = chunk_next(at, &c)) {
        uint64_t is = 0;
        data = chunk_at(at, &c);
        if (c.type == TAPE_POINTER) {
            memcpy(&is, data, sizeof is);
        }
        if (is == address) {
            return (const char *)data + sizeof is;
        }
    }
    return found;
}

/* 1, or 0: the kind is off. */
static unsigned record_put(const uint8_t *record, size_t size) {
    uint8_t copy[DOUBLE_STRIDE];
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    memcpy(copy, record, size);
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        uint64_t address;
        memcpy(&address, copy + offsetof(struct cupti_kernel, name), sizeof address);
        const char *name = pointer_find(address);
        memcpy(copy + offsetof(struct cupti_kernel, name), &name, sizeof name);
    }
    double_put_enabled(copy, size, 0);
    return double_cupti.enabled[kind] != 0;
}

/* Calls come first; a multiplication by Knuth's constant spreads the others. */
static unsigned record_part(const uint8_t *record, uint64_t number, unsigned parts) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (parts < 2 || kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER ||
        kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
        return 0;
    }
    return (unsigned)(number * 6364136223846793005u >> 40) % parts;
}

/* Delivers the records of a chunk, or those that are in that part; number: of the first. */
static uint64_t chunk_deliver(const struct tape_chunk *c, const uint8_t *data, uint64_t number,
                              unsigned part, unsigned parts) {
    uint64_t count = 0;
    pthread_mutex_lock(&double_cupti_lock);
    for (size_t i = sizeof(struct tape_buffer), size; i < c->bytes; i += size) {
        size = record_get_size(data + i, c->bytes - i);
        if (record_part(data + i, number++, parts) == part) {
            count += record_put(data + i, size);
        }
    }
    double_flush(0);
    pthread_mutex_unlock(&double_cupti_lock);
    return count;
}

uint64_t tape_deliver(uint64_t seed, unsigned parts, void (*between)(void)) {
    struct tape_chunk c;
    uint64_t count = 0;
    for (unsigned part = 0; part < parts; ++part) {
        for (size_t at = 8; at < tape.size; at = chunk_next(at, &c)) {
            const uint8_t *data = chunk_at(at, &c);
            if (c.type == TAPE_BUFFER) {
                count += chunk_deliver(&c, data, seed + at, part, parts);
            }
        }
        between();
    }
    return count;
}

/* ---- Playing: each thread of the tape has a thread here, which waits for its turn. */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t at;     /* the chunk to be played; 0: the tape is over */
    uint32_t next; /* thread */
    int is_set;    /* it is to be played */
    const struct tape_ops *ops;
} play = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};

static void call_play(const uint8_t *data, int *depth) {
    struct tape_callback c;
    memcpy(&c, data, sizeof c);
    const char *name = tape.names[c.domain][c.cbid];
    uint64_t config = (uint64_t)(uintptr_t)c.config;
    if (name && strstr(name, "LaunchKernelEx")) {
        c.words[0] = config;
    }
    const struct cupti_callback call = {.callbackSite = c.site,
                                        .functionParams = (uint64_t)(uintptr_t)c.words,
                                        .functionReturnValue = (uint64_t)(uintptr_t)&c.code,
                                        .context = c.context,
                                        .correlationId = c.correlation};
    if (c.site == CUPTI_API_ENTER && (*depth)++ == 0) {
        play.ops->begin(name ? name : "?");
    }
    if (double_cupti.callback && double_cupti.calls_back[c.domain][c.cbid]) {
        double_cupti.callback(double_cupti.user, (CUpti_CallbackDomain)c.domain, c.cbid, &call);
    }
    if (c.site == CUPTI_API_EXIT && *depth > 0 && --*depth == 0) {
        play.ops->end();
    }
}

static void chunk_play(size_t at, int *depth) {
    struct tape_chunk c;
    const uint8_t *data = chunk_at(at, &c);
    if (c.type == TAPE_CALLBACK) {
        call_play(data, depth);
        return;
    }
    chunk_deliver(&c, data, 0, 0, 1);
}

static void *thread_play(void *number) {
    const uint32_t self = *(const uint32_t *)number;
    int depth = 0;
    pthread_mutex_lock(&play.lock);
    for (;;) {
        while (!play.is_set || (play.at && play.next != self)) {
            pthread_cond_wait(&play.turn, &play.lock);
        }
        if (!play.at) {
            break;
        }
        chunk_play(play.at, &depth);
        play.is_set = 0;
        pthread_cond_broadcast(&play.turn);
    }
    pthread_mutex_unlock(&play.lock);
    return NULL;
}

/* Hands the chunk to its thread, and waits until it is played. at 0: all threads end. */
static void play_hand_over(size_t at, uint32_t thread) {
    pthread_mutex_lock(&play.lock);
    play.at = at;
    play.next = thread;
    play.is_set = 1;
    pthread_cond_broadcast(&play.turn);
    while (at && play.is_set) {
        pthread_cond_wait(&play.turn, &play.lock);
    }
    pthread_mutex_unlock(&play.lock);
}

void tape_play(const struct tape_ops *ops) {
    static uint32_t numbers[THREADS];
    pthread_t threads[THREADS];
    unsigned count = 0;
    struct tape_chunk c;
    play.ops = ops;
    for (size_t at = 8; at < tape.size; at = chunk_next(at, &c)) {
        const uint8_t *data = chunk_at(at, &c);
        struct tape_callback call = {.thread = 0};
        struct tape_buffer b = {.thread = 0};
        if (c.type == TAPE_CALLBACK) {
            memcpy(&call, data, sizeof call);
            b = (struct tape_buffer){.time = call.time, .thread = call.thread};
        } else if (c.type == TAPE_BUFFER) {
            memcpy(&b, data, sizeof b);
        } else {
            continue;
        }
        unsigned i = 0;
        while (i < count && numbers[i] != b.thread) {
            ++i;
        }
        if (i == THREADS) {
            i = 0; /* more than a test has: another one's */
        } else if (i == count) {
            numbers[count] = b.thread;
            pthread_create(&threads[count], NULL, thread_play, &numbers[count]);
            ++count;
        }
        ops->wait(b.time - tape.first + LEAD_NS);
        play_hand_over(at, numbers[i]);
    }
    play_hand_over(0, 0);
    for (unsigned i = 0; i < count; ++i) {
        pthread_join(threads[i], NULL);
    }
}
