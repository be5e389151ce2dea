/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint: scoped timers and GPU capture ranges for C, C++ and CUDA. Disabled, they generate no
 * code.
 *
 *     #include <stint/stint.h>
 *
 *     static void step(const char *batch) {
 *         STINT_TIMER("step");                  // ends with the block, however it is left
 *         STINT_TIMER_INFO("step.load", batch); // stores batch with the slowest call
 *         load(batch);
 *     }
 *
 *     int main(void) {
 *         STINT_GPU_PROFILER("train", "batch=32"); // nsys -c cudaProfilerApi captures this
 *         for (int i = 0; i < 100; ++i) step("train.bin");
 *         return printAllStatus();                    // prints a report on stderr
 *     }
 *
 * Two independent switches are given to the compiler of your code (the library is the same in
 * all cases). Each takes ON, OFF, YES, NO, TRUE, FALSE, 1, 0, or no value (= on):
 *   -DWITH_TIMER      enables the timers and the report functions
 *   -DWITH_PROFILER   enables the GPU capture ranges
 * Without them the lines above generate no code and evaluate no argument: the object file is the
 * one you get with the lines blanked out (for calls of the functions: from -O1 on).
 *
 * Enabled, the header requires Linux on x86-64 or aarch64, gcc or clang (also as the host
 * compiler of nvcc), and C11, -std=gnu89 or C++11. Disabled, it compiles anywhere: strict C99,
 * C++11, MSVC, and with gcc and clang C89. Before C99, put a timer after the block's
 * declarations.
 *
 * On Linux, in C, the header includes no header of the C library (only <stddef.h>, which is the
 * compiler's), so it may precede a source's own `#define _GNU_SOURCE`.
 *
 * Errors never stop your program: no function aborts, exits, throws or changes errno. Losses (no
 * memory, too many open scopes) are counted by reason and printed under every report.
 *
 * Terms (scope, site, set, interval, …) are defined in docs/glossary.md.
 */
#include "detail/impl_again.h"

#ifndef STINT_STINT_H
#define STINT_STINT_H

#include "detail/impl_types.h"

#include "detail/impl_switch.h"

/* Until the end of this file. In C++ the casts of C, which projects may make errors; gcc and clang
 * have variadic macros, inline functions and declarations after statements in C89 as well, and say
 * so with -Wpedantic. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas" /* of packing, with -fpack-struct */
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wlanguage-extension-token"
#endif
#else
#pragma GCC diagnostic ignored "-Wold-style-cast"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif
#endif

/* A project may include this header where structs are packed, or inside extern "C". */
#if defined(__GNUC__) || defined(_MSC_VER)
#pragma pack(push, 8)
#endif
#ifdef __cplusplus
extern "C++" {
#endif

/* The version of this header, for #if and as a string, "major.minor.patch". stint_version() is the
 * version of the library that the program runs with. */
#define STINT_VERSION_MAJOR 1
#define STINT_VERSION_MINOR 0
#define STINT_VERSION_PATCH 0
#define STINT_IMPL_TEXT_(x) #x
#define STINT_IMPL_TEXT(x) STINT_IMPL_TEXT_(x)
#define STINT_VERSION                                                                              \
    STINT_IMPL_TEXT(STINT_VERSION_MAJOR)                                                           \
    "." STINT_IMPL_TEXT(STINT_VERSION_MINOR) "." STINT_IMPL_TEXT(STINT_VERSION_PATCH)

/* The levels of STINT_TIMER_DETAIL: a scope is recorded if its level is at most STINT_LEVEL
 * (default 0). Otherwise its time belongs to the enclosing scope. */
#define STINT_LEVEL_DEFAULT 0
#define STINT_LEVEL_OP_DETAIL 1
#define STINT_LEVEL_ALL_OP_DETAIL 2

/* The roles of STINT_TIMER_ROLE classify a scope's time. They are stored with the site, for
 * reports that separate computation from framework time; nothing is derived from names. */
#define STINT_ROLE_NONE 0
#define STINT_ROLE_OP 1        /* an operator as a whole */
#define STINT_ROLE_COMPUTE 2   /* the computation itself */
#define STINT_ROLE_FRAMEWORK 3 /* preparing, shape inference, scheduling */
#define STINT_ROLE_COPY 4
#define STINT_ROLE_COMM 5
#define STINT_ROLE_DATA 6             /* reading and decoding input */
#define STINT_ROLE_STEP 7             /* one iteration */
#define STINT_ROLE_WAITING 8          /* for another thread or process: the column waiting */
#define STINT_ROLE_WAITING_FOR_ROOT 9 /* likewise, of all for one of them: MPI_Bcast */
#define STINT_ROLE_ROOT_WAITING 10    /* likewise, of one for the others: MPI_Reduce */

/* The result of functions that return int: 0, or which error. Values are never changed, and new
 * ones are negative. stint_result_text() has a text for each. */
enum stint_result {
    STINT_OK = 0,
    STINT_ERROR_UNKNOWN = -1,   /* a name, view, format, level … that is not known or invalid */
    STINT_ERROR_NO_MEMORY = -2, /* or no room in the library's tables */
    STINT_ERROR_CANNOT_WRITE = -3, /* the file or stream; the line that was printed says why */
    STINT_ERROR_BUSY = -4,         /* something else of this kind is under way */
    STINT_ERROR_NOT_AVAILABLE = -5 /* not on this machine, in this build, or switched off */
};

/* The levels of the lines that stint prints on stderr: something the caller or the environment
 * asked for was not done; something works less well than requested; for information; a call took
 * longer than its threshold_us. */
enum stint_log_level {
    STINT_LOG_ERROR = 1,
    STINT_LOG_WARNING = 2,
    STINT_LOG_NOTE = 3,
    STINT_LOG_SLOW = 4
};

/* Gets one line, without "stint: " and without a newline, valid until it returns. No lock is held
 * and the thread cannot be cancelled. The callback may call any function of stint: lines of these
 * calls come after it has returned. Calls of it do not overlap. It returns normally: no exception,
 * no longjmp. */
typedef void (*stint_log_fn)(void *data, int level, const char *line);

/* A call of STINT_TIMER_INFO of this length prints a line, in microseconds: 10 s. */
#define STINT_SLOW_INFO_US 10000000

/* A set of statistics other than the default one ("GlobalStatInfo"). Sets are never freed. */
typedef struct stint_set stint_set;

/* An interval that need not be a block, between STINT_TIMER_BEGIN and STINT_TIMER_END, on any
 * threads. Zero-initialise it. */
typedef struct stint_timer {
    uint64_t word[2];
} stint_timer;

/* Names the scope that sends work, for STINT_TIMER_UNDER on the thread that does it. A value: it
 * may be copied and stored, and stays valid when the scope and its thread have ended. All 0: no
 * scope. */
typedef struct stint_sender {
    uint64_t word[2];
} stint_sender;

/* The schedule of steps 0, 1, 2, … (stint_step), passed with its size so that later versions may
 * add members, for which 0 means what it was before. All fields are in steps: skip_first of them
 * are off; then in each round `closed` steps are off, `ready` steps are warm-up, `record` steps are
 * recorded. `repeat` is the number of rounds, 0 = until the program ends. record must not be 0. */
typedef struct stint_schedule {
    uint32_t skip_first;
    uint32_t closed;
    uint32_t ready;
    uint32_t record;
    uint32_t repeat;
} stint_schedule;

/* Called by stint_step, on the thread that calls it and with no lock held, when the steps
 * first … last have been recorded. */
typedef void (*stint_ready_fn)(void *data, uint64_t first, uint64_t last);

/* One statistic, all threads added up. Times are in nanoseconds and inclusive of nested scopes. A
 * sum that needs more than 64 bits is UINT64_MAX here; reports and exports have all its digits.
 * Later versions add members at the end: stint_stat_get takes the size that the caller knows. */
typedef struct stint_stat {
    /* gen: stat */
    /* Every call, including recursive ones. */
    uint64_t calls;
    /* Timed calls: recursive calls are part of the outermost one. */
    uint64_t samples;
    /* The sum of the samples. */
    uint64_t total_ns;
    /* The total without the scopes nested in it. */
    uint64_t self_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    /* The first sample: cold caches, unmapped pages. */
    uint64_t first_ns;
    /* Percentiles are from a histogram with 16 steps per octave: within 3.2 %. On calls of more
     * than 2^47 ticks they are lower bounds. */
    uint64_t p50_ns;
    uint64_t p90_ns;
    uint64_t p99_ns;
    /* Calls measured on the GPU, and their times there. */
    uint64_t gpu_calls;
    uint64_t gpu_total_ns;
    uint64_t gpu_min_ns;
    uint64_t gpu_max_ns;
    uint64_t gpu_p50_ns;
    uint64_t gpu_p99_ns;
    /* Kernels, copies and fills launched by the scope and those nested in it, as reported by CUPTI
     * (STINT_GPU=cupti), and the sum of their durations. */
    uint64_t device_calls;
    uint64_t device_total_ns;
    /* Declared by STINT_TIMER_BYTES, STINT_TIMER_FLOPS. */
    uint64_t bytes;
    uint64_t flops;
    /* Threads with a sample. */
    uint32_t threads;
    /* The note of the slowest call, cut to fit; "" = none. */
    char info[64];
    /* The standard deviation, from the histogram; docs/reports.md says how exact. STINT_NS_UNKNOWN
     * with calls of more than 2^47 ticks. */
    uint64_t stddev_ns;
    /* gen: end */
} stint_stat;

/* Calls that took low_ns or more, and less than high_ns. */
typedef struct stint_bucket {
    uint64_t low_ns;
    uint64_t high_ns;
    uint64_t calls;
} stint_bucket;

/* A time that is not known. */
#define STINT_NS_UNKNOWN (~(uint64_t)0)
/* The parent of a row of the call tree that has none. */
#define STINT_NO_PARENT (~(uint32_t)0)

/* A row of the call tree, for stint_tree_fn. Later versions add members at the end; a program built
 * with a newer header than the library's finds 0 in those that the library does not know. */
typedef struct stint_tree_row {
    const char *name;
    const stint_stat *stat; /* of calls on this path; percentiles and stddev_ns are 0 */
    stint_set *set;         /* NULL: the default set */
    uint32_t index;         /* rows are numbered from 0 in the order of the calls */
    uint32_t parent;        /* index of the row above, or STINT_NO_PARENT */
    uint32_t depth;         /* 0 = no row above */
} stint_tree_row;

/* Callbacks of stint_stat_each, stint_tree_each and stint_set_each: called on the calling thread,
 * with no lock held, so that they may call any function of stint. Pointers are valid until the
 * callback returns; sets are never freed. stat has 0 in members that the library does not know. 0 =
 * go on; another value ends the walk, which returns it: use positive ones. They return normally: no
 * exception, no longjmp. */
typedef int (*stint_stat_fn)(void *data, const char *name, const stint_stat *stat);
typedef int (*stint_tree_fn)(void *data, const stint_tree_row *row);
typedef int (*stint_set_fn)(void *data, const char *name, stint_set *set);

/* The operations of a stint_reduce_fn, all of unsigned numbers. */
enum stint_reduce_op { STINT_REDUCE_SUM = 0, STINT_REDUCE_MIN = 1, STINT_REDUCE_MAX = 2 };

/* Callback of stint_job_report: reduces n values over all processes of a job, element by element;
 * on return each process has the results in `values`, as after MPI_Allreduce with MPI_IN_PLACE and
 * MPI_UINT64_T; values and results are below 2^63. op is one of enum stint_reduce_op. It is called
 * on the thread that called stint_job_report, with no lock held, the same number of times and with
 * the same op and n in every process. 0, or another value: it failed, which ends the summary; use
 * positive ones. Results are checked: lengths, counts, ranks and limits that no reduction gives end
 * the summary of this process. It returns normally: no exception, no longjmp. */
typedef int (*stint_reduce_fn)(void *data, int op, uint64_t *values, size_t n);

/* ---- Timers --------------------------------------------------------------------------------- */

/* Times the rest of the enclosing block under `name`, a string literal.
 *   STINT_TIMER(name)
 *   STINT_TIMER(name, threshold_us)        a call of threshold_us or more prints a line
 *   STINT_TIMER(name, threshold_us, set)   into another set (stint_set *, or a C++ StatSet)
 * threshold_us: microseconds, -1 = never. The macro is a declaration: several may be on one line
 * and in one block; as the only statement of an `if` it does not compile (write braces).
 * Thread-safe and async-signal-safe, as all timers except STINT_GPU_TIMER and STINT_CL_TIMER
 * (docs/macros.md, rules of a scope). Cost: about one fifth more than the two clock reads that it
 * needs; below a nanosecond if switched off at run time. */
#define STINT_TIMER(...)                                                                           \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK(__VA_ARGS__, STINT_IMPL_MANY,              \
                                                        STINT_IMPL_TIMER_3, STINT_IMPL_TIMER_2,    \
                                                        STINT_IMPL_TIMER_1, 0))(__VA_ARGS__))

