/* SPDX-License-Identifier: Apache-2.0 */
/* Every public macro, every number of arguments, where users write them. Compiled as C and as C++,
 * on and off; never run. */
#include "forms_header.h"
#include <stint/stint.h>

#if !defined(__cplusplus) && !defined(FORMS_SECOND)
extern inline int forms_inline(int n, uint64_t start_us);
#endif

FOR_TIMING(extern int forms_only_when_timed;)

#define FORMS_NAME "a name from a macro"

struct forms_holder {
    stint_timer timer;
    stint_timer timers[2];
    stint_set *set;
};

/* A table of functions with the names of ours: they are functions, so these are only members. */
struct forms_ops {
    int (*printStatus)(int bus, int address);
    int (*printAllStatus)(void);
    int (*printSegTimerStatus)(void);
    int (*getStat)(int address);
    void (*resetStatus)(int address);
    void (*setThreadInfo)(int thread, const char *info);
};

int forms_use_ops(const struct forms_ops *ops);
int forms_use_ops(const struct forms_ops *ops) {
    ops->resetStatus(3);
    ops->setThreadInfo(1, "text");
    return ops->printStatus(1, 2) + ops->printAllStatus() + ops->printSegTimerStatus() +
           ops->getStat(7);
}

void forms_timers(stint_set *set, const char *info, uint64_t start_us);
void forms_timers(stint_set *set, const char *info, uint64_t start_us) {
    int threshold_int = 5;
    long long threshold_wide = 5;
    int64_t threshold_64 = 5;
    REGISTER_TIMER("timer.1");
    REGISTER_TIMER("timer.2", 1000);
    REGISTER_TIMER("timer.2.int", threshold_int);
    REGISTER_TIMER("timer.2.wide", threshold_wide);
    REGISTER_TIMER("timer.2.64", threshold_64);
    REGISTER_TIMER("timer.3", -1, set);
    REGISTER_TIMER("timer.3.null", -1, NULL);
    REGISTER_TIMER("timer.3.zero", -1, 0);
    REGISTER_TIMER("timer.3.call", -1, stint_set_get("forms"));
    REGISTER_TIMER("in "
                   "two parts");
    REGISTER_TIMER(FORMS_NAME);
    REGISTER_TIMER(FORMS_NAME " and more");
    REGISTER_TIMER("with \"quotes\", a comma, % and \n");
    REGISTER_TIMER(__FILE__);
    REGISTER_TIMER_INFO("info", info);
    REGISTER_TIMER_INFO("info.literal", "batch=32");
    REGISTER_TIMER_INFO("info.null", NULL);
    REGISTER_TIMER_INFO("info.condition", set ? info : "none");
    REGISTER_TIMER_INFO("info.threshold", info, 1000);
    REGISTER_TIMER_INFO("info.set", info, -1, set);
    REGISTER_TIMER_INFO("info.named", info, STINT_SLOW_INFO_US, NULL);
    REGISTER_TIMER_FUNC();
    REGISTER_TIMER_SINCE("since.2", start_us);
    REGISTER_TIMER_SINCE("since.3", start_us, 1000);
    REGISTER_TIMER_SINCE("since.4", start_us, -1, set);
    REGISTER_TIMER_SET("set.2", start_us);
    REGISTER_TIMER_SET("set.2.now", stint_now_us());
    REGISTER_TIMER_SET("set.3", start_us, 1000);
    REGISTER_TIMER_SET("set.4", start_us, -1, set);
    REGISTER_TIMER_DETAIL("detail.0", STINT_LEVEL_DEFAULT);
    REGISTER_TIMER_DETAIL("detail.1", STINT_LEVEL_OP_DETAIL);
    REGISTER_TIMER_DETAIL("detail.2", STINT_LEVEL_ALL_OP_DETAIL);
    REGISTER_TIMER_DETAIL("detail.number", 2);
    REGISTER_TIMER_ROLE("role.none", STINT_ROLE_NONE);
    REGISTER_TIMER_ROLE("role.op", STINT_ROLE_OP);
    REGISTER_TIMER_ROLE("role.compute", STINT_ROLE_COMPUTE);
    REGISTER_TIMER_ROLE("role.framework", STINT_ROLE_FRAMEWORK);
    REGISTER_TIMER_ROLE("role.copy", STINT_ROLE_COPY);
    REGISTER_TIMER_ROLE("role.comm", STINT_ROLE_COMM);
    REGISTER_TIMER_ROLE("role.data", STINT_ROLE_DATA);
    REGISTER_TIMER_ROLE("role.step", STINT_ROLE_STEP);
    REGISTER_TIMER_OP("op", info);
    REGISTER_TIMER_OP("op.literal", "matmul_0");
    forms_work();
}

