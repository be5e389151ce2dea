/* SPDX-License-Identifier: Apache-2.0 */
#include "nvtx_injection.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#define EXPORTED __attribute__((visibility("default")))
#define STRINGS 8192

/* The target of a handle. */
struct text {
    const struct text *domain;
    char bytes[64];
};

static struct nvtx_log log_here;
static struct text texts[STRINGS];
static unsigned text_count;
static __thread int depth;

EXPORTED struct nvtx_log *nvtx_injection_log(void);
EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

struct nvtx_log *nvtx_injection_log(void) {
    return &log_here;
}

static unsigned count(unsigned *counter) {
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static struct text *keep(const char *bytes, const struct text *domain) {
    struct text *t = &texts[count(&text_count) % STRINGS];
    t->domain = domain;
    snprintf(t->bytes, sizeof t->bytes, "%s", bytes);
    return t;
}

static void note(struct nvtx_event e) {
    unsigned at = count(&log_here.events);
    e.thread = (int32_t)syscall(SYS_gettid);
    if (at < NVTX_LOG_EVENTS) {
        log_here.event[at] = e;
    }
    errno = 99; /* the caller has to restore it */
}

/* First: a thread that is cancelled there has pushed or popped nothing. */
static void inside(void) {
    if (log_here.inside) {
        log_here.inside();
    }
}

static nvtxDomainHandle_t NVTX_API domain_create(const char *name) {
    count(&log_here.domains);
    errno = 99;
    return (nvtxDomainHandle_t)(void *)keep(name, NULL);
}

static nvtxStringHandle_t NVTX_API string_register(nvtxDomainHandle_t domain, const char *string) {
    count(&log_here.strings);
    errno = 99;
    return log_here.without_strings
               ? NULL
               : (nvtxStringHandle_t)(void *)keep(string, (const struct text *)(void *)domain);
}

static void NVTX_API category_name(nvtxDomainHandle_t domain, uint32_t category, const char *name) {
    (void)domain;
    count(&log_here.categories);
    if (category < 64) {
        snprintf(log_here.category[category], sizeof log_here.category[0], "%s", name);
    }
    errno = 99;
}

static int NVTX_API range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range) {
    inside();
    const struct text *d = (const struct text *)(void *)domain;
    struct nvtx_event e = {.kind = '{', .depth = depth++, .category = range->category};
    count(&log_here.pushes);
    e.coloured = range->colorType != NVTX_COLOR_UNKNOWN;
    e.registered = range->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    e.domain = d->bytes;
    if (e.registered) {
        const struct text *t = (const struct text *)(void *)range->message.registered;
        e.text = t->domain == d ? t->bytes : "a string of another domain";
    } else {
        e.text = keep(range->message.ascii, d)->bytes;
    }
    note(e);
    return e.depth;
}

static int NVTX_API range_pop(nvtxDomainHandle_t domain) {
    inside();
    struct nvtx_event e = {.kind = '}', .domain = ((struct text *)(void *)domain)->bytes};
    count(&log_here.pops);
    if (depth > 0) {
        e.depth = --depth;
    } else {
        count(&log_here.strays);
    }
    note(e);
    return e.depth;
}

/* NVTX keeps its state per library: two that use it start the tool twice. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const NvtxExportTableCallbacks *callbacks =
        (const NvtxExportTableCallbacks *)get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    void *starting = dlsym(RTLD_DEFAULT, "nvtx_test_starting");
    nvtx_test_starting_fn *call;
    count(&log_here.starts);
    if (starting) {
        memcpy(&call, &starting, sizeof call);
        call();
    }
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
        size <= NVTX_CBID_CORE2_DomainCreateA) {
        return 0;
    }
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
    *table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)string_register;
    *table[NVTX_CBID_CORE2_DomainNameCategoryA] = (NvtxFunctionPointer)category_name;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)range_push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)range_pop;
    return 1;
}