/* STINT_TIMER with a note (const char *, NULL allowed; in C++ also std::string, where a temporary
 * one lives until the block ends) that is stored with the slowest call, and printed with a call of
 * threshold_us or more. The text must be valid until the block ends; up to 63 bytes of it are
 * copied if the call sets a new maximum.
 *   STINT_TIMER_INFO(name, info)             threshold_us is STINT_SLOW_INFO_US
 *   STINT_TIMER_INFO(name, info, threshold_us)
 *   STINT_TIMER_INFO(name, info, threshold_us, set) */
#define STINT_TIMER_INFO(...)                                                                      \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(                                                           \
        STINT_IMPL_PICK4(__VA_ARGS__, STINT_IMPL_MANY, STINT_IMPL_INFO_4, STINT_IMPL_INFO_3,       \
                         STINT_IMPL_INFO_2, STINT_IMPL_INFO_1, 0))(__VA_ARGS__))

/* STINT_TIMER named after the enclosing function. */
#define STINT_TIMER_FUNC() STINT_IMPL_SCOPE_FUNC()

/* A scope that began earlier, at start_us = stint_now_us() of that moment, in microseconds. Also
 * (name, start_us, threshold_us) and (name, start_us, threshold_us, set). PaddlePaddle's name for
 * it ends in _SET: the start is set. */