void forms_dynamic(stint_set *set, const char *name, char *buffer, uint64_t start_us);
void forms_dynamic(stint_set *set, const char *name, char *buffer, uint64_t start_us) {
    char local[16] = "local";
    REGISTER_TIMER_DYNAMIC(name);
    REGISTER_TIMER_DYNAMIC(buffer);
    REGISTER_TIMER_DYNAMIC(local);
    REGISTER_TIMER_DYNAMIC("dynamic.literal");
    REGISTER_TIMER_DYNAMIC(NULL);
    REGISTER_TIMER_DYNAMIC(set ? name : buffer);
    REGISTER_TIMER_DYNAMIC(name, 1000);
    REGISTER_TIMER_DYNAMIC(name, -1, set);
    REGISTER_TIMER_DYNAMIC_SINCE(name, start_us);
    REGISTER_TIMER_DYNAMIC_SINCE(name, start_us, 1000);
    REGISTER_TIMER_DYNAMIC_SINCE(name, start_us, -1, set);
    REGISTER_TIMER_DYNAMIC_SET(name, start_us);
    REGISTER_TIMER_DYNAMIC_SET(name, start_us, 1000);
    REGISTER_TIMER_DYNAMIC_SET(name, start_us, -1, set);
    forms_work();
}

void forms_intervals(struct forms_holder *holder, int i);
void forms_intervals(struct forms_holder *holder, int i) {
    stint_timer h = {{0, 0}};
    static stint_timer kept;
    TIMER_BEGIN(h, "interval");
    TIMER_BEGIN(kept, "interval.static");
    TIMER_BEGIN(holder->timer, "interval.member");
    TIMER_BEGIN(holder->timers[i], "interval.element");
    if (i)
        TIMER_END(holder->timers[i]);
    else
        TIMER_END(holder->timers[0]);
    if (i)
        TIMER_BEGIN(h, "interval.again");
    else
        TIMER_BEGIN(h, "interval.other");
    TIMER_END(holder->timer);
    TIMER_END(kept);
    TIMER_END(h);
}

struct forms_job {
    stint_sender sender;
};

void forms_senders(const struct forms_job *job, stint_sender given);
void forms_senders(const struct forms_job *job, stint_sender given) {
    const stint_sender here = stint_sender_here();
    REGISTER_TIMER_UNDER("under", here);
    REGISTER_TIMER_UNDER("under.member", job->sender);
    REGISTER_TIMER_UNDER("under.argument", given);
    REGISTER_TIMER_UNDER("under.call", stint_sender_here());
    forms_work();
}

