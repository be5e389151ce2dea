/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint: timers and GPU capture ranges for C, C++ and CUDA that compile to nothing when off.
 *
 *     #include <stint/stint.h>
 *
 *     static void step(const char *batch) {
 *         REGISTER_TIMER("step");                  // closes with the block, however it is left
 *         REGISTER_TIMER_INFO("step.load", batch); // the slowest call keeps its batch
 *         load(batch);
 *     }
 *
 *     int main(void) {
 *         REGISTER_GPU_PROFILER("train", "batch=32"); // nsys -c cudaProfilerApi captures this
 *         for (int i = 0; i < 100; ++i) step("train.bin");
 *         return printAllStatus();                    // where the time went, on stderr
 *     }
 *
 * Two switches, given to the compiler of YOUR code (the library is the same either way):
 *   -DWITH_TIMER      turns the timers and the report functions on
 *   -DWITH_PROFILER   turns the GPU capture ranges on
 * Without them every line above compiles to nothing, arguments included: the object file is the one
 * you get with the lines blanked out (calls of the functions: from -O1 on). They take ON, OFF, YES,
 * NO, TRUE, FALSE, 1, 0 and nothing (= on), and are independent of each other.
 *
 * On needs Linux on x86-64 or aarch64, gcc or clang (nvcc on top of them), C11 or C++11; gcc and
 * clang also take -std=gnu89. Off compiles anywhere: strict C99, C++11, MSVC, and with gcc and clang
 * C89 too. Without C99 a timer is put after the block's declarations.
 *
 * On Linux, in C, the header includes no header of the C library (only <stddef.h>, which is the
 * compiler's), so it may come before `#define _GNU_SOURCE` and its kin.
 *
 * Nothing here can fail your program: no function aborts, exits, throws or changes errno. What was
 * lost (no memory, too deep, a filter) is counted and said under every report.
 */
#ifndef STINT_STINT_H
#define STINT_STINT_H

#include "impl_types.h"

#include "impl_switch.h"

/* Until the end of this file. In C++ the casts of C, which projects may make errors; gcc and clang
 * have variadic macros in C89 as well, and say so with -Wpedantic. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#else
#pragma GCC diagnostic ignored "-Wold-style-cast"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif
#endif

/* The version of this header, for #if and as a string, "major.minor.patch". stint_version() is that
 * of the library the program runs with. */
#define STINT_VERSION_MAJOR 0
#define STINT_VERSION_MINOR 1
#define STINT_VERSION_PATCH 0
#define STINT_IMPL_TEXT_(x) #x
#define STINT_IMPL_TEXT(x) STINT_IMPL_TEXT_(x)
#define STINT_VERSION                                                                              \
    STINT_IMPL_TEXT(STINT_VERSION_MAJOR)                                                           \
    "." STINT_IMPL_TEXT(STINT_VERSION_MINOR) "." STINT_IMPL_TEXT(STINT_VERSION_PATCH)

/* The levels of REGISTER_TIMER_DETAIL: a scope is recorded if its level is at most STINT_LEVEL
 * (default 0). Its time otherwise belongs to the scope around it. */
#define STINT_LEVEL_DEFAULT 0
#define STINT_LEVEL_OP_DETAIL 1
#define STINT_LEVEL_ALL_OP_DETAIL 2

/* The roles of REGISTER_TIMER_ROLE: what a scope's time is spent on. Kept with the site for reports
 * that part computation from framework; nothing is guessed from names. */
#define STINT_ROLE_NONE 0
#define STINT_ROLE_OP 1        /* an operator as a whole */
#define STINT_ROLE_COMPUTE 2   /* the computation itself */
#define STINT_ROLE_FRAMEWORK 3 /* preparing, shape inference, scheduling */
#define STINT_ROLE_COPY 4
#define STINT_ROLE_COMM 5
#define STINT_ROLE_DATA 6 /* reading and decoding input */
#define STINT_ROLE_STEP 7 /* one iteration */

/* A set of statistics beside the default one ("GlobalStatInfo"). Lives for ever. */
typedef struct stint_set stint_set;

/* An interval that need not be a block: TIMER_BEGIN here, TIMER_END there, on any thread. */
typedef struct stint_timer {
    uint64_t word[2];
} stint_timer;

/* What happens to steps 0, 1, 2, … (stint_step): skip_first of them nothing at all, then rounds of
 * `closed` steps off, `ready` steps to warm up, `record` steps that count. `repeat` rounds, 0 = to
 * the end of the program. record must not be 0. */
typedef struct stint_schedule {
    uint32_t skip_first;
    uint32_t closed;
    uint32_t ready;
    uint32_t record;
    uint32_t repeat;
} stint_schedule;

/* Called by stint_step, on the thread that calls it and with no lock held, when the steps
 * first … last have been recorded. */
typedef void (*stint_ready)(void *data, uint64_t first, uint64_t last);

/* One statistic, all threads together. Times in nanoseconds; inclusive of what is nested. Later
 * versions add members at the end: stint_stat_get takes the size that the caller knows. */
typedef struct stint_stat {
    uint64_t calls;    /* every call, recursive ones too */
    uint64_t samples;  /* timed calls: a recursive call is timed as part of the outermost */
    uint64_t total_ns; /* sum of the samples */
    uint64_t self_ns;  /* total without the scopes nested in it */
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t first_ns; /* the very first sample: caches cold, pages unmapped */
    uint64_t p50_ns;   /* percentiles from a histogram with 16 steps an octave: within 3.2 % */
    uint64_t p90_ns;
    uint64_t p99_ns;
    uint64_t gpu_calls; /* calls measured on the GPU, and their times there */
    uint64_t gpu_total_ns;
    uint64_t gpu_min_ns;
    uint64_t gpu_max_ns;
    uint64_t gpu_p50_ns;
    uint64_t gpu_p99_ns;
    /* Kernels, copies and fills from it and what is nested in it, as CUPTI saw them
     * (STINT_GPU=cupti), and how long they ran, added up. */
    uint64_t device_calls;
    uint64_t device_total_ns;
    uint64_t bytes; /* declared by TIMER_BYTES, TIMER_FLOPS */
    uint64_t flops;
    uint32_t threads; /* that have a sample */
    char info[64];    /* given with the slowest call, cut to fit; "" = none */
} stint_stat;

/* ---- Timers --------------------------------------------------------------------------------- */

/* Times the rest of the enclosing block under `name`, a string literal.
 *   REGISTER_TIMER(name)
 *   REGISTER_TIMER(name, threshold_us)        a call of threshold_us or more prints a line at once
 *   REGISTER_TIMER(name, threshold_us, set)   into another set (stint_set *, or a C++ StatSet)
 * threshold_us is in microseconds, -1 = never. A declaration: two may share a line and a block, and
 * as the lone body of an `if` it does not compile (write braces). Any thread may call it. Cost:
 * about one fifth more than the two clock reads it needs; switched off at run time, below a
 * nanosecond. */
#define REGISTER_TIMER(...)                                                                        \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK(                                           \
        __VA_ARGS__, STINT_IMPL_TIMER_3, STINT_IMPL_TIMER_2, STINT_IMPL_TIMER_1, 0))(__VA_ARGS__))

