/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's functions per subscriber ("V2"), with which several clients have records at once, nsys
 * among them; and the calls that are made by them or by the global ones, whichever are in use.
 * Called by the session, and by callbacks for the clock and the records.
 *
 * Sources: CUPTI's documentation, "CUPTI Multi-Subscriber Tracing" (CUDA 13.3 and later, driver
 * 610, below which the global ones are used: a library of CUDA 13.3 over an older driver is usual):
 * all clients must use them, the first one's allowMultipleSubscribers applies to all, and the
 * global ones exclude them. In CUDA 13.2 they were a preview, without a clock of their
 * own: the global functions are used there, as XLA does (openxla/xla#46077).
 *
 * Global functions without a counterpart that is documented are not called while a subscriber has a
 * scope, as a call of a global one may make the others fail: threads have the numbers that CUPTI
 * gives them, and unified memory is not traced.
 */
#include "cupti_private.h"

#include <stddef.h>
#include <string.h>

#define SCOPED_READY 130300u /* CUDA 13.3 */
#define SCOPED_DRIVER 13030  /* a driver for it */
#define NAMES_SINCE 130000u  /* cuptiSubscribe_v2 names the other client */

/* Written by the session, before it registers callbacks and after it unsubscribed; any thread,
 * release and acquire. NULL: the global functions. */
static CUpti_SubscriberHandle scope;

static CUpti_SubscriberHandle scope_get(void) {
    return __atomic_load_n(&scope, __ATOMIC_ACQUIRE);
}

void cupti_scope_leave(void) {
    __atomic_store_n(&scope, NULL, __ATOMIC_RELEASE);
}

int cupti_scope_is_used(void) {
    return scope_get() != NULL;
}

static int scope_does_not_work; /* release, acquire */

void cupti_scope_refuse(int code) {
    if (scope_get() && (code == CUPTI_NOT_SUPPORTED || code == CUPTI_NOT_COMPATIBLE)) {
        __atomic_store_n(&scope_does_not_work, 1, __ATOMIC_RELEASE);
    }
}

int cupti_scope_is_refused(void) {
    return __atomic_load_n(&scope_does_not_work, __ATOMIC_ACQUIRE);
}

static int scope_has_driver(void) {
    int version = 0;
    const struct gpu_ops *gpu = cupti_gpu();
    return gpu->version && !gpu->version(&version) && version >= SCOPED_DRIVER;
}

int cupti_scope_is_available(const struct cupti *c, uint32_t version) {
    return version >= SCOPED_READY && !cupti_scope_is_refused() && c->cuptiSubscribe_v2 &&
           c->cuptiGetTimestamp_v2 && c->cuptiActivitySetAttribute_v2 &&
           c->cuptiActivityRegisterCallbacks_v2 && c->cuptiActivityEnable_v2 &&
           c->cuptiActivityDisable_v2 && c->cuptiActivityGetNextRecord_v2 &&
           c->cuptiActivityGetNumDroppedRecords_v2 && scope_has_driver();
}

int cupti_scope_subscribe(const struct cupti *c, CUpti_SubscriberHandle *subscriber) {
    struct cupti_subscriber_params params = {
        .structSize = sizeof params, .subscriberName = "stint", .allowMultipleSubscribers = 1};
    uint64_t time;
    int code = c->cuptiSubscribe_v2(subscriber, cupti_on_api, NULL, &params);
    if (code) {
        return code;
    }
    code = c->cuptiGetTimestamp_v2(*subscriber, &time);
    if (code) {
        c->cuptiUnsubscribe(*subscriber);
        *subscriber = NULL;
        return code;
    }
    __atomic_store_n(&scope, *subscriber, __ATOMIC_RELEASE);
    return CUPTI_OK;
}

void cupti_scope_name_holder(const struct cupti *c, uint32_t version, char out[CUPTI_HOLDER]) {
    struct cupti_subscriber_params params = {
        .structSize = offsetof(struct cupti_subscriber_params, allowMultipleSubscribers),
        .subscriberName = "stint",
        .oldSubscriberName = out,
        .oldSubscriberSize = CUPTI_HOLDER};
    CUpti_SubscriberHandle subscriber = NULL;
    memset(out, 0, CUPTI_HOLDER);
    if (version < NAMES_SINCE || !c->cuptiSubscribe_v2) {
        return;
    }
    if (!c->cuptiSubscribe_v2(&subscriber, cupti_on_api, NULL, &params)) {
        c->cuptiUnsubscribe(subscriber); /* it has gone */
        out[0] = '\0';
    }
    out[CUPTI_HOLDER - 1] = '\0';
    for (char *p = out; *p; ++p) {
        if (*p < ' ' || *p > '~') {
            *p = '?';
        }
    }
}

int cupti_scope_register(const struct cupti *c) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivityRegisterCallbacks_v2(s, cupti_on_request_scoped,
                                                    cupti_on_complete_scoped);
    }
    return c->cuptiActivityRegisterCallbacks(cupti_on_request, cupti_on_complete);
}

int cupti_scope_set_attribute(const struct cupti *c, int attribute, size_t *size, void *value) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivitySetAttribute_v2(s, attribute, size, value);
    }
    if (!c->cuptiActivitySetAttribute) {
        return CUPTI_INVALID_KIND;
    }
    return c->cuptiActivitySetAttribute(attribute, size, value);
}

int cupti_scope_enable(const struct cupti *c, int kind) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivityEnable_v2(s, kind, NULL);
    }
    return c->cuptiActivityEnable(kind);
}

int cupti_scope_disable(const struct cupti *c, int kind) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivityDisable_v2(s, kind, NULL);
    }
    return c->cuptiActivityDisable(kind);
}

int cupti_scope_read_clock(const struct cupti *c, uint64_t *time) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiGetTimestamp_v2(s, time);
    }
    return c->cuptiGetTimestamp(time);
}

int cupti_scope_next_record(const struct cupti *c, uint8_t *buffer, size_t size,
                            CUpti_Activity **record) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivityGetNextRecord_v2(s, buffer, size, record);
    }
    return c->cuptiActivityGetNextRecord(buffer, size, record);
}

int cupti_scope_count_dropped(const struct cupti *c, size_t *records) {
    CUpti_SubscriberHandle s = scope_get();
    if (s) {
        return c->cuptiActivityGetNumDroppedRecords_v2(s, NULL, 0, records);
    }
    return c->cuptiActivityGetNumDroppedRecords(NULL, 0, records);
}