#define STINT_TIMER_SINCE(...)                                                                     \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(                                                           \
        STINT_IMPL_PICK4(__VA_ARGS__, STINT_IMPL_MANY, STINT_IMPL_SINCE_4, STINT_IMPL_SINCE_3,     \
                         STINT_IMPL_SINCE_2, STINT_IMPL_SINCE_1, 0))(__VA_ARGS__))

/* A name made at run time: const char *, in C++ also std::string and std::string_view. It is
 * copied (up to 1000 bytes) and matched by content, so the buffer may change afterwards; NULL
 * and "" are not recorded, but counted. Also (name, threshold_us) and (name, threshold_us, set).
 * Additional cost: a hash of the name, and a lock for a name that the thread has not cached. */
#define STINT_TIMER_DYNAMIC(...)                                                                   \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(                                                           \
        STINT_IMPL_PICK(__VA_ARGS__, STINT_IMPL_MANY, STINT_IMPL_DYNAMIC_3, STINT_IMPL_DYNAMIC_2,  \
                        STINT_IMPL_DYNAMIC_1, 0))(__VA_ARGS__))

/* DYNAMIC and SINCE combined: (name, start_us), (…, threshold_us), (…, threshold_us, set).
 * PaddlePaddle's name for it ends in _SET. */
#define STINT_TIMER_DYNAMIC_SINCE(...)                                                             \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK4(                                          \
        __VA_ARGS__, STINT_IMPL_MANY, STINT_IMPL_DYNAMIC_SINCE_4, STINT_IMPL_DYNAMIC_SINCE_3,      \
        STINT_IMPL_DYNAMIC_SINCE_2, STINT_IMPL_SINCE_1, 0))(__VA_ARGS__))

/* Recorded only if level, one of STINT_LEVEL_* and a constant, is at most STINT_LEVEL. */
#define STINT_TIMER_DETAIL(name, level)                                                            \
    STINT_IMPL_SCOPE(name, STINT_IMPL_WHOLE(level), STINT_ROLE_NONE, STINT_IMPL_NULL)