/* REGISTER_TIMER with a note (const char *, NULL allowed) that is kept with the slowest call, and
 * printed when a call takes 10 s or more. The text must outlive the block; it is copied, up to 63
 * bytes, only when the call sets a new maximum. */
#define REGISTER_TIMER_INFO(name, info) STINT_IMPL_SCOPE_WITH(name, info, 10000000, STINT_IMPL_NULL)

/* REGISTER_TIMER named after the enclosing function. */
#define REGISTER_TIMER_FUNC() STINT_IMPL_SCOPE_FUNC()

/* A scope that began earlier, at start_us = stint_now_us() of that moment (set: "set the start").
 * Also (name, start_us, threshold_us) and (name, start_us, threshold_us, set). */
#define REGISTER_TIMER_SET(...)                                                                    \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK4(                                          \
        __VA_ARGS__, STINT_IMPL_SINCE_4, STINT_IMPL_SINCE_3, STINT_IMPL_SINCE_2, 0))(__VA_ARGS__))

/* A name made at run time: const char *, in C++ also std::string and std::string_view. Copied (up
 * to 1000 bytes) and matched by content, so the buffer may change afterwards; NULL or "" is not
 * recorded. Also (name, threshold_us) and (name, threshold_us, set). Costs a hash of the name. */
#define REGISTER_TIMER_DYNAMIC(...)                                                                \
    STINT_IMPL_EXPAND(                                                                             \
        STINT_IMPL_EXPAND(STINT_IMPL_PICK(__VA_ARGS__, STINT_IMPL_DYNAMIC_3, STINT_IMPL_DYNAMIC_2, \
                                          STINT_IMPL_DYNAMIC_1, 0))(__VA_ARGS__))

