/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler of fluid: stint_profiler_start, _stop, _reset, _at_exit, and STINT_PROFILER,
 * which calls stint_impl_profiler_begin and _end. A profile is an interval with its own level and
 * GPU tracing, and a report at its end.
 * - The lock protects `now` only. A call that finds the phase idle or running sets it to `changing`
 * and starts or stops without the lock, because tracers and reports take time, and a tool may
 * intercept their calls. For other threads `changing` is the same as running: the first of two
 * starts counts.
 * - The guard of a block is its address. The guard of a block that was jumped over, or that began
 * while a profile was running, is not the profile's guard and ends nothing.
 * - Level and switch are set under the registry's lock, and restored unless they were changed
 * since.
 */
#include "profiler.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/api.h"
#include "capture/tracer.h"
#include "gpu/event_pool.h"
#include "gpu/stream_timer.h"
#include "interval/interval.h"
#include "interval/report_print.h"
#include "model/baseline.h"
#include "record/registry.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"

enum phase { IDLE, CHANGING, RUNNING };

/* How a profile ends that is not ended by stint_profiler_stop. */
struct ending {
    enum fluid_key key;
    const char *path; /* "" = none */
};

static struct {
    enum phase phase;
    struct fluid_options as;
    const void *guard;    /* of the block that ends it; NULL: none does */
    int with_program;     /* it ends with the program */
    struct ending ending; /* its path is the next member */
    char path[PATH_MAX];
    int traced;
    int applied;       /* under the registry's lock, as the settings: */
    int level, enable; /* before, */
    int level_set;     /* and now */
} profile_state;

/* ---- The lock. */

static void settings_restore(void) {
    if (profile_state.applied) {
        if (config.level == profile_state.level_set) {
            config.level = profile_state.level;
        }
        if (config.enable) {
            config.enable = profile_state.enable;
        }
        profile_state.applied = 0;
    }
}

/* The profile belongs to the parent. */
static void profiler_forget_in_child(int held) {
    (void)held;
    settings_restore();
    profile_state.phase = IDLE;
    profile_state.guard = NULL;
    profile_state.with_program = profile_state.traced = 0;
}

LOCK_OVER_FORK(LOCK_PROFILER, NULL, profiler_forget_in_child)

/* A call by the program: errno is kept, and the thread is not cancelled, because a change that is
 * not completed would block all later ones. */
struct profiler_visit {
    int error;
    int cancel;
};

static struct profiler_visit visit_begin(void) {
    struct profiler_visit v = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v.cancel);
    return v;
}

static int visit_end(struct profiler_visit v, int result) {
    pthread_setcancelstate(v.cancel, NULL);
    errno = v.error;
    return result;
}

/* ---- Words. */

struct word {
    const char *text;
    int value;
};

static const struct word states[] = {
    {"CPU", FLUID_CPU}, {"GPU", FLUID_GPU}, {"All", FLUID_ALL}, {NULL, FLUID_ALL}};
static const struct word details[] = {{"Default", FLUID_DEFAULT},
                                      {"OpDetail", FLUID_OP_DETAIL},
                                      {"AllOpDetail", FLUID_ALL_OP_DETAIL},
                                      {NULL, FLUID_DEFAULT}};
static const struct word keys[] = {
    {"default", FLUID_BY_FIRST_END}, {"calls", FLUID_BY_CALLS}, {"total", FLUID_BY_TOTAL},
    {"max", FLUID_BY_MAX},           {"min", FLUID_BY_MIN},     {"ave", FLUID_BY_AVE},
    {"cpu", FLUID_BY_CPU},           {"gpu", FLUID_BY_GPU},     {NULL, FLUID_BY_FIRST_END}};

/* "CPU, GPU or All" */
static void words_list(char *out, size_t size, const struct word *words) {
    size_t length = 0;
    for (const struct word *w = words; w->text && length < size; ++w) {
        const char *before = w[1].text ? ", " : " or ";
        if (w == words) {
            before = "";
        }
        int n = snprintf(out + length, size - length, "%s%s", before, w->text);
        if (n > 0) {
            length += (size_t)n;
        }
    }
}

/* NULL has the value of the last row. 0, or -1 after one line. */
static int words_read(const char *who, const char *what, const char *given,
                      const struct word *words, int *out) {
    char expected[100];
    const struct word *w = words;
    while (w->text && (!given || strcmp(w->text, given))) {
        ++w;
    }
    if (given && !w->text) {
        words_list(expected, sizeof expected, words);
        log_error("%s: %s \"%.40s\": expected %s", who, what, given, expected);
        return STINT_ERROR_UNKNOWN;
    }
    *out = w->value;
    return 0;
}

