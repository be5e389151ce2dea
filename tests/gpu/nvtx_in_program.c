/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows NVTX and not stint: nvtx_in_program STORY. The same file is a library that
 * does (NVTX_IN_LIBRARY): a module of its own, with NVTX tables of its own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static nvtxEventAttributes_t event_of(const char *name) {
    nvtxEventAttributes_t e = {0};
    e.version = NVTX_VERSION;
    e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    e.messageType = NVTX_MESSAGE_TYPE_ASCII;
    e.message.ascii = name;
    return e;
}

#ifdef NVTX_IN_LIBRARY

__attribute__((visibility("default"))) void nvtx_in_library(void);

void nvtx_in_library(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t e = event_of("in the library");
    for (int i = 0; i < 3; ++i) {
        nvtxDomainRangePushEx(domain, &e);
        nvtxDomainRangePop(domain);
    }
}

#else

static int failed;

static void expect(int holds, const char *what) {
    if (!holds) {
        printf("wrong: %s\n", what);
        failed = 1;
    }
}

static void *end_it(void *id) {
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    return NULL;
}

static void use_payloads(void) {
    nvtxEventAttributes_t e = event_of("payload");
    e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    e.payload.ullValue = 7;
    nvtxMarkEx(&e);
    e.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    e.payload.llValue = -7;
    nvtxMarkEx(&e);
    e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    e.payload.dValue = 2.5;
    nvtxMarkEx(&e);
    e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
    e.payload.uiValue = 9;
    nvtxMarkEx(&e);
    e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    e.payload.iValue = -9;
    nvtxMarkEx(&e);
    e.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    e.payload.fValue = 0.25f;
    nvtxRangePushEx(&e);
    nvtxRangePop();
}

static void ranges(void) {
    expect(nvtxRangePushA("outer") == 0, "the outer range has level 0");
    expect(nvtxRangePushW(L"inner \u00e4 \U0001f600") == 1, "the inner range has level 1");
    expect(nvtxRangePop() == 1, "the level of the range that ended");
    nvtxEventAttributes_t e = event_of("with a category");
    nvtxNameCategoryA(5, "io");
    e.category = 5;
    nvtxRangePushEx(&e);
    nvtxRangePop();
    e = event_of("with a category without a name");
    e.category = 6;
    nvtxRangePushEx(&e);
    nvtxRangePop();
    expect(nvtxRangePop() == 0, "the level of the outer range");
    expect(nvtxRangePop() < 0, "a range that was not open");
    nvtxMarkA("mark");
    nvtxMarkW(L"wide mark");
    use_payloads();
    pthread_t thread;
    nvtxRangeId_t id = nvtxRangeStartA("from thread to thread");
    pthread_create(&thread, NULL, end_it, &id);
    pthread_join(thread, NULL);
    nvtxRangeEnd(id); /* once more */
    nvtxRangeEnd(12345);
    nvtxRangeEnd(nvtxRangeStartW(L"wide start"));
    nvtxRangePushA("");
    nvtxRangePop();
}

static void domains(void) {
    nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateW(L"two");
    expect(nvtxDomainCreateA("one") == one, "a domain of the same name");
    nvtxEventAttributes_t e = event_of(NULL);
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    e.message.registered = nvtxDomainRegisterStringA(one, "registered");
    nvtxDomainRangePushEx(one, &e);
    e.message.registered = nvtxDomainRegisterStringW(two, L"registered wide");
    expect(nvtxDomainRangePushEx(two, &e) == 0, "levels are those of the domain");
    /* The first ends before the second. */
    nvtxDomainRangePop(one);
    e = event_of("inside the second");
    nvtxDomainNameCategoryA(two, 3, "copies");
    e.category = 3;
    nvtxDomainRangePushEx(two, &e);
    nvtxDomainRangePop(two);
    nvtxDomainRangePop(two);
    expect(nvtxDomainRangePop(one) < 0, "no range of the domain is open");
    e = event_of("started");
    nvtxDomainRangeEnd(one, nvtxDomainRangeStartEx(one, &e));
    nvtxDomainMarkEx(one, &e);
    nvtxDomainDestroy(one);
}