/* DYNAMIC and SET together: (name, start_us), (…, threshold_us), (…, threshold_us, set). */
#define REGISTER_TIMER_DYNAMIC_SET(...)                                                            \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(                                                           \
        STINT_IMPL_PICK4(__VA_ARGS__, STINT_IMPL_DYNAMIC_SINCE_4, STINT_IMPL_DYNAMIC_SINCE_3,      \
                         STINT_IMPL_DYNAMIC_SINCE_2, 0))(__VA_ARGS__))

/* Recorded only up to STINT_LEVEL: STINT_LEVEL_DEFAULT, _OP_DETAIL, _ALL_OP_DETAIL (0, 1, 2). */
#define REGISTER_TIMER_DETAIL(level, name)                                                         \
    STINT_IMPL_SCOPE(name, level, STINT_ROLE_NONE, STINT_IMPL_NULL)

/* Says what the time is spent on: one of STINT_ROLE_*. */
#define REGISTER_TIMER_ROLE(name, role)                                                            \
    STINT_IMPL_SCOPE(name, STINT_LEVEL_DEFAULT, role, STINT_IMPL_NULL)

/* An operator: `type` is a literal; `instance`, a run-time name as in DYNAMIC, becomes a scope
 * nested in it when STINT_LEVEL is 2. */
#define REGISTER_TIMER_OP(type, instance) STINT_IMPL_SCOPE_OP(type, instance)

/* Statements that exist only when timers do. */
#define FOR_TIMING(...) STINT_IMPL_FOR_TIMING(__VA_ARGS__)

/* An interval by hand, for what is no block: `stint_timer h;` in a place both ends can see. It may
 * overlap anything, so it stands beside the call tree, not in it. TIMER_END without TIMER_BEGIN, or
 * twice, is counted and ignored, provided h was zeroed or begun once. */
#define TIMER_BEGIN(h, name) STINT_IMPL_HANDLE_BEGIN(h, name)
#define TIMER_END(h) STINT_IMPL_HANDLE_END(h)

/* Times the rest of the block twice, in one row: on the CPU as REGISTER_TIMER does, and on the GPU,
 * by two events on `stream`, what the block put there. stream is a cudaStream_t or CUstream (any
 * pointer in C); NULL is the default stream, the per-thread one if this file is compiled for it.
 * It never waits: the time is picked up by a later scope on the GPU or by a report. A call is not
 * measured on the GPU, and counted so in the report's footer, without a GPU or a context, while the
 * stream is being captured into a graph, and when STINT_GPU_IN_FLIGHT calls are under way already.
 * Other streams' work may run in between: the GPU time is what passes on this stream.
 * STINT_GPU=sync waits for the stream at the end of the block instead, STINT_GPU=off leaves the CPU
 * time alone. Cost on the host: two event records and one or two queries; without a driver a few
 * nanoseconds. docs/gpu.md has more. */
#define REGISTER_GPU_TIMER(name, stream) STINT_IMPL_SCOPE_GPU(name, stream, STINT_IMPL_NULL, -1)

/* The same with a note, as in REGISTER_TIMER_INFO. */
#define REGISTER_GPU_TIMER_INFO(name, stream, info)                                                \
    STINT_IMPL_SCOPE_GPU(name, stream, info, 10000000)

/* Says that the innermost open scope of this thread moves n bytes, does n floating-point
 * operations: reports then give its rate, by GPU time where there is one, and its share of the
 * device's peak. Adds up over calls; any arithmetic n >= 0. Outside all scopes it is counted and
 * ignored. */
#define TIMER_BYTES(n) STINT_IMPL_BYTES(n)
#define TIMER_FLOPS(n) STINT_IMPL_FLOPS(n)

/* A moment, and a number at a moment, of this thread, in the trace (STINT_TRACE) and nowhere else:
 * without a trace they do next to nothing. name is a literal; v any arithmetic value. */
#define TIMER_MARK(name) STINT_IMPL_MARK(name)
#define TIMER_VALUE(name, v) STINT_IMPL_VALUE(name, v)

