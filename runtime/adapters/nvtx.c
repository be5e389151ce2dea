/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX in libstint-ranges.so: the ranges that a program, and the libraries that it uses, give to
 * NVTX, as scopes. NVTX's header, compiled into each of them, loads the library that
 * NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2, once a module; the functions here
 * take the places of that module's table. Push and pop are scopes of their thread; start and end
 * are intervals, which may end on another thread; marks and payloads go to the trace; a domain, and
 * in it a named category, is a set.
 *
 * The domain "stint" is that of stint's own scopes (STINT_NVTX=1): it gets no handle, so stint
 * finds no tool and makes no ranges, and no time is in the report twice.
 *
 * The functions may be called from any thread and from signal handlers. They keep errno.
 */
#include <nvtx3/nvToolsExt.h>
#include <string.h>
#include <wchar.h>

#include "range_stack.h"
#include "range_tables.h"

/* A name that NVTX gave, and where it is if it had to be converted. */
struct nvtx_name {
    struct range_name name;
    char text[RANGE_NAME_BYTES + 8];
};

/* ---- Names. */

static void name_from_bytes(struct nvtx_name *out, const char *bytes) {
    out->name.bytes = bytes;
    out->name.length = 0;
    if (bytes) {
        out->name.length = strlen(bytes);
    }
}

/* The bytes of a character in UTF-8; a number that is none is U+FFFD. */
static size_t utf8_put(char *out, uint32_t c) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        c = 0xfffd;
    }
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = 1;
    if (c >= 0x800) {
        more = 2;
    }
    if (c >= 0x10000) {
        more = 3;
    }
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(first[more] | c >> 6 * more);
    for (size_t i = 1; i <= more; ++i) {
        out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    }
    return more + 1;
}

/* Cut where a name of stint would be, and so counted by it. */
static void name_from_wide(struct nvtx_name *out, const wchar_t *wide) {
    size_t length = 0;
    out->name.bytes = NULL;
    out->name.length = 0;
    if (!wide) {
        return;
    }
    while (*wide && length <= RANGE_NAME_BYTES) {
        length += utf8_put(out->text + length, (uint32_t)*wide++);
    }
    out->name.bytes = out->text;
    out->name.length = length;
}

static void string_fill(void *body, struct range_name name) {
    *(struct stint_impl_site *)body =
        (struct stint_impl_site){name.bytes, "NVTX", "", 0, 0, 0, 0, 0};
}

/* A registered string: the site of the ranges with this name. */
static const struct range_shape string_shape = {0x6e7674782d737472, sizeof(struct stint_impl_site),
                                                string_fill};

/* NULL: it has no registered string, or one that is none. */
static struct stint_impl_site *site_from_event(const nvtxEventAttributes_t *event) {
    void *handle = NULL;
    if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
        handle = event->message.registered;
    }
    if (!range_thing_is(&string_shape, handle)) {
        handle = NULL;
    }
    return handle;
}

static void name_from_event(struct nvtx_name *out, const nvtxEventAttributes_t *event) {
    if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
        name_from_wide(out, event->message.unicode);
    } else if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) {
        name_from_bytes(out, event->message.ascii);
    } else {
        const struct stint_impl_site *site = site_from_event(event);
        name_from_bytes(out, site ? site->name : NULL);
    }
}

/* ---- Events. */

static const struct range_domain *domain_of(nvtxDomainHandle_t handle) {
    return range_domain_of(RANGE_NVTX, handle);
}

/* Whether it has a number; then that is *out. */
static int read_payload(const nvtxEventAttributes_t *event, double *out) {
    switch (event->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        *out = (double)event->payload.ullValue;
        return 1;
    case NVTX_PAYLOAD_TYPE_INT64:
        *out = (double)event->payload.llValue;
        return 1;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
        *out = event->payload.dValue;
        return 1;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        *out = (double)event->payload.uiValue;
        return 1;
    case NVTX_PAYLOAD_TYPE_INT32:
        *out = (double)event->payload.iValue;
        return 1;
    case NVTX_PAYLOAD_TYPE_FLOAT:
        *out = (double)event->payload.fValue;
        return 1;
    default:
        return 0;
    }
}

