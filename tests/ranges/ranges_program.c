/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with timers of stint that also makes ranges of other interfaces, as libraries do:
 * ranges_program LIBRARY STORY [SEED | PLUGIN]. It calls the functions of libstint-ranges.so as the
 * static part of ITT, Kokkos and a program of roctx do. The static part of ITT and libroctx64 are
 * not here: which functions they call, and the layouts, are those of the public headers
 * ittnotify.h, ittnotify_config.h and roctx.h.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adapters/itt.h"
#include "plugin.h"
#include "stint/stint.h"

static void *library;
static const char *given = "";

static void *find(const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("no %s\n", name);
        exit(1);
    }
    return symbol;
}

#define FIND(pointer, name)                                                                        \
    do {                                                                                           \
        void *symbol_ = find(name);                                                                \
        memcpy(&(pointer), &symbol_, sizeof symbol_);                                              \
    } while (0)

static int (*roctx_push)(const char *);
static int (*roctx_pop)(void);
static uint64_t (*roctx_start)(const char *);
static void (*roctx_stop)(uint64_t);
static void (*kokkos_push)(const char *);
static void (*kokkos_pop)(void);
static void (*kokkos_start_section)(uint32_t);
static void (*kokkos_stop_section)(uint32_t);

/* The part of a module that knows ITT: its list of functions. */
static void nothing(void) {
}

static struct itt_domain *(*domain_create)(const char *);
static struct itt_string *(*string_create)(const char *);
static void (*task_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
                          struct itt_string *);
static void (*task_end)(const struct itt_domain *);
static void (*region_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
                            struct itt_string *);
static void (*region_end)(const struct itt_domain *, struct itt_id);
static void (*metadata_add)(const struct itt_domain *, struct itt_id, struct itt_string *, int,
                            size_t, const void *);
static void (*frame_begin)(const struct itt_domain *, const struct itt_id *);
static void (*frame_end)(const struct itt_domain *, const struct itt_id *);
static void (*overlapped_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
                                struct itt_string *);
static void (*overlapped_end)(const struct itt_domain *, struct itt_id);
static struct itt_counter *(*counter_create)(const char *, const char *);
static struct itt_counter *(*counter_create_typed)(const char *, const char *, int);
static void (*counter_destroy)(struct itt_counter *);
static void (*counter_set)(struct itt_counter *, const void *);
static void (*counter_inc)(struct itt_counter *);
static void (*counter_inc_delta)(struct itt_counter *, uint64_t);
static void (*counter_dec)(struct itt_counter *);
static void (*counter_dec_delta)(struct itt_counter *, uint64_t);
static void (*counter_inc_v3)(const struct itt_domain *, struct itt_string *);
static void (*counter_inc_delta_v3)(const struct itt_domain *, struct itt_string *, uint64_t);
static void (*marker)(const struct itt_domain *, struct itt_id, struct itt_string *, int);
static void (*pause_all)(void);
static void (*resume_all)(void);
static void (*thread_set_name)(const char *);
static void (*not_known)(void);
static struct itt_id none;

static struct itt_domain made_before = {1, "made before", NULL, 0, NULL, NULL};
static struct itt_string string_before = {"string before", NULL, 0, NULL, NULL};