void forms_gpu(void *stream, const char *info, size_t bytes, double flops, int n);
void forms_gpu(void *stream, const char *info, size_t bytes, double flops, int n) {
    const char *const stream_like = info;
    REGISTER_GPU_TIMER("gpu", stream);
    REGISTER_GPU_TIMER("gpu.null", NULL);
    REGISTER_GPU_TIMER("gpu.zero", 0);
    REGISTER_GPU_TIMER("gpu.pointer", stream_like);
    REGISTER_GPU_TIMER_INFO("gpu.info", stream, info);
    REGISTER_GPU_TIMER_INFO("gpu.info.null", stream, NULL);
    REGISTER_CL_TIMER("cl", stream);
    REGISTER_CL_TIMER("cl.null", NULL);
    REGISTER_CL_TIMER_INFO("cl.info", stream, info);
    TIMER_MARK("mark");
    TIMER_VALUE("value", n);
    TIMER_VALUE("value.double", 0.5 * n);
    TIMER_VALUE("value.size", bytes);
    if (n)
        TIMER_MARK("mark.if");
    else
        TIMER_VALUE("value.else", flops);
    TIMER_BYTES(bytes);
    TIMER_BYTES(1ull << 30);
    TIMER_BYTES(sizeof n);
    TIMER_FLOPS(flops);
    TIMER_FLOPS(2e9);
    TIMER_FLOPS(2.0f * (float)n);
    if (n)
        TIMER_BYTES(n);
    else
        TIMER_FLOPS(n + 1L);
    forms_work();
}

void forms_capture(const char *name, const char *info, int on);
void forms_capture(const char *name, const char *info, int on) {
    REGISTER_GPU_PROFILER("capture");
    REGISTER_GPU_PROFILER("capture.info", "batch=32");
    REGISTER_GPU_PROFILER("capture.null", NULL);
    REGISTER_GPU_PROFILER(name, info);
    if (on)
        GPU_PROFILER_START("range");
    else
        GPU_PROFILER_START(name);
    forms_work();
    if (on)
        GPU_PROFILER_STOP();
    GPU_PROFILER_STOP();
}

void forms_profile(const char *state, const char *path);
void forms_profile(const char *state, const char *path) {
    REGISTER_PROFILER("All", "Default", "total", "profile-%p.run");
    REGISTER_PROFILER(NULL, NULL, NULL, NULL);
    REGISTER_PROFILER(state, "OpDetail", "ave", path);
    REGISTER_PROFILER("CPU", NULL, NULL, path);
    forms_work();
}

/* Used by nothing but macros: must not become "unused" when they are off. */
void forms_locals_stay_used(int n);
void forms_locals_stay_used(int n) {
    const char *only_info = forms_text();
    const char *only_name = forms_text();
    uint64_t only_start = stint_now_us();
    long only_threshold = n;
    stint_set *only_set = stint_set_get("forms");
    stint_timer only_handle = {{0, 0}};
    const char *only_capture = forms_text();
    REGISTER_TIMER_INFO("local.info", only_info);
    REGISTER_TIMER_SET("local.start", only_start, only_threshold, only_set);
    REGISTER_TIMER_DYNAMIC(only_name);
    REGISTER_GPU_PROFILER("local.capture", only_capture);
    TIMER_END(only_handle);
}

/* Arguments with side effects, which off are not evaluated. */
extern int forms_count(int n);
void forms_arguments(int n);
void forms_arguments(int n) {
    REGISTER_TIMER("arguments", forms_count(n++), stint_set_get(forms_text()));
    REGISTER_TIMER_INFO("arguments.info", forms_text(), forms_count(n));
    REGISTER_TIMER_SINCE("arguments.since", (uint64_t)forms_count(n), forms_count(n));
    REGISTER_TIMER_DYNAMIC_SET(forms_text(), (uint64_t)forms_count(n++));
    REGISTER_GPU_TIMER("arguments.gpu", forms_text());
    REGISTER_CL_TIMER_INFO("arguments.cl", &n, forms_text());
    TIMER_BYTES(forms_count(n));
    TIMER_VALUE("arguments.value", forms_count(n));
    TIMER_FLOPS(2.0 * forms_count(n));
    GPU_PROFILER_START(forms_text());
    REGISTER_PROFILER("All", NULL, forms_text(), forms_text());
    FOR_TIMING(n += forms_count(n);)
}

static int forms_first_statement(void) {
    REGISTER_TIMER("first");
    return 1;
}

