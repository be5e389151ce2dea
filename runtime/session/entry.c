/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points that instrumented code calls in the layers below. Each is one call, so that the
 * recorder and the GPU layers need no public names, and a program that links libstint.a gets the
 * session layer with any of them: its constructors, the exit report and the fork handlers.
 *
 * The inline path inside the library does not come here: below this layer stint_impl_begin_slow and
 * stint_impl_end_slow are names of the recorder's own functions (see base/api.h).
 */
#include "base/api.h"
#include "capture/capture.h"
#include "capture/tracer.h"
#include "gpu/event_pool.h"
#include "gpu/stream_timer.h"
#include "record/dynamic.h"
#include "record/line_book.h"
#include "record/recorder.h"
#include "record/set.h"
#include "system/log.h"

/* ---- Scopes. While a capture waits for a GPU context, those that take the slow path look for one,
 * outside of their time. */

void stint_impl_begin_slow(void *guard, struct stint_impl_site *site, uint32_t set) {
    capture_look();
    recorder_begin_slow(guard, site, set);
}

void stint_impl_end_slow(void *guard, uint64_t now, const struct stint_impl_call *call) {
    recorder_end_slow(guard, now, call);
    capture_look();
}

void stint_impl_begin_since(void *guard, struct stint_impl_site *site, uint32_t set,
                            uint64_t start_us) {
    capture_look();
    recorder_begin_since(guard, site, set, start_us);
}

void stint_impl_begin_dynamic(void *guard, struct stint_impl_site *site, uint32_t set,
                              const char *name, uint64_t length, uint64_t start_us) {
    capture_look();
    dynamic_begin(guard, site, set, name, length, start_us);
}

void stint_impl_begin_under(void *guard, struct stint_impl_site *site, uint64_t at, uint64_t who) {
    capture_look();
    sender_begin(guard, site, at, who);
}

stint_sender stint_sender_here(void) {
    return sender_here();
}

void stint_impl_scope_open(uint64_t *scope, const char *name, uint64_t length) {
    capture_look();
    dynamic_open(scope, name, length);
}

void stint_impl_scope_close(uint64_t *scope) {
    dynamic_close(scope);
}

int stint_scope_begin(const char *name) {
    capture_look();
    return dynamic_begin_named(name);
}

int stint_scope_end(const char *name) {
    return dynamic_end_named(name);
}

int stint_sample_add(const char *name, uint64_t ns) {
    return dynamic_add_sample(name, ns);
}

stint_set *stint_set_get(const char *name) {
    return set_get(name);
}

/* ---- Intervals, marks and values. */

void stint_impl_handle_begin(uint64_t *handle, struct stint_impl_site *site) {
    handle_begin(handle, site);
}

void stint_impl_handle_begin_dynamic(uint64_t *handle, const char *name, uint64_t length) {
    dynamic_begin_handle(handle, name, length);
}

void stint_impl_handle_end(uint64_t *handle) {
    handle_end(handle);
}

void stint_impl_mark(struct stint_impl_site *from) {
    mark_add(from);
}

void stint_impl_value(struct stint_impl_site *from, double value) {
    mark_add_value(from, value);
}

/* ---- Source lines. */

struct stint_impl_lines_book *stint_impl_lines_open(const struct stint_impl_lines_file *file,
                                                    struct stint_impl_lines_book **mine) {
    return lines_open(file, mine);
}

/* ---- GPU timers and declared work. */

void stint_impl_gpu_scope_begin(struct stint_impl_call *guard, struct stint_impl_site *site,
                                void *stream) {
    stream_timer_begin(guard, site, stream);
}

void stint_impl_queue_scope_begin(struct stint_impl_call *guard, struct stint_impl_site *site,
                                  void *queue) {
    stream_timer_begin_queue(guard, site, queue);
}

void stint_impl_gpu_scope_end(struct stint_impl_call *guard) {
    stream_timer_end(guard);
}

void stint_impl_add_bytes(uint64_t n) {
    stream_timer_add_bytes(n);
}

void stint_impl_add_flops(uint64_t n) {
    stream_timer_add_flops(n);
}

int stint_gpu_flush(void) {
    FUNCTION_KEEP;
    int failed = event_pool_flush();
    tracer_flush(TRACER_WAIT);
    return failed ? STINT_ERROR_NOT_AVAILABLE : STINT_OK;
}

/* ---- Capture ranges. */

void stint_impl_capture_begin(void *guard, const char *name, const char *info) {
    capture_begin_range(guard, name, info);
}

void stint_impl_capture_end(void *guard) {
    capture_end_range(guard);
}

void stint_impl_capture_start(const char *name) {
    capture_begin_range(NULL, name, NULL);
}

void stint_impl_capture_stop(void) {
    capture_end_range(NULL);
}