static void itt_module(void) {
    void (*init)(struct itt_global *, int) = NULL;
#define API(name, pointer)                                                                         \
    { "__itt_" name, (void **)(void *)&(pointer), NULL, (void *)(uintptr_t)nothing, 0 }
    static struct itt_api list[] = {API("domain_create", domain_create),
                                    API("string_handle_create", string_create),
                                    API("task_begin", task_begin),
                                    API("task_end", task_end),
                                    API("region_begin", region_begin),
                                    API("region_end", region_end),
                                    API("metadata_add", metadata_add),
                                    API("of_next_year", not_known),
                                    API("frame_begin_v3", frame_begin),
                                    API("frame_end_v3", frame_end),
                                    API("task_begin_overlapped", overlapped_begin),
                                    API("task_end_overlapped", overlapped_end),
                                    API("counter_create", counter_create),
                                    API("counter_create_typed", counter_create_typed),
                                    API("counter_destroy", counter_destroy),
                                    API("counter_set_value", counter_set),
                                    API("counter_inc", counter_inc),
                                    API("counter_inc_delta", counter_inc_delta),
                                    API("counter_dec", counter_dec),
                                    API("counter_dec_delta", counter_dec_delta),
                                    API("counter_inc_v3", counter_inc_v3),
                                    API("counter_inc_delta_v3", counter_inc_delta_v3),
                                    API("marker", marker),
                                    API("pause", pause_all),
                                    API("resume", resume_all),
                                    API("thread_set_name", thread_set_name),
                                    {NULL, NULL, NULL, NULL, 0}};
    static struct itt_global global;
    global.api_list = list;
    global.domains = &made_before;
    global.strings = &string_before;
    FIND(init, "__itt_api_init");
    init(&global, -1);
}

static int failed;

static void expect(int holds, const char *what) {
    if (!holds) {
        printf("wrong: %s\n", what);
        failed = 1;
    }
}

/* ---- Random interleavings. Each range's calls, and its time by the program's own clock: that
 * between its begin and its end, and that around both. */

#define INTERFACES 3
#define NAMES 4
#define STEPS 4000
#define DEPTH 12

struct known {
    int64_t calls, inside, around;
};

static struct known known[INTERFACES + 1][NAMES];
static struct open {
    int name;
    int64_t before, begun;
} stack[INTERFACES][DEPTH];
static int depth[INTERFACES];
static struct itt_domain *domain;
static struct itt_string *strings[NAMES];
static uint64_t state;

static const char *const names[INTERFACES + 1][NAMES] = {
    {"roctx 0", "roctx 1", "roctx 2", "roctx 3"},
    {"kokkos 0", "kokkos 1", "kokkos 2", "kokkos 3"},
    {"itt 0", "itt 1", "itt 2", "itt 3"},
    {"own 0", "own 1", "own 2", "own 3"}};

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int is_open(int interface, int name) {
    for (int i = 0; i < depth[interface]; ++i) {
        if (stack[interface][i].name == name) {
            return 1;
        }
    }
    return 0;
}

/* One of a name at a time: a call inside one of the same name is counted, but not timed. */
static void begin(int interface) {
    int name = (int)draw(NAMES);
    if (depth[interface] == DEPTH || is_open(interface, name)) {
        return;
    }
    struct open *o = &stack[interface][depth[interface]++];
    o->name = name;
    o->before = now();
    if (interface == 0) {
        roctx_push(names[0][name]);
    } else if (interface == 1) {
        kokkos_push(names[1][name]);
    } else {
        task_begin(domain, none, none, strings[name]);
    }
    o->begun = now();
}

static void end(int interface) {
    if (!depth[interface]) {
        return;
    }
    const struct open *o = &stack[interface][--depth[interface]];
    struct known *k = &known[interface][o->name];
    int64_t from = now();
    if (interface == 0) {
        roctx_pop();
    } else if (interface == 1) {
        kokkos_pop();
    } else {
        task_end(domain);
    }
    ++k->calls;
    k->inside += from - o->begun;
    k->around += now() - o->before;
}

static int left;
static int own_open[NAMES];
static void act(int level);

#define OWN(n)                                                                                     \
    static void own_##n(int level) {                                                               \
        REGISTER_TIMER("own " #n);                                                                 \
        own_open[n] = 1;                                                                           \
        act(level + 1);                                                                            \
        own_open[n] = 0;                                                                           \
    }
OWN(0)
OWN(1)
OWN(2)
OWN(3)
static void (*const own[NAMES])(int) = {own_0, own_1, own_2, own_3};

static void own_call(int level) {
    int name = (int)draw(NAMES);
    if (own_open[name]) {
        return;
    }
    int64_t from = now();
    own[name](level);
    ++known[INTERFACES][name].calls;
    known[INTERFACES][name].around += now() - from;
}