int forms_blocks(int n);
int forms_blocks(int n) {
    /* Two on one line. */
    /* clang-format off */
    REGISTER_TIMER("one"); REGISTER_TIMER("line");
    REGISTER_TIMER_INFO("two", forms_text()); REGISTER_TIMER_DYNAMIC(forms_text()); forms_work();
    REGISTER_GPU_PROFILER("on"); REGISTER_GPU_PROFILER("one", "line");
    /* clang-format on */
    {
        REGISTER_TIMER("nested");
        {
            REGISTER_TIMER("nested");
            REGISTER_TIMER_DYNAMIC(forms_text());
        }
    }
    for (int i = 0; i < n; ++i) {
        REGISTER_TIMER("for");
        if (i == 3) {
            REGISTER_TIMER("if");
            continue;
        } else {
            REGISTER_TIMER("else");
        }
        while (n > i) {
            REGISTER_TIMER_INFO("while", forms_text());
            if (n == 7) {
                break;
            }
            --n;
        }
        do {
            REGISTER_TIMER_OP("do", forms_text());
        } while (0);
    }
    switch (n) {
    case 0: {
        REGISTER_TIMER("case.0");
        return forms_first_statement();
    }
    case 1: {
        REGISTER_TIMER("case.1");
        forms_work();
        break;
    }
    case 2: {
        REGISTER_PROFILER("GPU", "AllOpDetail", "gpu", NULL);
        goto out;
    }
    default: {
        REGISTER_GPU_PROFILER("default");
        goto out;
    }
    }
    FOR_TIMING(forms_only_when_timed = 1, ++n;) {
        FOR_TIMING(int counted = n; forms_only_when_timed += counted;)
    }
    FOR_TIMING(forms_work(); forms_work());
out:
    return forms_static_inline(n) + forms_inline(n, 0);
}

int forms_functions(stint_set *set, stint_stat *stat);
int forms_functions(stint_set *set, stint_stat *stat) {
    int sum = 0;
    const stint_stat *here = getStat("functions");
    setThreadInfo(1);
    resetStatus();
    stint_reset();
    stint_set_reset(set);
    stint_timers_enable(1);
    (void)stint_level_set(STINT_LEVEL_ALL_OP_DETAIL);
    stint_threads_show(0);
    sum += printStatus("functions") + printAllStatus() + printSegTimerStatus();
    sum += stint_report("table,sort=self") + stint_report(NULL) + stint_report_legacy(1);
    sum += stint_report_at_exit("tree") + stint_report_and_reset();
    sum += stint_stat_get("functions", stat, sizeof *stat) + stint_sample_add("functions", 12);
    sum += stint_scope_begin("functions") + stint_scope_end("functions");
    sum += stint_set_report(set, "table") + stint_set_print(set, "functions");
    sum +=
        stint_set_stat_get(set, "functions", stat, sizeof *stat) + stint_filter_set("+glob,-glob");
    sum += stint_gpu_flush() + (stint_step() > 4) + stint_export("report-%p.csv", "csv");
    sum += stint_timers_schedule(NULL, 0, NULL, NULL) + stint_capture_schedule(NULL, 0, NULL, NULL);
    sum += stint_profiler_start("All", NULL) + stint_profiler_stop("total", "profile.json");
    sum += stint_profiler_at_exit("CPU", "Default", "calls", NULL);
    stint_profiler_reset();
    sum += stint_stat_each(set, NULL, NULL) + stint_tree_each(NULL, NULL);
    sum += stint_set_each(NULL, NULL) + stint_stat_histogram(set, "functions", NULL, 0);
    sum += stint_job_report(0, 1, NULL, NULL);
    sum += stint_log_set(NULL, NULL) + (stint_stat_quantile(set, "functions", 950) > 3);
    sum += (stint_result_text(STINT_OK) != NULL) + (int)(stint_sender_here().word[0] & 1);
    return sum + (here != NULL) + (stint_version() != NULL) + (stint_now_us() > 5) +
           (stint_stat_here("functions", sizeof(stint_stat)) != NULL);
}