/* ---- GPU capture ranges --------------------------------------------------------------------- */

/* While the block runs, a CUDA profiler that waits for cudaProfilerStart (nsys -c cudaProfilerApi,
 * ncu --profile-from-start off) captures. Only the outermost range of the process starts and stops;
 * inner ones, on any thread, only count. The outermost prints one line, with or without a GPU:
 *   Enable GPU Profiler Stat: [name] "info"
 * and, if nothing can be captured, a second one that says why. No lock is held meanwhile.
 *   REGISTER_GPU_PROFILER(name)   REGISTER_GPU_PROFILER(name, info) */
#define REGISTER_GPU_PROFILER(...)                                                                 \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK(__VA_ARGS__, STINT_too_many_arguments,     \
                                                        STINT_IMPL_CAPTURE_2,                      \
                                                        STINT_IMPL_CAPTURE_1, 0))(__VA_ARGS__))

/* The same without a block. Every START needs its STOP; a STOP too many is ignored. */
#define GPU_PROFILER_START(name) STINT_IMPL_CAPTURE_START(name)
#define GPU_PROFILER_STOP() STINT_IMPL_CAPTURE_STOP()

/* ---- The profiler --------------------------------------------------------------------------- */

/* Profiles the rest of the block: what the functions stint_profiler_start(state, option) here and
 * stint_profiler_stop(sorted_key, path) at its end do, however it is left. Inside a profile that
 * runs already, on whatever thread, it does nothing. Put it first: timers that were open before it
 * are in no row. There with timers on. */
#define REGISTER_PROFILER(state, option, sorted_key, path)                                         \
    STINT_IMPL_PROFILE(state, option, sorted_key, path)

/* ---- Functions ------------------------------------------------------------------------------ */
/*
 * Functions, not macros: a member of yours may have the same name. With timers off (where said so,
 * capture ranges) they are empty inline functions that return 0 or NULL. All are thread-safe, keep errno, and may be called from
 * atexit handlers and static destructors; none from a signal handler.
 */