static void act(int level) {
    while (left > 0) {
        --left;
        unsigned what = draw(16);
        if (what < 6) {
            begin((int)(what / 2));
        } else if (what < 12) {
            end((int)(what / 2) - 3);
        } else if (what < 14) {
            own_call(level);
        } else if (level) {
            return;
        }
    }
}

static void interleave(void) {
    state = strtoull(given, NULL, 10);
    left = STEPS;
    domain = domain_create("domain");
    for (int i = 0; i < NAMES; ++i) {
        strings[i] = string_create(names[2][i]);
    }
    act(0);
    for (int i = 0; i < INTERFACES; ++i) {
        while (depth[i]) {
            end(i);
        }
    }
    for (int i = 0; i <= INTERFACES; ++i) {
        for (int n = 0; n < NAMES; ++n) {
            const struct known *k = &known[i][n];
            printf("%s,%lld,%lld,%lld\n", names[i][n], (long long)k->calls, (long long)k->inside,
                   (long long)k->around);
        }
    }
}

/* ---- Bad input. */

static void *end_all(void *unused) {
    task_end(domain);
    roctx_pop();
    kokkos_pop();
    return unused;
}

static void bad(void) {
    struct itt_domain garbage;
    struct itt_id id = {1, 2, 3};
    static char string_garbage[64] __attribute__((aligned(8)));
    uint64_t number = 7;
    domain = domain_create("domain");
    memset(&garbage, 0x5a, sizeof garbage);
    memset(string_garbage, 0x5a, sizeof string_garbage);
    expect(domain_create("domain") == domain, "the same domain for the same name");
    expect(string_create("x") == string_create("x"), "the same string for the same text");
    expect(domain->flags && !strcmp(domain->name, "domain"), "a domain that is on");
    not_known();                                         /* no function of the tool */
    task_begin(NULL, none, none, string_create("lost")); /* range_full */
    task_begin(&garbage, none, none, NULL);              /* range_full */
    task_end(&garbage);
    task_begin(domain, none, none, (struct itt_string *)(void *)string_garbage);
    metadata_add(domain, none, string_create("number"), 1, 1, &number);
    metadata_add(domain, none, string_create("number"), 99, 1, &number);
    metadata_add(domain, none, string_create("number"), 1, 1, NULL);
    task_end(domain);
    task_end(domain); /* stray_end */
    region_begin(domain, id, none, string_create("a region"));
    region_end(domain, id);
    region_end(domain, id); /* stray_end */
    domain_create(NULL);
    string_create("");
    roctx_push(NULL); /* bad_sample */
    roctx_pop();
    uint64_t range = roctx_start("started");
    roctx_stop(range);
    roctx_stop(range);         /* stray_end */
    roctx_stop(12345);         /* stray_end */
    kokkos_stop_section(7);    /* stray_end */
    kokkos_start_section(7);   /* range_full */
    kokkos_start_section(~0u); /* range_full */
    pthread_t thread;
    task_begin(domain, none, none, string_create("of this thread"));
    roctx_push("of this thread");
    kokkos_push("of this thread");
    pthread_create(&thread, NULL, end_all, NULL); /* stray_end, three times */
    pthread_join(thread, NULL);
    kokkos_pop();
    roctx_pop();
    task_end(domain);
}