/* Handles that are none: what they begin is not recorded, and what they end was not open. */
static void garbage(void) {
    static uint64_t memory[16];
    void *const handles[] = {memory, (void *)(uintptr_t)8, (void *)(uintptr_t)UINT64_MAX};
    nvtxDomainHandle_t one = nvtxDomainCreateA("one");
    nvtxEventAttributes_t named = event_of("named"), e = event_of(NULL);
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    for (int i = 0; i < 3; ++i) {
        nvtxDomainHandle_t none = handles[i];
        nvtxDomainRangePop(none);
        nvtxDomainRangePushEx(none, &named);
        nvtxDomainRangePop(none);
        nvtxDomainNameCategoryA(none, 1, "category");
        e.message.registered = handles[i];
        nvtxDomainRangePushEx(one, &e);
        nvtxDomainRangePop(one);
        e.message.registered = (nvtxStringHandle_t)(uintptr_t)one;
        nvtxDomainRangePushEx(one, &e);
        nvtxDomainRangePop(one);
        nvtxDomainRegisterStringA(none, "string");
        nvtxDomainDestroy(none);
    }
    nvtxDomainRangePushEx(one, NULL);
    nvtxDomainRangePop(one);
    nvtxDomainMarkEx(one, NULL);
    nvtxDomainRangeStartEx(one, NULL);
    expect(!nvtxDomainRegisterStringA(one, NULL), "no string");
    /* A registered string and the same text are one name. */
    e.message.registered = nvtxDomainRegisterStringA(one, "named");
    expect(e.message.registered == nvtxDomainRegisterStringW(one, L"named"), "the same string");
    nvtxDomainRangePushEx(one, &e);
    nvtxDomainRangePushEx(one, &named);
    nvtxDomainRangePop(one);
    nvtxDomainRangePop(one);
}

static void full(void) {
    static nvtxRangeId_t ids[5000];
    char name[32];
    for (int i = 0; i < 5000; ++i) {
        ids[i] = nvtxRangeStartA("many");
    }
    for (int i = 0; i < 5000; ++i) {
        nvtxRangeEnd(ids[i]);
    }
    nvtxRangeEnd(nvtxRangeStartA("after them"));
    for (int i = 0; i < 8300 + 5000; ++i) {
        snprintf(name, sizeof name, "domain %d", i < 8300 ? i : 0);
        nvtxEventAttributes_t e = event_of("in a domain");
        nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
        nvtxDomainRangePushEx(domain, &e);
        nvtxDomainRangePop(domain);
        nvtxDomainDestroy(domain);
    }
    for (int i = 0; i < 300; ++i) {
        snprintf(name, sizeof name, "deep %d", i);
        nvtxRangePushA(name);
    }
    for (int i = 0; i < 300; ++i) {
        nvtxRangePop();
    }
    nvtxRangePushA("balanced again");
    nvtxRangePop();
}

/* Ranges of as many domains, each ended before those that began after it; then none is open. */
static void crossing(int count) {
    static nvtxDomainHandle_t domains[1000];
    char name[32];
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "crossing %d", i);
        nvtxEventAttributes_t e = event_of(name);
        domains[i] = nvtxDomainCreateA(name);
        expect(nvtxDomainRangePushEx(domains[i], &e) == 0, "the level in its domain");
    }
    usleep(20000);
    for (int i = 0; i < count; ++i) {
        expect(nvtxDomainRangePop(domains[i]) == 0, "the level of the range that ended");
    }
    nvtxRangePushA("balanced again");
    nvtxRangePop();
}

/* Two domains have a range open at each time, and never more than two. */
static void overlapping(void) {
    nvtxDomainHandle_t domains[2] = {nvtxDomainCreateA("one"), nvtxDomainCreateA("two")};
    nvtxEventAttributes_t e = event_of("overlapping");
    nvtxDomainRangePushEx(domains[0], &e);
    for (int i = 1; i < 2000; ++i) {
        nvtxDomainRangePushEx(domains[i % 2], &e);
        nvtxDomainRangePop(domains[(i + 1) % 2]);
    }
    nvtxDomainRangePop(domains[1]);
}