#ifdef __cplusplus
extern "C" {
#endif

#if defined(_MSC_VER) && !defined(__cplusplus)
#define STINT_IMPL_INLINE static __inline
#elif defined(__GNUC__)
#define STINT_IMPL_INLINE static __inline__ __attribute__((unused))
#else
#define STINT_IMPL_INLINE static inline
#endif
#define STINT_IMPL_DECLARED(result, none, name, parameters, use) extern result name parameters;
#define STINT_IMPL_EMPTY(result, none, name, parameters, use)                                      \
    STINT_IMPL_INLINE result name parameters {                                                     \
        use;                                                                                       \
        return none;                                                                               \
    }
#if STINT_IMPL_TIMER
#define STINT_IMPL_FUNCTION STINT_IMPL_DECLARED
#define STINT_IMPL_PROCEDURE(name, parameters, use) extern void name parameters;
#else
#define STINT_IMPL_FUNCTION STINT_IMPL_EMPTY
#define STINT_IMPL_PROCEDURE(name, parameters, use)                                                \
    STINT_IMPL_INLINE void name parameters {                                                       \
        use;                                                                                       \
    }
#endif
#if STINT_IMPL_PROFILER
#define STINT_IMPL_CAPTURE_FUNCTION STINT_IMPL_DECLARED
#else
#define STINT_IMPL_CAPTURE_FUNCTION STINT_IMPL_EMPTY
#endif
#if STINT_IMPL_TIMER || STINT_IMPL_PROFILER
#define STINT_IMPL_STEP_FUNCTION STINT_IMPL_DECLARED
#else
#define STINT_IMPL_STEP_FUNCTION STINT_IMPL_EMPTY
#endif

/* Prints a report in one write to STINT_OUTPUT (default: stderr). view as in STINT_REPORT:
 *   legacy|table|tree|gpu|fluid
 *   [,sort=total|self|calls|min|max|avg|p99|gpu_total|gpu_calls|gpu_max|gpu_p99|device_total]
 *   [,top=N][,threads]
 * NULL: what STINT_REPORT says, else "table". 0, or -1 after one line on stderr. Milliseconds of
 * work at most; the program's threads go on meanwhile. */
STINT_IMPL_FUNCTION(int, 0, stint_report, (const char *view), (void)view)

/* Writes the statistics of now into a file: "text" (the table of stint_report), "csv" or "json"
 * (docs/exports.md). path as STINT_OUTPUT: %p process, %h host, %r rank. The file is
 * written beside its place and then put there, so that a reader never sees half of it. 0, or -1
 * after one line on stderr. Other formats: the tool, from a run file. */
STINT_IMPL_FUNCTION(int, 0, stint_export, (const char *path, const char *format),
                    ((void)path, (void)format))

/* Registers that report for the end of the program, after atexit handlers and static destructors.
 * NULL takes it back. STINT_REPORT=view in the environment does the same with no source change. */
STINT_IMPL_FUNCTION(int, 0, stint_report_at_exit, (const char *view), (void)view)

/* Prints what happened since the last reset and starts a new interval; no sample falls between. */
STINT_IMPL_FUNCTION(int, 0, stint_report_and_reset, (void), (void)0)

/* Starts a new interval: later reports and getters speak of what happens from now on. Recording
 * threads are not disturbed. After it min and max come from the histogram (within 6.3 %) unless
 * they were set in the interval. */
STINT_IMPL_PROCEDURE(stint_reset, (void), (void)0)

/* Reads one statistic of the default set into *out. size is sizeof *out: no more bytes are written,
 * and of a structure larger than the library's the rest is set to 0. 0, or -1 if the name is unknown;
 * *out is then unchanged. */
STINT_IMPL_FUNCTION(int, 0, stint_stat_get, (const char *name, stint_stat *out, size_t size),
                    ((void)name, (void)out, (void)size))

/* Adds a sample measured elsewhere, in ns. 0, or -1 if it could not be recorded (counted). */
STINT_IMPL_FUNCTION(int, 0, stint_add_sample, (const char *name, uint64_t ns),
                    ((void)name, (void)ns))

/* Microseconds since an arbitrary start; never steps back. For REGISTER_TIMER_SET. */
STINT_IMPL_FUNCTION(uint64_t, 0, stint_now_us, (void), (void)0)

/* A scope for other languages: opens and closes by name on the calling thread. 0; stint_end returns
 * -1 if no such scope is open. Scopes opened inside and not closed are abandoned and counted. */
STINT_IMPL_FUNCTION(int, 0, stint_begin, (const char *name), (void)name)
STINT_IMPL_FUNCTION(int, 0, stint_end, (const char *name), (void)name)

/* The set of that name, made at first use; NULL when there are 16 383 already. */
STINT_IMPL_FUNCTION(stint_set *, NULL, stint_set_get, (const char *name), (void)name)

/* stint_report, stint_reset, stint_stat_get for one set, and the row of one name in the legacy
 * form. set NULL: the default one. */
STINT_IMPL_FUNCTION(int, 0, stint_set_report, (stint_set * set, const char *view),
                    ((void)set, (void)view))
STINT_IMPL_PROCEDURE(stint_set_reset, (stint_set * set), (void)set)
STINT_IMPL_FUNCTION(int, 0, stint_set_stat_get,
                    (stint_set * set, const char *name, stint_stat *out, size_t size),
                    ((void)set, (void)name, (void)out, (void)size))
STINT_IMPL_FUNCTION(int, 0, stint_set_print, (stint_set * set, const char *name),
                    ((void)set, (void)name))

/* Recording on (1) or off (0) for the whole process, from the next scope on. As STINT_ENABLE. */
STINT_IMPL_PROCEDURE(stint_enable, (int on), (void)on)
/* Which names are recorded, as STINT_FILTER: "+glob,-glob", NULL = all. 0, or -1 for a bad list. */
STINT_IMPL_FUNCTION(int, 0, stint_use_filter, (const char *globs), (void)globs)
/* The highest level recorded, as STINT_LEVEL. */
STINT_IMPL_PROCEDURE(stint_use_level, (int level), (void)level)
/* One row a thread (1) or all threads together (0) in later reports. */
STINT_IMPL_PROCEDURE(stint_show_threads, (int each), (void)each)
/* The legacy report of the default set, and of every other set that has a sample; with_line adds
 * the closing line. */
STINT_IMPL_FUNCTION(int, 0, stint_report_legacy, (int with_line), (void)with_line)
/* The default set's statistic of that name, in storage of the calling thread that its next call
 * overwrites; size as in stint_stat_get. NULL if the name is unknown or size exceeds the storage, 512
 * bytes. */
STINT_IMPL_FUNCTION(const stint_stat *, STINT_IMPL_NULL, stint_stat_here,
                    (const char *name, size_t size), ((void)name, (void)size))

/* STINT_VERSION of the library that the program runs with; with timers and capture ranges off, of
 * the header. */
STINT_IMPL_STEP_FUNCTION(const char *, STINT_VERSION, stint_version, (void), (void)0)

/* Ends a step of the program, a training iteration say, and begins the next; returns its number.
 * Step 0 began with the program, so the call belongs at the end of the loop's body. Reports show the
 * wall time of a step and the steps per second; STINT_CAPTURE="steps 20-30" and the schedules go by
 * it. Any thread, as a rule always the same. About 100 ns. There with timers or capture ranges on. */
STINT_IMPL_STEP_FUNCTION(uint64_t, 0, stint_step, (void), (void)0)

/* By steps: while closed nothing is recorded, while ready it is recorded and then forgotten, and
 * after the last step of a record phase `ready` is called; NULL: stint_report(NULL) is. schedule
 * NULL ends it and records on. 0, or -1 after one line for a schedule without a record phase. */
STINT_IMPL_FUNCTION(int, 0, stint_schedule_timers,
                    (const stint_schedule *schedule, stint_ready ready, void *data),
                    ((void)schedule, (void)ready, (void)data))

/* Capture ranges by steps: the profilers capture while a record phase lasts, and only then; the
 * ranges in the source no longer matter. ready may be NULL. schedule NULL ends it. 0, or -1 after
 * one line for a schedule without a record phase. There with capture ranges on. */
STINT_IMPL_CAPTURE_FUNCTION(int, 0, stint_schedule_capture,
                            (const stint_schedule *schedule, stint_ready ready, void *data),
                            ((void)schedule, (void)ready, (void)data))

/* Waits until everything that GPU timers have put on their streams is done and picked up. 0, or -1
 * if the GPU failed meanwhile. Nothing else here but stint_profiler_stop waits for a GPU; not while
 * a stream is being captured. */
STINT_IMPL_FUNCTION(int, 0, stint_gpu_flush, (void), (void)0)

/* The profiler of PaddlePaddle's fluid: an interval of its own, with its report.
 * state: "CPU", "GPU" or "All" (NULL = All): which times it is of. For GPU and All kernels and
 * copies are traced by CUPTI; without it the CPU's half goes on, and the report says why.
 * option: "Default", "OpDetail" or "AllOpDetail" (NULL = Default): scopes up to the level 0, 1 or 2
 * are recorded (REGISTER_TIMER_DETAIL, REGISTER_TIMER_OP), until the profile stops.
 * Recording is on meanwhile, and later reports speak of what happens from here on. While a profile
 * runs, 0 and nothing. 0, or -1 after one line for another word. */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_start, (const char *state, const char *option),
                    ((void)state, (void)option))