/* Each function of ITT once; the values in the order of the trace. */
static void itt_all(void) {
    struct itt_id first = {1, 1, 0}, second = {1, 2, 0};
    static const double half = 0.5;
    static const int32_t minus = -3;
    static const uint16_t small = 65535;
    domain = domain_create("domain");
    thread_set_name("a thread with a long name");
    thread_set_name(NULL);
    overlapped_begin(domain, first, none, string_create("first"));
    overlapped_begin(domain, second, none, string_create("second"));
    overlapped_end(domain, first);
    overlapped_end(domain, second);
    frame_begin(domain, NULL);
    frame_begin(domain, &first);
    frame_end(domain, NULL);
    frame_end(domain, &first);
    metadata_add(domain, none, string_create("real"), 8, 1, &half);
    metadata_add(domain, none, string_create("integer"), 4, 1, &minus);
    metadata_add(domain, none, string_create("short"), 5, 1, &small);
    struct itt_counter *plain = counter_create("plain", "domain");
    counter_inc(plain);                                             /* 1 */
    counter_inc_delta(plain, 9);                                    /* 10 */
    counter_dec(plain);                                             /* 9 */
    counter_dec_delta(plain, 12);                                   /* -3 */
    counter_set(counter_create_typed("typed", "domain", 8), &half); /* 0.5 */
    counter_inc_v3(domain, string_create("named"));                 /* 1 */
    counter_inc_delta_v3(domain, string_create("named"), 4);        /* 5 */
    counter_create("plain", "another");
    counter_destroy(plain);
    counter_inc(plain); /* -2 */
    counter_destroy(plain);
    counter_inc(plain);
    counter_inc(counter_create("plain", "domain")); /* 1 */
    counter_inc((struct itt_counter *)(void *)&first);
    counter_inc(NULL);
    marker(domain, none, string_create("a marker"), 0);
    task_begin(domain, none, none, string_create("before the pause"));
    pause_all();
    task_end(domain);
    task_begin(domain, none, none, string_create("paused"));
    resume_all();
    task_end(domain);
    task_begin(domain, none, none, string_create("resumed"));
    task_end(domain);
}

/* Overlapped tasks of four threads, eight open on each; the main thread ends a region of each. */
#define THREADS 4
#define INTERVALS 20000

static void *overlap(void *argument) {
    uint64_t me = *(const uint64_t *)argument;
    for (uint64_t i = 0; i < INTERVALS + 8; ++i) {
        struct itt_id starts = {me, i, 0}, ends = {me, i - 8, 0};
        if (i < INTERVALS) {
            overlapped_begin(domain, starts, none, string_create("overlapped"));
        }
        if (i >= 8) {
            overlapped_end(domain, ends);
        }
    }
    struct itt_id last = {me, INTERVALS, 0};
    region_begin(domain, last, none, string_create("for another thread"));
    return NULL;
}