static int profile_read_start(const char *who, const char *state, const char *option,
                              struct fluid_options *out) {
    int which = 0, detail = 0;
    if (words_read(who, "state", state, states, &which) ||
        words_read(who, "option", option, details, &detail)) {
        return -1;
    }
    out->state = (enum fluid_state)which;
    out->detail = (enum fluid_detail)detail;
    out->key = FLUID_BY_FIRST_END;
    return 0;
}

static int profile_read_key(const char *who, const char *sorted_key, enum fluid_key *out) {
    int key = 0;
    int result = words_read(who, "sorted_key", sorted_key, keys, &key);
    *out = (enum fluid_key)key;
    return result;
}

static int profile_read_ending(const char *who, const char *sorted_key, const char *path,
                               struct ending *out) {
    if (profile_read_key(who, sorted_key, &out->key)) {
        return -1;
    }
    if (!path) {
        path = "";
    }
    if (strlen(path) >= PATH_MAX) {
        log_error("%s: the path is too long", who);
        return STINT_ERROR_UNKNOWN;
    }
    out->path = path;
    return 0;
}

/* ---- Start. */

static int level_of_detail(enum fluid_detail detail) {
    switch (detail) {
    case FLUID_ALL_OP_DETAIL:
        return STINT_LEVEL_ALL_OP_DETAIL;
    case FLUID_OP_DETAIL:
        return STINT_LEVEL_OP_DETAIL;
    default:
        return STINT_LEVEL_DEFAULT;
    }
}

static void settings_apply(enum fluid_detail detail) {
    registry_lock(); /* which reads the environment if that has not been done */
    profile_state.level = config.level;
    profile_state.enable = config.enable;
    profile_state.level_set = level_of_detail(detail);
    profile_state.applied = 1;
    config.level = profile_state.level_set;
    config.enable = 1;
    if (config.level != profile_state.level || config.enable != profile_state.enable) {
        registry_advance();
    }
    registry_unlock();
}

/* To CHANGING, if the phase is `phase`. Returns whether it was. */
static int phase_change_from(enum phase phase) {
    lock_take(LOCK_PROFILER);
    int changes = profile_state.phase == phase;
    if (changes) {
        profile_state.phase = CHANGING;
    }
    lock_release(LOCK_PROFILER);
    return changes;
}

static void phase_change_to(enum phase phase) {
    lock_take(LOCK_PROFILER);
    profile_state.phase = phase;
    lock_release(LOCK_PROFILER);
}

static int tracer_start_for_profile(void) {
    (void)tracer_prepare_all();
    int result = tracer_start_when_ready();
    if (tracer_is_waiting()) { /* GPU scopes look for a context */
        __atomic_store_n(&stream_timer_context_wanted, 1, __ATOMIC_RELAXED);
    }
    return result;
}

/* STINT_OK, or STINT_ERROR_BUSY: one is running already. ending: with a guard, at the end of its
 * block, otherwise at the end of the program; NULL: by stint_profiler_stop. */
static int profile_start(const struct fluid_options *as, const void *guard,
                         const struct ending *ending) {
    lock_take(LOCK_PROFILER);
    int idle = profile_state.phase == IDLE;
    if (idle) {
        profile_state.phase = CHANGING;
        profile_state.as = *as;
        profile_state.guard = guard;
        profile_state.with_program = 0;
    }
    if (ending &&
        (idle || !(guard || profile_state.guard))) { /* a profile of a block ends with the block */
        strcpy(profile_state.path, ending->path);
        profile_state.ending = (struct ending){ending->key, profile_state.path};
        profile_state.with_program |= !guard;
    }
    lock_release(LOCK_PROFILER);
    if (!idle) {
        return STINT_ERROR_BUSY;
    }
    settings_apply(as->detail);
    profile_state.traced = as->state != FLUID_CPU && !tracer_start_for_profile();
    interval_reset(BASELINE_ALL_SETS);
    phase_change_to(RUNNING);
    return STINT_OK;
}

/* ---- Stop. */

static void settings_withdraw(void) {
    registry_lock();
    int level = config.level, enable = config.enable;
    settings_restore();
    if (config.level != level || config.enable != enable) {
        registry_advance();
    }
    registry_unlock();
}