/* STINT_TIMER with a role, one of STINT_ROLE_*. */
#define STINT_TIMER_ROLE(name, role)                                                               \
    STINT_IMPL_SCOPE(name, STINT_LEVEL_DEFAULT, STINT_IMPL_WHOLE(role), STINT_IMPL_NULL)

/* An operator: `type` is a literal; `instance`, a run-time name as in DYNAMIC, is a scope nested
 * in it if STINT_LEVEL is 2. */
#define STINT_TIMER_OP(type, instance) STINT_IMPL_SCOPE_OP(type, instance)

/* A scope below the scope of `sender`, which is stint_sender_here() of the thread that sent the
 * work: reports of the call tree show it there, on whatever thread it runs, with the time from
 * stint_sender_here() to its begin in the columns "queued" and "queue avg". It is not part of the
 * sender's time: its self time stays what it was. A sender that is all 0: as STINT_TIMER. One that
 * is not of this process is counted, and the scope is shown where it runs. It costs about twice as
 * much as STINT_TIMER. */
#define STINT_TIMER_UNDER(name, sender) STINT_IMPL_SCOPE_UNDER(name, sender)

/* Statements that are compiled only if timers are enabled. */
#define STINT_FOR_TIMING(...) STINT_IMPL_FOR_TIMING(__VA_ARGS__)

/* Begin and end an interval that is not a block. h is a stint_timer that is accessible at both
 * ends, name a literal. Intervals may overlap anything, so they are not part of the call tree.
 * STINT_TIMER_END without STINT_TIMER_BEGIN, or a second one, is counted and ignored, provided h
 * was zero-initialised or begun once. The ends may be on different threads; calls for one h must
 * not overlap. */
#define STINT_TIMER_BEGIN(h, name) STINT_IMPL_HANDLE_BEGIN(h, name)
#define STINT_TIMER_END(h) STINT_IMPL_HANDLE_END(h)

/* Times the rest of the block on the CPU, as STINT_TIMER does, and on the GPU, between two
 * CUDA events on `stream`; both times are in one row. stream is a cudaStream_t or CUstream (any
 * pointer in C); NULL is the default stream, the per-thread one if this file is compiled for it.
 * The thread does not wait for the GPU: a later GPU scope or a report reads the time. Without a
 * GPU or a context, while the stream is being captured into a graph, and if STINT_GPU_IN_FLIGHT
 * calls are already in flight, the call has CPU time only and is counted by reason in the
 * report's footer. Work of other streams may run between the two events and is then included.
 * STINT_GPU=sync waits for the stream at the end of the block, STINT_GPU=off measures CPU time
 * only. Cost on the host: two event records and one or two queries; without a driver a few
 * nanoseconds. See docs/gpu.md. */
#define STINT_GPU_TIMER(name, stream) STINT_IMPL_SCOPE_GPU(name, stream, STINT_IMPL_NULL, -1)

/* The same with a note, as in STINT_TIMER_INFO. */
#define STINT_GPU_TIMER_INFO(name, stream, info)                                                   \
    STINT_IMPL_SCOPE_GPU(name, stream, info, STINT_SLOW_INFO_US)

/* The same for OpenCL: the GPU time is the time between two markers on `queue`, a cl_command_queue
 * made with CL_QUEUE_PROFILING_ENABLE. A queue without profiling, or NULL, has CPU time only, is
 * counted in the report's footer, and the first one is named in a line. The queue is retained until
 * its time was read, and flushed before that. libOpenCL.so.1 is found at run time. Not
 * async-signal-safe. See docs/gpu.md. */
#define STINT_CL_TIMER(name, queue) STINT_IMPL_SCOPE_QUEUE(name, queue, STINT_IMPL_NULL, -1)
#define STINT_CL_TIMER_INFO(name, queue, info)                                                     \
    STINT_IMPL_SCOPE_QUEUE(name, queue, info, STINT_SLOW_INFO_US)

/* Declare that the innermost open scope of this thread moves n bytes, or computes n
 * floating-point operations (any arithmetic type, n >= 0). Reports show the rate, by GPU time if
 * there is one, and its share of the device's peak. The values of all calls add up. Outside all
 * scopes, or negative or not finite, they are ignored, and counted. */
#define STINT_TIMER_BYTES(n) STINT_IMPL_BYTES(n)
#define STINT_TIMER_FLOPS(n) STINT_IMPL_FLOPS(n)

/* Record a point in time, or a number at a point in time, in the trace of this thread
 * (STINT_TRACE); they are not in reports, and their cost without a trace is negligible. name is
 * a literal, v any arithmetic value; one that is not finite is not recorded, but counted. */
#define STINT_TIMER_MARK(name) STINT_IMPL_MARK(name)
#define STINT_TIMER_VALUE(name, v) STINT_IMPL_VALUE(name, v)

/* ---- GPU capture ranges --------------------------------------------------------------------- */

/* A CUDA profiler that waits for cudaProfilerStart (nsys -c cudaProfilerApi, ncu
 * --profile-from-start off) captures from here to the end of the block. Only the outermost range
 * of the process starts and stops it; nested ones, on any thread, are counted. The outermost
 * prints one line, with or without a GPU:
 *   Enable GPU Profiler Stat: [name] "info"
 * and, if nothing can be captured, a second one with the reason. name and info are run-time
 * strings. No lock is held while a range is open. Thread-safe.
 *   STINT_GPU_PROFILER(name)   STINT_GPU_PROFILER(name, info) */