/* Stops it and prints its report (the view "fluid") to STINT_OUTPUT.
 * sorted_key: "default" (what ended first), "calls", "total", "max", "min", "ave", "cpu" or "gpu"
 * (NULL = default).
 * path: NULL, or a file to write, as STINT_OUTPUT: of the suffix .json a Chrome trace of the
 * profile (with STINT_TRACE), of any other a run file of the program so far, for the tool.
 * Waits for the GPU as stint_gpu_flush does unless the state is CPU. While none runs, 0 and
 * nothing. 0, or -1 after one line: another word, no memory, a file that cannot be written. */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_stop, (const char *sorted_key, const char *path),
                    ((void)sorted_key, (void)path))

/* Forgets what the running profile has recorded, a warm-up say. */
STINT_IMPL_PROCEDURE(stint_profiler_reset, (void), (void)0)

/* Starts now and stops at the end of the program, after atexit handlers and static destructors. Of
 * a profile that stint_profiler_start began it sets the end alone. 0, or -1 after one line. */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_at_exit,
                    (const char *state, const char *option, const char *sorted_key,
                     const char *path),
                    ((void)state, (void)option, (void)sorted_key, (void)path))

#ifndef STINT_NO_LEGACY_NAMES
/* The names of PaddlePaddle's Stat.h; define STINT_NO_LEGACY_NAMES if they are in the way. */

/* The report "======= StatSet: [GlobalStatInfo] status ======", one row a statistic, milliseconds.
 */