/* Returns whether there is one. */
static int add_payload(const nvtxEventAttributes_t *event, const struct range_name *name) {
    double value;
    int is_there = read_payload(event, &value);
    if (is_there) {
        stint_impl_value_named(name->bytes, name->length, value);
    }
    return is_there;
}

static void add_mark(const nvtxEventAttributes_t *event) {
    struct nvtx_name n;
    if (!event) {
        return;
    }
    name_from_event(&n, event);
    if (!add_payload(event, &n.name)) {
        stint_impl_mark_named(n.name.bytes, n.name.length);
    }
}

static int push_event(const struct range_domain *domain, const nvtxEventAttributes_t *event) {
    struct nvtx_name n;
    if (!event) {
        return NVTX_NO_PUSH_POP_TRACKING;
    }
    struct stint_impl_site *site = site_from_event(event);
    const stint_set *set = range_set_of(domain, event->category);
    int depth;
    if (site) {
        depth = range_depth(domain->number);
        range_push_site_in(domain, site, stint_impl_set_id(set));
        name_from_bytes(&n, site->name);
    } else {
        name_from_event(&n, event);
        depth = range_push(domain, &n.name, set);
    }
    add_payload(event, &n.name);
    return depth;
}

static nvtxRangeId_t start_event(const struct range_domain *domain,
                                 const nvtxEventAttributes_t *event) {
    struct nvtx_name n;
    if (!event) {
        return 0;
    }
    name_from_event(&n, event);
    add_payload(event, &n.name);
    return range_start(domain, n.name, range_set_of(domain, event->category));
}

static int pop_range_of(const struct range_domain *domain) {
    int left = range_pop(domain->number);
    if (left < 0) {
        return NVTX_NO_PUSH_POP_TRACKING;
    }
    return left;
}

/* A function in both its forms: with a text in bytes, and in wide characters. */
#define FORM(result, function, character, take, statement, ...)                                    \
    static result NVTX_API function(__VA_ARGS__ const character *text) {                           \
        struct nvtx_name n;                                                                        \
        take(&n, text);                                                                            \
        statement;                                                                                 \
    }
#define BOTH_FORMS(result, function, ...)                                                          \
    FORM(result, function##_a, char, name_from_bytes, __VA_ARGS__)                                 \
    FORM(result, function##_w, wchar_t, name_from_wide, __VA_ARGS__)                               \
    _Static_assert(1, "the call ends with a semicolon")

/* ---- The functions without a domain. */

static void NVTX_API mark_ex(const nvtxEventAttributes_t *event) {
    add_mark(event);
}

static void NVTX_API mark_a(const char *message) {
    stint_impl_mark_named(message, UINT64_MAX);
}

static void NVTX_API mark_w(const wchar_t *message) {
    struct nvtx_name n;
    name_from_wide(&n, message);
    stint_impl_mark_named(n.name.bytes, n.name.length);
}

static nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t *event) {
    return start_event(&range_default[RANGE_NVTX], event);
}

BOTH_FORMS(nvtxRangeId_t, start, return range_start(&range_default[RANGE_NVTX], n.name, NULL), );

static void NVTX_API end_id(nvtxRangeId_t id) {
    range_finish(id);
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *event) {
    return push_event(&range_default[RANGE_NVTX], event);
}

static int NVTX_API push_a(const char *message) {
    struct range_name name = {message, UINT64_MAX};
    return range_push(&range_default[RANGE_NVTX], &name, NULL);
}

static int NVTX_API push_w(const wchar_t *message) {
    struct nvtx_name n;
    name_from_wide(&n, message);
    return range_push(&range_default[RANGE_NVTX], &n.name, NULL);
}

static int NVTX_API pop_default(void) {
    return pop_range_of(&range_default[RANGE_NVTX]);
}

BOTH_FORMS(void, category, range_category_name(&range_default[RANGE_NVTX], category, n.name),
           uint32_t category, );

/* ---- The functions of domains. */

static void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    add_mark(event);
}

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain,
                                           const nvtxEventAttributes_t *event) {
    return start_event(domain_of(domain), event);
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    range_finish(id);
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    return push_event(domain_of(domain), event);
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
    return pop_range_of(domain_of(domain));
}