#define STINT_GPU_PROFILER(...)                                                                    \
    STINT_IMPL_EXPAND(STINT_IMPL_EXPAND(STINT_IMPL_PICK(__VA_ARGS__, STINT_IMPL_MANY,              \
                                                        STINT_IMPL_MANY, STINT_IMPL_CAPTURE_2,     \
                                                        STINT_IMPL_CAPTURE_1, 0))(__VA_ARGS__))

/* The same without a block. Every START needs a STOP; a surplus STOP is ignored, and counted. */
#define STINT_GPU_PROFILER_START(name) STINT_IMPL_CAPTURE_START(name)
#define STINT_GPU_PROFILER_STOP() STINT_IMPL_CAPTURE_STOP()

/* ---- Profiler ------------------------------------------------------------------------------- */

/* Profiles the rest of the block: calls stint_profiler_start(state, option) here and
 * stint_profiler_stop(sorted_key, path) at the end, however the block is left. If a profile is
 * running already, on any thread, it does nothing. Put it before the block's timers: scopes that
 * were open before it have no row. Requires WITH_TIMER. */
#define STINT_PROFILER(state, option, sorted_key, path)                                            \
    STINT_IMPL_PROFILE(state, option, sorted_key, path)

/* ---- Functions ------------------------------------------------------------------------------ */
/*
 * These are functions, not macros, so members of your classes may have the same names. They
 * require WITH_TIMER (or the switch that is named); without it they are empty inline functions
 * that return 0 or NULL. All are thread-safe, preserve errno, and may be called from atexit
 * handlers and static destructors, but not from signal handlers. An int result is 0 = STINT_OK, or
 * one of enum stint_result, after one line (stint_log_set) where a comment says "after one line".
 *
 * NULL means: for a set, the default set; for a view, the one in STINT_REPORT or "table"
 * (stint_report_at_exit: no report); for a filter, all names; for a schedule, none any more; for a
 * callback, the default (stint_log_set: stderr, stint_timers_schedule: stint_report(NULL),
 * stint_capture_schedule: nothing); for an argument of the profiler, its default. A name, a path, a
 * format and a pointer that is written to must not be NULL: STINT_ERROR_UNKNOWN.
 */