STINT_IMPL_INLINE int printAllStatus(void) {
    return stint_report_legacy(1);
}
/* The same without the closing line of dashes. */
STINT_IMPL_INLINE int printSegTimerStatus(void) {
    return stint_report_legacy(0);
}
/* One row. 0, or non-zero and one line on stderr for an unknown name (off: 0, every name is). */
STINT_IMPL_INLINE int printStatus(const char *name) {
    return stint_set_print(STINT_IMPL_NULL, name);
}
STINT_IMPL_INLINE void setThreadInfo(int each) {
    stint_show_threads(each);
}
STINT_IMPL_INLINE void resetStatus(void) {
    stint_reset();
}
STINT_IMPL_INLINE const stint_stat *getStat(const char *name) {
    return stint_stat_here(name, sizeof(stint_stat));
}
#endif

#ifdef __cplusplus
}
#endif

/* ---- Details, not for users ----------------------------------------------------------------- */

/* Picks the form by the number of arguments; the trailing 0 keeps strict C11 content. EXPAND is for
 * MSVC's older preprocessor, which hands __VA_ARGS__ on as one argument. */
#define STINT_IMPL_EXPAND(x) x
#define STINT_IMPL_PICK(a, b, c, form, ...) form
#define STINT_IMPL_PICK4(a, b, c, d, form, ...) form

#define STINT_IMPL_TIMER_1(name)                                                                   \
    STINT_IMPL_SCOPE(name, STINT_LEVEL_DEFAULT, STINT_ROLE_NONE, STINT_IMPL_NULL)
#define STINT_IMPL_TIMER_2(name, threshold_us)                                                     \
    STINT_IMPL_SCOPE_WITH(name, STINT_IMPL_NULL, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_TIMER_3(name, threshold_us, set)                                                \
    STINT_IMPL_SCOPE_WITH(name, STINT_IMPL_NULL, threshold_us, set)
#define STINT_IMPL_SINCE_2(name, start_us)                                                         \
    STINT_IMPL_SCOPE_SINCE(name, start_us, -1, STINT_IMPL_NULL)
#define STINT_IMPL_SINCE_3(name, start_us, threshold_us)                                           \
    STINT_IMPL_SCOPE_SINCE(name, start_us, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_SINCE_4(name, start_us, threshold_us, set)                                      \
    STINT_IMPL_SCOPE_SINCE(name, start_us, threshold_us, set)
#define STINT_IMPL_DYNAMIC_1(name)                                                                 \
    STINT_IMPL_SCOPE_DYNAMIC(name, STINT_IMPL_BEGINS_NOW, -1, STINT_IMPL_NULL)
#define STINT_IMPL_DYNAMIC_2(name, threshold_us)                                                   \
    STINT_IMPL_SCOPE_DYNAMIC(name, STINT_IMPL_BEGINS_NOW, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_DYNAMIC_3(name, threshold_us, set)                                              \
    STINT_IMPL_SCOPE_DYNAMIC(name, STINT_IMPL_BEGINS_NOW, threshold_us, set)
#define STINT_IMPL_DYNAMIC_SINCE_2(name, start_us)                                                 \
    STINT_IMPL_SCOPE_DYNAMIC(name, start_us, -1, STINT_IMPL_NULL)
#define STINT_IMPL_DYNAMIC_SINCE_3(name, start_us, threshold_us)                                   \
    STINT_IMPL_SCOPE_DYNAMIC(name, start_us, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_DYNAMIC_SINCE_4(name, start_us, threshold_us, set)                              \
    STINT_IMPL_SCOPE_DYNAMIC(name, start_us, threshold_us, set)
#define STINT_IMPL_CAPTURE_1(name) STINT_IMPL_CAPTURE(name, STINT_IMPL_NULL)
#define STINT_IMPL_CAPTURE_2(name, info) STINT_IMPL_CAPTURE(name, info)

#if STINT_IMPL_TIMER
#include "impl_profile.h"
#include "impl_record.h"
#include "impl_scope.h"
#include "impl_stream.h"
#endif
#if !STINT_IMPL_TIMER || !STINT_IMPL_PROFILER || defined(__CUDA_ARCH__)
#include "impl_off.h"
#endif
#if STINT_IMPL_PROFILER
#include "impl_capture.h"
#endif
#include "impl_guard.h"

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