static void itt_threads(void) {
    pthread_t threads[THREADS];
    uint64_t numbers[THREADS];
    domain = domain_create("domain");
    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = (uint64_t)i;
        pthread_create(&threads[i], NULL, overlap, &numbers[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        struct itt_id last = {(uint64_t)i, INTERVALS, 0};
        pthread_join(threads[i], NULL);
        region_end(domain, last);
    }
}

struct space {
    char name[64];
};

/* The C interface of Kokkos Tools: Kokkos_Profiling_C_Interface.h. Its settings are 256 bytes, of
 * which the first is whether the tool needs fences. */
static void kokkos_all(void) {
    void (*begin_kernel)(const char *, uint32_t, uint64_t *), (*end_kernel)(uint64_t);
    void (*create)(const char *, uint32_t *), (*destroy)(uint32_t), (*event)(const char *);
    void (*copy)(struct space, const char *, const void *, struct space, const char *, const void *,
                 uint64_t);
    void (*copied)(void), (*settings)(uint32_t, uint8_t *);
    void (*allocate)(struct space, const char *, const void *, uint64_t);
    void (*release)(struct space, const char *, const void *, uint64_t);
    static const struct space host = {"Host"}, device = {"Device"};
    static const char *const kernels[][3] = {
        {"kokkosp_begin_parallel_for", "kokkosp_end_parallel_for", "for"},
        {"kokkosp_begin_parallel_reduce", "kokkosp_end_parallel_reduce", "reduce"},
        {"kokkosp_begin_parallel_scan", "kokkosp_end_parallel_scan", "scan"},
        {"kokkosp_begin_fence", "kokkosp_end_fence", "fence"},
        {"kokkosp_begin_fence", "kokkosp_end_fence", NULL}};
    for (int i = 0; i < 5; ++i) {
        uint64_t id = 1;
        FIND(begin_kernel, kernels[i][0]);
        FIND(end_kernel, kernels[i][1]);
        begin_kernel(kernels[i][2], 0, &id);
        end_kernel(id);
        expect(!id, "the number of a kernel is set");
    }
    FIND(create, "kokkosp_create_profile_section");
    FIND(destroy, "kokkosp_destroy_profile_section");
    FIND(event, "kokkosp_profile_event");
    FIND(copy, "kokkosp_begin_deep_copy");
    FIND(copied, "kokkosp_end_deep_copy");
    FIND(settings, "kokkosp_request_tool_settings");
    FIND(allocate, "kokkosp_allocate_data");
    FIND(release, "kokkosp_deallocate_data");
    uint32_t section, same, none_of = 0;
    create("section", &section);
    create("of the same name", &same);
    create(NULL, &none_of);
    create("section", NULL);
    kokkos_start_section(section);
    kokkos_start_section(same);
    kokkos_start_section(section); /* ends what it began */
    kokkos_stop_section(section);
    kokkos_stop_section(same);
    kokkos_start_section(section);
    kokkos_stop_section(section);
    kokkos_stop_section(section);  /* stray_end */
    kokkos_start_section(none_of); /* range_full */
    kokkos_stop_section(none_of);
    kokkos_start_section(1u << 31); /* range_full */
    destroy(section);
    destroy(~0u);
    copy(host, "to", &host, device, "from", &device, 4096);
    copied();
    copied(); /* stray_end */
    allocate(host, "label", &host, 100);
    allocate(device, NULL, NULL, 7);
    allocate(host, "label", &host, 200);
    release(host, "label", &host, 100);
    release(device, NULL, NULL, 7);
    event("event");
    uint8_t wanted[256];
    memset(wanted, 1, sizeof wanted);
    settings(1, wanted);
    expect(!wanted[0] && wanted[1] == 1, "no fences are asked for");
    settings(1, NULL);
}

/* More texts than there is room for, each asked for once. */
static void names_many(void) {
    char text[64];
    domain = domain_create("domain");
    for (int i = 0; i < 200000; ++i) {
        snprintf(text, sizeof text, "a name of a kernel, number %d", i);
        string_create(text);
    }
    task_begin(domain, none, none, string_create("a name of a kernel, number 0"));
    task_end(domain);
}

/* ---- Names in one buffer: they change at the same address, and one is the beginning of another.
 * The child of a fork has other numbers for them. */

static void names_in_buffer(const char *const three[3]) {
    static char buffer[2][32];
    for (int i = 0; i < 300; ++i) {
        char *name = buffer[i / 150];
        strcpy(name, three[i / 5 % 3]);
        roctx_push(name);
        kokkos_push(name);
        memset(name, 'x', sizeof buffer[0] - 1); /* nothing reads it later */
        kokkos_pop();
        roctx_pop();
    }
}

static void names_changed(void) {
    static const char *const first[] = {"one", "one more", "two"};
    static const char *const other[] = {"two", "three", "one"};
    roctx_push("around");
    names_in_buffer(first);
    roctx_pop();
    pid_t child = fork();
    if (!child) {
        names_in_buffer(other);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- Names that differ in one byte, or end at it, at one address, before a page that cannot be
 * read. */

static void name_twice(const char *name) {
    for (int i = 0; i < 2; ++i) {
        kokkos_push(name);
        roctx_push(name);
        roctx_pop();
        kokkos_pop();
    }
}

static void names_differ(void) {
    enum { PAGE = 65536 }; /* of all kernels */
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(pages != MAP_FAILED && !mprotect(pages + PAGE, PAGE, PROT_NONE), "pages");
    kokkos_push("around");
    for (int length = 20; length <= 23;
         length += 3) { /* only the second one is at a multiple of 8 */
        char *name = pages + PAGE - length - 1;
        for (int at = 0; at < length; ++at) {
            for (int change = 0; change < 4; ++change) {
                memset(name, 'n', (size_t)length);
                name[length] = '\0';
                name[at] = "ncn"[change]; /* the last one ends there */
                name_twice(*name ? name : "empty");
            }
        }
    }
    kokkos_pop();
}

/* ---- A plain account of ranges that start and stop at random: more than there is room for, twice,
 * and by numbers of sections that were destroyed. */

#define MODEL 18000 /* a third each: roctx, ITT, sections of Kokkos */
#define ROOM 4096   /* started ranges of all interfaces */
#define SECTIONS 1024
enum { MODEL_ROCTX, MODEL_ITT, MODEL_KOKKOS };

static struct range {
    uint64_t number;
    unsigned open, refused, is_made; /* refused: that did not stop yet; is_made: a section exists */
} ranges[MODEL];
static unsigned opened, recorded, lost, strays, open_now, sections_made;

static void model_end(struct range *r) {
    recorded += r->open > 0;
    open_now -= r->open > 0;
    r->open -= r->open > 0;
}

static void model_stop(int place) {
    struct range *r = &ranges[place];
    struct itt_id id = {(uint64_t)place, 0, 0};
    int kind = place * 3 / MODEL;
    if (kind == MODEL_ROCTX) {
        roctx_stop(r->number);
    } else if (kind == MODEL_ITT) {
        overlapped_end(domain, id);
    } else {
        kokkos_stop_section((uint32_t)r->number);
    }
    strays += !r->open && !r->refused && (kind != MODEL_ROCTX || r->number);
    r->refused -= !r->open && r->refused;
    model_end(r);
}

static void model_start(int place) {
    struct range *r = &ranges[place];
    struct itt_id id = {(uint64_t)place, 0, 0};
    int kind = place * 3 / MODEL;
    unsigned fits = open_now < ROOM && (kind != MODEL_KOKKOS || r->is_made);
    if (kind == MODEL_ROCTX) {
        r->number = roctx_start("roctx"); /* 0: no room */
    } else if (kind == MODEL_ITT) {
        overlapped_begin(domain, id, none, NULL);
    } else {
        kokkos_start_section((uint32_t)r->number);
        model_end(r); /* it ends what it began */
    }
    ++opened;
    lost += !fits;
    r->refused += !fits && kind != MODEL_ROCTX;
    r->open += fits;
    open_now += fits;
}

/* Makes the section, or destroys it twice, which ends what it began. */
static void model_switch(int place, void (*create)(const char *, uint32_t *),
                         void (*destroy)(uint32_t)) {
    struct range *r = &ranges[place];
    uint32_t id = (uint32_t)r->number;
    sections_made -= r->is_made;
    if (r->is_made) {
        destroy(id);
        destroy(id);
        model_end(r);
        r->is_made = 0;
        return;
    }
    while (r->refused) {
        model_stop(place);
    }
    create("section", &id);
    r->is_made = sections_made < SECTIONS;
    sections_made += r->is_made;
    expect((id != UINT32_MAX) == r->is_made, "a number while there is room");
    expect(!r->is_made || id != r->number, "another number than before");
    r->number = id;
}

static void model(void) {
    void (*create)(const char *, uint32_t *), (*destroy)(uint32_t);
    FIND(create, "kokkosp_create_profile_section");
    FIND(destroy, "kokkosp_destroy_profile_section");
    domain = domain_create("domain");
    state = strtoull(given, NULL, 10);
    for (int step = 0; step < 120000; ++step) {
        int place = (int)draw(MODEL), kind = place * 3 / MODEL;
        unsigned stops = draw(8) < (step / 20000 % 2 ? 6u : 2u); /* it fills, and empties */
        if (kind == MODEL_KOKKOS && draw(2)) {
            model_switch(place, create, destroy);
        } else if (stops) {
            model_stop(place);
        } else if (kind != MODEL_ROCTX || !ranges[place].open) {
            model_start(place);
        }
    }
    for (int place = 0; place < MODEL; ++place) {
        while (ranges[place].open || ranges[place].refused) {
            model_stop(place);
        }
    }
    printf("%u,%u,%u,%u\n", opened, recorded, lost, strays);
}

/* ---- Ranges of a signal handler, from before the first scope on. */

static volatile unsigned handled;

static void on_signal(int number) {
    struct itt_id id = {1, (uint64_t)number, 0};
    if (++handled % 2) {
        task_begin(domain, none, none, NULL);
        task_end(domain);
    } else {
        overlapped_begin(domain, id, none, NULL);
        overlapped_end(domain, id);
    }
}

static void handlers(void) {
    static const struct itimerval often = {{0, 100}, {0, 100}}, never;
    char name[32];
    domain = domain_create("domain");
    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 4000; ++i) {
        snprintf(name, sizeof name, "scope %d", i % 3000);
        STINT_TIMER_DYNAMIC(name);
        if (i >= 3000) { /* new names keep the recorder busy */
            roctx_push(name);
            roctx_pop();
        }
    }
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%u\n", handled);
}

static void before(void) {
    task_begin(&made_before, none, none, &string_before);
    task_end(&made_before);
}

static void forks(void) {
    domain = domain_create("domain");
    task_begin(domain, none, none, string_create("around the fork"));
    roctx_push("around the fork");
    pid_t child = fork();
    if (!child) {
        roctx_pop();
        task_end(domain);
        roctx_push("in the child");
        roctx_pop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    roctx_pop();
    task_end(domain);
}

/* The ranges that the plugin began end when it is no longer loaded. */
static void unload(void) {
    struct plugin_calls calls = {NULL,        domain_create, task_begin, roctx_push,
                                 kokkos_push, roctx_start,   NULL,       0};
    void (*plugin)(struct plugin_calls *) = NULL;
    FIND(calls.itt_init, "__itt_api_init");
    void *module = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    void *symbol = NULL;
    if (module) {
        symbol = dlsym(module, "plugin_begin");
    }
    if (!symbol) {
        printf("no plugin: %s\n", dlerror());
        exit(1);
    }
    memcpy(&plugin, &symbol, sizeof symbol);
    plugin(&calls);
    dlclose(module);
    expect(!dlopen(given, RTLD_NOW | RTLD_NOLOAD), "the plugin is unloaded");
    kokkos_pop();
    roctx_pop();
    task_end(calls.domain);
    roctx_stop(calls.started);
    task_begin(calls.domain, none, none, string_create("task of a plugin")); /* a name it left */
    task_end(calls.domain);
}

static const struct {
    const char *name;
    void (*tell)(void);
} stories[] = {{"interleave", interleave}, {"bad", bad},
               {"kokkos", kokkos_all},     {"threads", itt_threads},
               {"itt", itt_all},           {"names", names_many},
               {"model", model},           {"handlers", handlers},
               {"before", before},         {"fork", forks},
               {"changed", names_changed}, {"differ", names_differ},
               {"unload", unload}};

int main(int argc, char **argv) {
    if (argc < 3) {
        return 2;
    }
    if (argc > 3) {
        given = argv[3];
    }
    library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    FIND(roctx_push, "roctxRangePushA");
    FIND(roctx_pop, "roctxRangePop");
    FIND(roctx_start, "roctxRangeStartA");
    FIND(roctx_stop, "roctxRangeStop");
    FIND(kokkos_push, "kokkosp_push_profile_region");
    FIND(kokkos_pop, "kokkosp_pop_profile_region");
    FIND(kokkos_start_section, "kokkosp_start_profile_section");
    FIND(kokkos_stop_section, "kokkosp_stop_profile_section");
    itt_module();
    for (size_t i = 0; i < sizeof stories / sizeof *stories; ++i) {
        if (!strcmp(argv[2], stories[i].name)) {
            stories[i].tell();
            return failed;
        }
    }
    return 2;
}