#ifdef __cplusplus
extern "C" {
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
 *   none|legacy|table|tree|gpu|fluid|ranks|ranges
 *   [,sort=calls|total|self|waiting|avg|min|p99|max|stddev
 *   |gpu_calls|gpu_total|gpu_p99|gpu_max|device_total|cpu|mallocs|allocated
 *   |memory_peak|memory_live]
 *   [,top=N][,threads][,corrected]
 * NULL: the view in STINT_REPORT, else "table". 0, or after one line
 * STINT_ERROR_UNKNOWN (the view), _NO_MEMORY, _CANNOT_WRITE. Takes a few milliseconds at most; the
 * program's other threads continue. */
STINT_IMPL_FUNCTION(int, 0, stint_report, (const char *view), (void)view)

/* Writes the current statistics to a file, in the format "text", "csv" or "json" (docs/exports.md);
 * "text" is the table of stint_report. path as in STINT_OUTPUT: %p process id, %h host, %r rank.
 * The file is replaced atomically. 0, or after one line STINT_ERROR_UNKNOWN (the format),
 * _NO_MEMORY, _CANNOT_WRITE. The tool `stint` writes further formats, from a run file. */
STINT_IMPL_FUNCTION(int, 0, stint_export, (const char *path, const char *format),
                    ((void)path, (void)format))

/* Prints that report at the end of the program, after atexit handlers and static destructors.
 * NULL cancels it; "none" does so, too, and STINT_REPORT is then not looked at. STINT_REPORT=view
 * in the environment does the same without changing the source. After one line STINT_ERROR_UNKNOWN
 * for an unknown view. */
STINT_IMPL_FUNCTION(int, 0, stint_report_at_exit, (const char *view), (void)view)

/* Prints a report of the interval since the last reset and starts a new interval at the same
 * instant, so that each sample is in exactly one of them. */
STINT_IMPL_FUNCTION(int, 0, stint_report_and_reset, (void), (void)0)

/* Prints one summary of all processes of a job, in the process with rank 0: which process is late
 * at each waiting scope (STINT_ROLE_WAITING) and what that costs, and how evenly each name is
 * spread over the processes, in this interval. The library calls no MPI: `reduce` does, or whatever
 * the processes have in common; data is passed to it.
 * rank, size: of this process, 0 <= rank < size.
 * All processes call it, from one thread each, built with timers and with libraries of one version,
 * while the callback works (before MPI_Finalize). Scopes of the callback are not in this summary.
 * 0, or in every process: what reduce returned; after one line STINT_ERROR_UNKNOWN for an invalid
 * argument or a callback that does not reduce over `size` processes, or _NO_MEMORY, in one of them.
 * _CANNOT_WRITE in the process that prints. Cost: about 60 reductions of 16 to 32 bytes per name,
 * and a few of the names' texts; memory about 300 bytes per name, whatever the size. */
STINT_IMPL_FUNCTION(int, 0, stint_job_report,
                    (uint32_t rank, uint32_t size, stint_reduce_fn reduce, void *data),
                    ((void)rank, (void)size, (void)reduce, (void)data))

/* Starts a new interval: later reports and getters cover the time from now on. Recording threads
 * are not disturbed. Afterwards min and max are bounds from the histogram (within 6.3 %) unless
 * they were set in the interval. */
STINT_IMPL_PROCEDURE(stint_reset, (void), (void)0)

/* Reads one statistic of the default set into *out. size is sizeof *out: no more bytes are
 * written, and if it is larger than the library's structure the rest is set to 0. 0, or
 * STINT_ERROR_UNKNOWN if the name has no call in this interval; *out is then unchanged. Costs some
 * 7000 instructions, 8000 more once it has a histogram, 5000 for each further thread with one and
 * 250 to 1300 for each further place in the call tree, whatever other names there are; about as
 * much do stint_stat_quantile and stint_stat_histogram. Thread-safe; waits for reports and other
 * such calls. */
STINT_IMPL_FUNCTION(int, 0, stint_stat_get, (const char *name, stint_stat *out, size_t size),
                    ((void)name, (void)out, (void)size))

/* Calls fn for each statistic of the set (NULL: the default one) that has a call in this interval,
 * sorted by name, bytes compared. All rows are of one instant, before the first callback: a reset
 * in a callback does not change them. 0, what fn returned if that is not 0, or an error. */
STINT_IMPL_FUNCTION(int, 0, stint_stat_each, (stint_set * set, stint_stat_fn fn, void *data),
                    ((void)set, (void)fn, (void)data))

/* Calls fn for each row of the call tree of all threads and sets, as the view "tree" shows it: a
 * row, then the rows below it. Rows of one parent are sorted by name. As stint_stat_each. */
STINT_IMPL_FUNCTION(int, 0, stint_tree_each, (stint_tree_fn fn, void *data), ((void)fn, (void)data))

/* Calls fn for each set, sorted by name; the default set is "GlobalStatInfo" and NULL. As
 * stint_stat_each. */
STINT_IMPL_FUNCTION(int, 0, stint_set_each, (stint_set_fn fn, void *data), ((void)fn, (void)data))

/* The time in nanoseconds that `permille` of 1000 calls of that name did not exceed, as the
 * percentiles of stint_stat (500 = p50_ns): 0 = minimum, 1000 = maximum. STINT_NS_UNKNOWN for an
 * unknown name, a permille above 1000, or calls without times. */
STINT_IMPL_FUNCTION(uint64_t, STINT_NS_UNKNOWN, stint_stat_quantile,
                    (stint_set * set, const char *name, unsigned permille),
                    ((void)set, (void)name, (void)permille))

/* Copies the histogram of the timed calls of that name, in rising order, without empty buckets.
 * Buckets are exact below 32 ticks of the clock and then 1/16 of their octave wide: high_ns is at
 * most 6.3 % above low_ns. Returns the number of buckets (at most 704), or a negative error. At
 * most n are copied; n = 0 only asks. */
STINT_IMPL_FUNCTION(int, 0, stint_stat_histogram,
                    (stint_set * set, const char *name, stint_bucket *buckets, size_t n),
                    ((void)set, (void)name, (void)buckets, (void)n))

/* Adds a sample of ns nanoseconds that was measured elsewhere. 0, or if it is not recorded
 * STINT_ERROR_UNKNOWN (an invalid name or time) or _NOT_AVAILABLE (switched off, filtered, no
 * room); both are counted. */
STINT_IMPL_FUNCTION(int, 0, stint_sample_add, (const char *name, uint64_t ns),
                    ((void)name, (void)ns))

/* Microseconds since an arbitrary start, monotonic. For STINT_TIMER_SINCE. */
STINT_IMPL_FUNCTION(uint64_t, 0, stint_now_us, (void), (void)0)

/* The innermost open scope of the calling thread, and the time; all 0 if none is open or timers are
 * off. Pass it with the work to the thread that does it. */
STINT_IMPL_FUNCTION(stint_sender, none, stint_sender_here, (void), stint_sender none = {{0}})

/* A scope for bindings of other languages: opens and closes it by name on the calling thread.
 * stint_scope_end returns STINT_ERROR_UNKNOWN if no such scope is open. Scopes that were opened
 * inside and not closed are abandoned and counted. */
STINT_IMPL_FUNCTION(int, 0, stint_scope_begin, (const char *name), (void)name)
STINT_IMPL_FUNCTION(int, 0, stint_scope_end, (const char *name), (void)name)

/* The set of that name, created at first use; NULL if there are 16 383 sets already. Takes a
 * lock. */
STINT_IMPL_FUNCTION(stint_set *, NULL, stint_set_get, (const char *name), (void)name)

/* stint_report, stint_reset and stint_stat_get for one set. set NULL: the default set. */
STINT_IMPL_FUNCTION(int, 0, stint_set_report, (stint_set * set, const char *view),
                    ((void)set, (void)view))
STINT_IMPL_PROCEDURE(stint_set_reset, (stint_set * set), (void)set)
STINT_IMPL_FUNCTION(int, 0, stint_set_stat_get,
                    (stint_set * set, const char *name, stint_stat *out, size_t size),
                    ((void)set, (void)name, (void)out, (void)size))

/* Switches recording on (1) or off (0) for the whole process, from the next scope on; as
 * STINT_ENABLE. */
STINT_IMPL_PROCEDURE(stint_timers_enable, (int enabled), (void)enabled)
/* Selects the names to record, as STINT_FILTER: "+glob,-glob", NULL = all. 0, or
 * STINT_ERROR_UNKNOWN for an invalid list, which changes nothing. */
STINT_IMPL_FUNCTION(int, 0, stint_filter_set, (const char *globs), (void)globs)
/* Sets the highest level to record, one of STINT_LEVEL_*, as STINT_LEVEL. STINT_OK, or
 * STINT_ERROR_UNKNOWN for another number, which changes nothing. */
STINT_IMPL_FUNCTION(int, 0, stint_level_set, (int level), (void)level)
/* Later reports show one row per thread (1) or all threads added up (0). */
STINT_IMPL_PROCEDURE(stint_threads_show, (int each), (void)each)

/* Lines that would be printed on stderr go to fn instead; NULL: to stderr again. STINT_LOG selects
 * levels before that. fn is called on the thread that causes the line, never in a signal handler
 * (but for one that was installed with SA_NODEFER): on a thread that blocks a signal, as a handler
 * does, a line waits for the end of a function of stint, or the next line of another thread. So
 * does one that is made under a lock. 64 lines may wait; how many more were dropped is a line of
 * its own. Another thread may still be in the previous callback when this returns. From the end of
 * the program on, after atexit handlers and static destructors, lines go to stderr. 0. */
STINT_IMPL_STEP_FUNCTION(int, 0, stint_log_set, (stint_log_fn fn, void *data),
                         ((void)fn, (void)data))

/* A short text for a result, as "no memory"; "unknown result" for another number. Static. */
STINT_IMPL_STEP_FUNCTION(const char *, "", stint_result_text, (int result), (void)result)

/* STINT_VERSION of the library that the program runs with; with timers and capture ranges off, of
 * the header. The text is static. */
STINT_IMPL_STEP_FUNCTION(const char *, STINT_VERSION, stint_version, (void), (void)0)

/* Ends a step of the program, for example a training iteration, and begins the next; returns the
 * number of the new step. Step 0 begins with the program, so the call belongs at the end of the
 * loop's body. Reports show the wall time of a step and the steps per second;
 * STINT_CAPTURE="steps 20-30" and schedules use the step number. Any thread may call it, usually
 * always the same. Cost: about 100 ns. Requires WITH_TIMER or WITH_PROFILER. */
STINT_IMPL_STEP_FUNCTION(uint64_t, 0, stint_step, (void), (void)0)

/* Records by steps: not in `closed` steps; in `ready` steps, whose samples are then discarded; and
 * in `record` steps. After the last one `ready` is called, or stint_report(NULL) if it is NULL. A
 * schedule of NULL ends it: timers record again. size is sizeof *schedule: members that a shorter
 * one does not have are 0. 0, or after one line STINT_ERROR_UNKNOWN for a schedule without a record
 * phase, _NOT_AVAILABLE for one with members that this library does not know. */
STINT_IMPL_FUNCTION(int, 0, stint_timers_schedule,
                    (const stint_schedule *schedule, size_t size, stint_ready_fn ready, void *data),
                    ((void)schedule, (void)size, (void)ready, (void)data))

/* Captures by steps: GPU profilers capture in record phases only; the ranges in the source have
 * no effect. ready may be NULL. A schedule of NULL ends it. Size and result as with
 * stint_timers_schedule. Requires WITH_PROFILER. */
STINT_IMPL_CAPTURE_FUNCTION(int, 0, stint_capture_schedule,
                            (const stint_schedule *schedule, size_t size, stint_ready_fn ready,
                             void *data),
                            ((void)schedule, (void)size, (void)ready, (void)data))

/* Waits until the events of all GPU timers are complete, and reads their times. 0, or
 * STINT_ERROR_NOT_AVAILABLE if the GPU failed. No other function except stint_profiler_stop waits
 * for a GPU. Do not call it while a stream is being captured. */
STINT_IMPL_FUNCTION(int, 0, stint_gpu_flush, (void), (void)0)

/* Starts the profiler of PaddlePaddle's fluid: a report interval of its own, with its report.
 * state: "CPU", "GPU" or "All" (NULL = All): the times that it reports. For GPU and All, CUPTI
 *   traces kernels and copies; if it is not available, CPU times are recorded, and the report gives
 *   the reason.
 * option: "Default", "OpDetail" or "AllOpDetail" (NULL = Default): scopes up to the level 0, 1 or
 *   2 are recorded (STINT_TIMER_DETAIL, STINT_TIMER_OP), until the profile stops.
 * Recording is on during the profile, and later reports cover the time from here on. 0, or
 * STINT_ERROR_BUSY if a profile is running already: nothing is done; or STINT_ERROR_UNKNOWN after
 * one line: unknown argument. */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_start, (const char *state, const char *option),
                    ((void)state, (void)option))