/* A domain's ranges that find no room, with those of another that do. */
static void balance(void) {
    nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateA("two");
    nvtxEventAttributes_t e = event_of("outer");
    nvtxDomainRangePushEx(one, &e);
    e = event_of("filler");
    for (int i = 0; i < 191; ++i) {
        nvtxDomainRangePushEx(two, &e);
    }
    e = event_of("without room");
    expect(nvtxDomainRangePushEx(one, &e) == 1, "the level of a range without room");
    nvtxDomainRangePop(two);
    expect(nvtxDomainRangePushEx(one, &e) == 2, "it has none either, inside of that one");
    usleep(20000);
    expect(nvtxDomainRangePop(one) == 2, "the innermost ends first");
    expect(nvtxDomainRangePop(one) == 1, "then the one around it");
    e = event_of("with room");
    nvtxDomainRangePushEx(one, &e);
    nvtxDomainRangePop(one);
    expect(nvtxDomainRangePop(one) == 0, "then the outer one");
    expect(nvtxDomainRangePop(one) < 0, "and then none");
    for (int i = 0; i < 190; ++i) {
        nvtxDomainRangePop(two);
    }
}

static void *leave_it_open(void *unused) {
    nvtxRangePushA("never ended");
    return unused;
}

static void leaves(void) {
    pthread_t thread;
    for (int i = 0; i < 300; ++i) {
        pthread_create(&thread, NULL, leave_it_open, NULL);
        pthread_join(thread, NULL);
    }
    nvtxRangePushA("after them");
    nvtxRangePop();
}

static void forks(void) {
    nvtxRangePushA("before");
    pid_t child = fork();
    if (!child) {
        nvtxRangePop();
        nvtxRangePushA("in the child");
        nvtxRangePop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    nvtxRangePop();
}

/* Initialises the library once more for this module, as NVTX does for each module. */
static void again(void) {
    nvtxRangePushA("open meanwhile");
    void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    NvtxInitializeInjectionNvtxFunc_t initialise = NULL;
    memcpy(&initialise, &symbol, sizeof initialise);
    expect(initialise != NULL, "the library is where the variable says");
    if (initialise) {
        expect(initialise(NVTX_VERSIONED_IDENTIFIER(nvtxGetExportTable)), "it may be told again");
        expect(!initialise(NULL), "a module without tables");
    }
    nvtxRangePushA("after it");
    nvtxRangePop();
    nvtxRangePop();
}

int main(int argc, char **argv) {
    const char *story = argc > 1 ? argv[1] : "";
    if (!strcmp(story, "ranges")) {
        ranges();
    } else if (!strcmp(story, "garbage")) {
        garbage();
    } else if (!strcmp(story, "domains")) {
        domains();
    } else if (!strcmp(story, "full")) {
        full();
    } else if (!strcmp(story, "crossing") && argc > 2) {
        crossing(atoi(argv[2]));
    } else if (!strcmp(story, "overlapping")) {
        overlapping();
    } else if (!strcmp(story, "balance")) {
        balance();
    } else if (!strcmp(story, "leaves")) {
        leaves();
    } else if (!strcmp(story, "fork")) {
        forks();
    } else if (!strcmp(story, "again")) {
        again();
    } else if (!strcmp(story, "library") && argc > 2) {
        void *library = dlopen(argv[2], RTLD_NOW);
        void (*call)(void) = NULL;
        void *symbol = library ? dlsym(library, "nvtx_in_library") : NULL;
        memcpy(&call, &symbol, sizeof call);
        nvtxRangePushA("in the program");
        if (call) {
            call();
        }
        nvtxRangePop();
    } else if (strcmp(story, "nothing") != 0) {
        return 2;
    }
    return failed;
}

#endif