BOTH_FORMS(void, domain_category, range_category_name(domain_of(domain), category, n.name),
           nvtxDomainHandle_t domain, uint32_t category, );

static nvtxStringHandle_t string_keep(const struct nvtx_name *n) {
    if (!n->name.bytes) {
        return NULL;
    }
    return range_thing_get(&string_shape, n->name);
}

BOTH_FORMS(nvtxStringHandle_t, string, return string_keep(&n), nvtxDomainHandle_t domain, );

static nvtxDomainHandle_t domain_open(const struct nvtx_name *n) {
    static const char own[] = "stint";
    if (!n->name.bytes || !n->name.length ||
        (n->name.length == sizeof own - 1 && !memcmp(n->name.bytes, own, sizeof own - 1))) {
        return NULL;
    }
    return (nvtxDomainHandle_t)(uintptr_t)range_domain_get(RANGE_NVTX, n->name);
}

BOTH_FORMS(nvtxDomainHandle_t, domain, return domain_open(&n), );

/* ---- The tables of a module. */

struct table_place {
    uint32_t number;
    NvtxFunctionPointer function;
};

#define PLACE(number, function)                                                                    \
    { number, (NvtxFunctionPointer)function }

static const struct table_place core[] = {
    PLACE(NVTX_CBID_CORE_MarkEx, mark_ex),
    PLACE(NVTX_CBID_CORE_MarkA, mark_a),
    PLACE(NVTX_CBID_CORE_MarkW, mark_w),
    PLACE(NVTX_CBID_CORE_RangeStartEx, start_ex),
    PLACE(NVTX_CBID_CORE_RangeStartA, start_a),
    PLACE(NVTX_CBID_CORE_RangeStartW, start_w),
    PLACE(NVTX_CBID_CORE_RangeEnd, end_id),
    PLACE(NVTX_CBID_CORE_RangePushEx, push_ex),
    PLACE(NVTX_CBID_CORE_RangePushA, push_a),
    PLACE(NVTX_CBID_CORE_RangePushW, push_w),
    PLACE(NVTX_CBID_CORE_RangePop, pop_default),
    PLACE(NVTX_CBID_CORE_NameCategoryA, category_a),
    PLACE(NVTX_CBID_CORE_NameCategoryW, category_w),
};

static const struct table_place core2[] = {
    PLACE(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
    PLACE(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
    PLACE(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
    PLACE(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
    PLACE(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
    PLACE(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category_a),
    PLACE(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_w),
    PLACE(NVTX_CBID_CORE2_DomainRegisterStringA, string_a),
    PLACE(NVTX_CBID_CORE2_DomainRegisterStringW, string_w),
    PLACE(NVTX_CBID_CORE2_DomainCreateA, domain_a),
    PLACE(NVTX_CBID_CORE2_DomainCreateW, domain_w),
};

/* 0, or -1 if the module has no such table. */
static int fill_table(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module,
                      const struct table_place *places, size_t count) {
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module, &table, &size) || !table) {
        return -1;
    }
    for (size_t i = 0; i < count; ++i) {
        if (places[i].number < size && table[places[i].number]) {
            *table[places[i].number] = places[i].function;
        }
    }
    return 0;
}

/* Returns 1 for success. */
RANGE_EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const NvtxExportTableCallbacks *callbacks = NULL;
    if (get_table && !range_is_off(RANGE_NVTX)) {
        callbacks = (const NvtxExportTableCallbacks *)get_table(NVTX_ETID_CALLBACKS);
    }
    if (!callbacks ||
        fill_table(callbacks, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof *core)) {
        return 0;
    }
    fill_table(callbacks, NVTX_CB_MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}