/* Stops the profile and prints its report (the view "fluid") to STINT_OUTPUT.
 * sorted_key: "default" (order of first end), "calls", "total", "max", "min", "ave", "cpu" or "gpu"
 *   (NULL = default).
 * path: NULL, or a file to write, as in STINT_OUTPUT: with the suffix .json a Chrome trace of the
 *   profile (requires STINT_TRACE), else a run file of the program so far, for the tool.
 * Waits for the GPU as stint_gpu_flush does, unless the state is CPU. If no profile is running,
 * nothing is done. 0, or after one line STINT_ERROR_UNKNOWN (an argument), _NO_MEMORY,
 * _CANNOT_WRITE, _NOT_AVAILABLE (a trace without STINT_TRACE). */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_stop, (const char *sorted_key, const char *path),
                    ((void)sorted_key, (void)path))

/* Discards what the running profile has recorded, for example the warm-up. */
STINT_IMPL_PROCEDURE(stint_profiler_reset, (void), (void)0)

/* Starts a profile that stops at the end of the program, after atexit handlers and static
 * destructors. If one is running already, only its end is set. 0, or STINT_ERROR_UNKNOWN
 * after one line. */
STINT_IMPL_FUNCTION(int, 0, stint_profiler_at_exit,
                    (const char *state, const char *option, const char *sorted_key,
                     const char *path),
                    ((void)state, (void)option, (void)sorted_key, (void)path))