/* Between CHANGING and IDLE. At the end of the program the GPU may not be usable any more: no
 * waiting. */
static int profile_stop(enum fluid_key key, const char *path, int at_end) {
    struct fluid_options as = profile_state.as;
    as.key = key;
    if (as.state != FLUID_CPU && !at_end) {
        event_pool_flush();
    }
    if (profile_state.traced) {
        tracer_flush(at_end ? TRACER_FORCED : TRACER_WAIT);
        tracer_stop();
        profile_state.traced = 0;
    }
    settings_withdraw();
    int result = report_profile(&as, at_end);
    if (path && *path) {
        int file = profiler_file(path);
        result = file ? file : result;
    }
    profile_state.guard = NULL;
    profile_state.with_program = 0;
    phase_change_to(IDLE);
    return result;
}

static int profiler_is_due(void) {
    if (lock_any_held()) { /* the program ends in a signal handler, which must not wait */
        return __atomic_load_n(&profile_state.phase, __ATOMIC_RELAXED) == RUNNING &&
               __atomic_load_n(&profile_state.with_program, __ATOMIC_RELAXED);
    }
    lock_take(LOCK_PROFILER);
    int due = profile_state.phase == RUNNING && profile_state.with_program;
    lock_release(LOCK_PROFILER);
    return due;
}

static void profiler_at_end(void) {
    struct profiler_visit v = visit_begin();
    if (phase_change_from(RUNNING)) {
        profile_stop(profile_state.ending.key, profile_state.ending.path, 1);
    }
    visit_end(v, 0);
}

static const struct exit_profile profile_at_exit = {profiler_is_due, profiler_at_end};

/* In a static library this file, and so the call at exit, is part of programs that use a
 * profile. */
__attribute__((constructor)) static void profiler_connect(void) {
    exit_set_profile(&profile_at_exit);
}

/* ---- For users. */

int stint_profiler_start(const char *state, const char *option) {
    FUNCTION_KEEP;
    struct profiler_visit v = visit_begin();
    struct fluid_options as;
    int result = profile_read_start("stint_profiler_start", state, option, &as);
    if (!result) {
        result = profile_start(&as, NULL, NULL);
    }
    return visit_end(v, result);
}

int stint_profiler_stop(const char *sorted_key, const char *path) {
    FUNCTION_KEEP;
    struct profiler_visit v = visit_begin();
    enum fluid_key key;
    int result = profile_read_key("stint_profiler_stop", sorted_key, &key);
    if (!result && phase_change_from(RUNNING)) {
        result = profile_stop(key, path, 0);
    }
    return visit_end(v, result);
}

void stint_profiler_reset(void) {
    FUNCTION_KEEP;
    struct profiler_visit v = visit_begin();
    lock_take(LOCK_PROFILER);
    int running = profile_state.phase == RUNNING;
    lock_release(LOCK_PROFILER);
    if (running) {
        interval_reset(BASELINE_ALL_SETS);
    }
    visit_end(v, 0);
}

static int profile_start_with(const char *who, const void *guard, const char *state,
                              const char *option, const char *sorted_key, const char *path) {
    struct fluid_options as;
    struct ending ending;
    if (profile_read_start(who, state, option, &as) ||
        profile_read_ending(who, sorted_key, path, &ending)) {
        return STINT_ERROR_UNKNOWN;
    }
    profile_start(&as, guard, &ending); /* one that is running gets this ending */
    return STINT_OK;
}

int stint_profiler_at_exit(const char *state, const char *option, const char *sorted_key,
                           const char *path) {
    FUNCTION_KEEP;
    struct profiler_visit v = visit_begin();
    return visit_end(
        v, profile_start_with("stint_profiler_at_exit", NULL, state, option, sorted_key, path));
}

void stint_impl_profiler_begin(void *guard, const char *state, const char *option,
                               const char *sorted_key, const char *path) {
    struct profiler_visit v = visit_begin();
    profile_start_with("STINT_PROFILER", guard, state, option, sorted_key, path);
    visit_end(v, 0);
}

void stint_impl_profiler_end(void *guard) {
    struct profiler_visit v = visit_begin();
    lock_take(LOCK_PROFILER);
    int ends = profile_state.phase == RUNNING && profile_state.guard == guard;
    if (ends) {
        profile_state.phase = CHANGING;
    }
    lock_release(LOCK_PROFILER);
    if (ends) {
        profile_stop(profile_state.ending.key, profile_state.ending.path, 0);
    }
    visit_end(v, 0);
}