/* ---- Names of PaddlePaddle ------------------------------------------------------------------- */

/* Only for the names below: programs call stint_report, stint_set_report and stint_stat_get. */

/* Prints the legacy report of the default set, and of every other set that has a sample;
 * with_line adds the closing line. */
STINT_IMPL_FUNCTION(int, 0, stint_report_legacy, (int with_line), (void)with_line)
/* Prints the row of one name of a set in the legacy form. */
STINT_IMPL_FUNCTION(int, 0, stint_set_print, (stint_set * set, const char *name),
                    ((void)set, (void)name))
/* The statistic of that name in the default set, in storage of the calling thread, valid until
 * its next call; size as in stint_stat_get. NULL if the name is unknown or size exceeds the
 * storage, 512 bytes. */
STINT_IMPL_FUNCTION(const stint_stat *, STINT_IMPL_NULL, stint_stat_here,
                    (const char *name, size_t size), ((void)name, (void)size))

#ifdef __cplusplus
} /* extern "C" */
} /* extern "C++" */
#endif
#endif

#if !defined(STINT_NO_LEGACY_NAMES) && !defined(STINT_IMPL_NAMES_H)
/* The macros above without STINT_, and the functions of PaddlePaddle's Stat.h. Define
 * STINT_NO_LEGACY_NAMES if they conflict with names of yours. They come with the first inclusion
 * that does not have it. */
#include "detail/impl_names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints "======= StatSet: [GlobalStatInfo] status ======", one row per name, times in
 * milliseconds. */
STINT_IMPL_INLINE int printAllStatus(void) {
    return stint_report_legacy(1);
}
/* The same without the closing line of dashes. */
STINT_IMPL_INLINE int printSegTimerStatus(void) {
    return stint_report_legacy(0);
}
/* Prints one row. 0, or non-zero and one line on stderr for an unknown name (timers off: 0). */
STINT_IMPL_INLINE int printStatus(const char *name) {
    return stint_set_print(STINT_IMPL_NULL, name);
}
STINT_IMPL_INLINE void setThreadInfo(int each) {
    stint_threads_show(each);
}
STINT_IMPL_INLINE void resetStatus(void) {
    stint_reset();
}
STINT_IMPL_INLINE const stint_stat *getStat(const char *name) {
    return stint_stat_here(name, sizeof(stint_stat));
}
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif

#ifndef STINT_IMPL_DETAILS
#define STINT_IMPL_DETAILS
#ifdef __cplusplus
extern "C++" {
#endif

/* ---- Details, not for users ----------------------------------------------------------------- */

/* Selects the form by the number of arguments; the trailing 0 is required by strict C11. EXPAND
 * is for MSVC's older preprocessor, which passes __VA_ARGS__ as one argument. */
#define STINT_IMPL_EXPAND(x) x
#define STINT_IMPL_PICK(a, b, c, d, form, ...) form
#define STINT_IMPL_PICK4(a, b, c, d, e, form, ...) form
#define STINT_IMPL_MANY(...) (void)STINT_too_many_arguments

#define STINT_IMPL_TIMER_1(name)                                                                   \
    STINT_IMPL_SCOPE(name, STINT_LEVEL_DEFAULT, STINT_ROLE_NONE, STINT_IMPL_NULL)
#define STINT_IMPL_TIMER_2(name, threshold_us)                                                     \
    STINT_IMPL_SCOPE_WITH(name, STINT_IMPL_NULL, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_TIMER_3(name, threshold_us, set)                                                \
    STINT_IMPL_SCOPE_WITH(name, STINT_IMPL_NULL, threshold_us, set)
#define STINT_IMPL_INFO_1(name) (void)STINT_TIMER_INFO_needs_a_name_and_a_note
#define STINT_IMPL_INFO_2(name, info)                                                              \
    STINT_IMPL_SCOPE_WITH(name, info, STINT_SLOW_INFO_US, STINT_IMPL_NULL)
#define STINT_IMPL_INFO_3(name, info, threshold_us)                                                \
    STINT_IMPL_SCOPE_WITH(name, info, threshold_us, STINT_IMPL_NULL)
#define STINT_IMPL_INFO_4(name, info, threshold_us, set)                                           \
    STINT_IMPL_SCOPE_WITH(name, info, threshold_us, set)
#define STINT_IMPL_SINCE_1(name) (void)STINT_TIMER_SINCE_needs_a_name_and_a_start
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
#include "detail/impl_profile.h"
#include "detail/impl_record.h"
#include "detail/impl_scope.h"
#include "detail/impl_stream.h"
#endif
#if !STINT_IMPL_TIMER || !STINT_IMPL_PROFILER || defined(__CUDA_ARCH__)
#include "detail/impl_off.h"
#endif
#if STINT_IMPL_PROFILER
#include "detail/impl_capture.h"
#endif
#include "detail/impl_guard.h"

#ifdef __cplusplus
} /* extern "C++" */
#endif
#if defined(__GNUC__) || defined(_MSC_VER)
#pragma pack(pop)
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
