// SPDX-License-Identifier: Apache-2.0
// The library on the double of a whole GPU: faults of CUPTI and of the driver that the double's
// switches make (whole_gpu.h), records that only newer versions have, and sizes that real programs
// reach. The double says how much there was; the library's figures must be that, or counted as
// lost.
#include "real.h"
#include "real_json.h"

#include <atomic>
#include <pthread.h>

namespace {

const char CLIENT[] = "another CUPTI client";

void spin_many(cudaStream_t stream, int count, uint64_t ns) {
    for (int i = 0; i < count; ++i) {
        real_spin(stream, ns, NULL);
    }
}

uint64_t kernels_of(const std::string &json) {
    return json_sum(json, "kernels", "spin", "", "calls");
}

uint64_t lost_as(const std::string &json, const char *what) {
    return json_sum(json, "lost", ("\"" + std::string(what) + "\"").c_str(), "", "count");
}

// The report that `view` names, as text.
std::string report_of(const char *view) {
    char *text = harness_capture(2, real_print, (void *)view);
    const std::string report = text ? text : "";
    free(text);
    return report;
}

void flush(void *) {
    (void)stint_gpu_flush();
}

// The lines that a flush writes.
std::string flush_says() {
    char *text = harness_capture(2, flush, NULL);
    const std::string said = text ? text : "";
    free(text);
    return said;
}

cudaGraphExec_t graph_of(cudaStream_t stream, int nodes, uint64_t ns) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t program = NULL;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    spin_many(stream, nodes, ns);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&program, graph, 0));
    return program;
}

// ---- Programs of their own, for settings that are read when the library is loaded.

// Kernels, and no scope.
int run_noscope() {
    real_spin_kernel<<<1, 1>>>(1000, NULL);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// Scopes of the CPU before and after CUDA is initialised.
int run_scopes() {
    for (int i = 0; i < 5; ++i) {
        REGISTER_TIMER("x");
        real_spin_kernel<<<1, 1>>>(1000, NULL);
    }
    cudaDeviceSynchronize();
    return stint_report("table");
}

void *launch_for_ever(void *) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (;;) {
        REGISTER_GPU_TIMER("loop", stream);
        real_spin_kernel<<<1, 1, 0, stream>>>(1000, NULL);
        if (cudaGetLastError() != cudaSuccess) {
            usleep(10);
        }
    }
    return NULL;
}

// Ends, forks or is profiled while four threads launch.
int run_busy(const char *how) {
    real_spin_kernel<<<1, 1>>>(1000, NULL);
    for (int i = 0; i < 4; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, launch_for_ever, NULL);
    }
    usleep(3000);
    for (int i = 0; i < 20 && !strcmp(how, "fork"); ++i) {
        int status = 0;
        const pid_t child = fork();
        if (!child) {
            { REGISTER_TIMER("child"); }
            stint_gpu_flush();
            _exit(5);
        }
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) {
            return 1;
        }
    }
    for (int i = 0; i < 10 && !strcmp(how, "profile"); ++i) {
        stint_profiler_start("All", "Default");
        usleep(1000);
        stint_gpu_flush();
        stint_profiler_stop("total", "/dev/null");
    }
    return 0;
}

void say(const char *when) {
    printf("%s: %d calls of CUPTI, subscribed %d\n", when, gpu_double_cupti_calls() != 0,
           gpu_double_subscribed());
    fflush(stdout);
}

// A program that initialises CUDA late, or in a child, or not at all: it starts another one.
int run_late(const char *how) {
    { REGISTER_TIMER("before"); }
    say("main");
    if (!strcmp(how, "late-start")) {
        return system(getenv("START")) != 0;
    }
    const pid_t child = strcmp(how, "late-fork") ? 0 : fork();
    if (child) {
        int status = -1;
        waitpid(child, &status, 0);
        say("parent");
        return status != 0;
    }
    cudaFree(NULL);
    say("initialised");
    {
        REGISTER_TIMER("train");
        say("in a scope");
        real_spin_kernel<<<1, 1>>>(1000, NULL);
        cudaDeviceSynchronize();
    }
    stint_gpu_flush();
    stint_report("gpu");
    fflush(stdout);
    return !strcmp(how, "late-list") && system("env") != 0;
}

int run_program(const char *name) {
    if (!strncmp(name, "late", 4)) {
        return run_late(name);
    }
    if (!strcmp(name, "noscope")) {
        return run_noscope();
    }
    if (!strcmp(name, "scopes")) {
        return run_scopes();
    }
    return run_busy(name);
}

struct command {
    std::string text;
    int status;
};

void run_command(void *data) {
    command *c = (command *)data;
    c->status = system(c->text.c_str());
}

// Its output; it has to succeed within 30 seconds.
std::string output_of(const char *settings, const char *program) {
    char self[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    command c = {std::string("exec 2>&1; ") + settings + " timeout -k 5 30 '" + self + "' --run " +
                     program,
                 -1};
    char *text = harness_capture(1, run_command, &c);
    const std::string output = text ? text : "";
    free(text);
    if (!CHECK(c.status == 0)) {
        dprintf(harness_fd, "    %s %s: %d\n%s\n", settings, program, c.status, output.c_str());
    }
    return output;
}

} // namespace

// ---- Faults

// The kernels of a graph have the number of its launch in an earlier profile: they are in no scope.
TEST(faults, graphs_of_a_later_profile) {
    gpu_double_faults("cupti=130001,graph-numbers");
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    cudaGraphExec_t program = graph_of(stream, 3, 20000);
    const char *const scopes[] = {"A", "B"};
    for (const char *scope : scopes) {
        stint_profiler_start("All", "Default");
        {
            REGISTER_TIMER_DYNAMIC(scope);
            CUDA(cudaGraphLaunch(program, stream));
        }
        CUDA(cudaStreamSynchronize(stream));
        const std::string said = flush_says();
        const std::string json = json_exported();
        const bool first = *scope == 'A';
        CHECK_EQ_U64(kernels_of(json), 3);
        CHECK_EQ_U64(json_sum(json, "activities", "spin", "\"A\"", "calls"), first ? 3 : 0);
        CHECK_EQ_U64(json_sum(json, "activities", "spin", "\"B\"", "calls"), 0);
        CHECK_EQ_U64(lost_as(json, "activity_unknown"), first ? 0 : 3);
        CHECK_STR_EQ(said.c_str(),
                     first
                         ? ""
                         : "stint: kernels of graphs are in no scope: this CUPTI numbers them as "
                           "launches of an earlier profile; that of CUDA 13.1 Update 1 does not\n");
        CHECK_CONTAINS(report_of("gpu").c_str(), ", has known faults: use 13.1 Update 1");
        stint_profiler_stop("total", "/dev/null");
    }
}

// One flush that returns nothing proves nothing.
TEST(faults, an_empty_flush) {
    gpu_double_faults("lazy=1");
    stint_profiler_start("All", "Default");
    spin_many(NULL, 50, 10000);
    CUDA(cudaDeviceSynchronize());
    CHECK_STR_EQ(flush_says().c_str(), "");
    CHECK_EQ_U64(kernels_of(json_exported()), 50);
    CHECK(report_of("gpu").find(CLIENT) == std::string::npos);
}

// After two of them another client is blamed; the blame is taken back when the records come.
TEST(faults, records_that_come_after_all) {
    gpu_double_faults("lazy=2");
    stint_profiler_start("All", "Default");
    spin_many(NULL, 50, 10000);
    CUDA(cudaDeviceSynchronize());
    CHECK_CONTAINS(flush_says().c_str(), "another CUPTI client takes the records");
    const std::string report = report_of("gpu"); // flushes again
    CHECK_CONTAINS(report.c_str(), "stint: the GPU activities came after all: no other CUPTI "
                                   "client takes the records\n");
    CHECK_CONTAINS(report.c_str(), "cupti 13.1: 153 records");
    CHECK(report.find("took the records") == std::string::npos);
    CHECK_EQ_U64(kernels_of(json_exported()), 50);
    CHECK_STR_EQ(flush_says().c_str(), "");
}

TEST(faults, a_client_that_takes_the_records) {
    CUDA(cudaFree(NULL)); // profiles begin when CUDA is initialised
    stint_profiler_start("All", "Default");
    gpu_double_take_over();
    spin_many(NULL, 50, 10000);
    CUDA(cudaDeviceSynchronize());
    CHECK_CONTAINS(flush_says().c_str(), "another CUPTI client takes the records");
    CHECK_STR_EQ(flush_says().c_str(), "");
    CHECK_CONTAINS(report_of("gpu").c_str(), "took the records of 51 launches");
    stint_profiler_stop("total", "/dev/null");
    stint_profiler_start("All", "Default"); // registers its own again
    spin_many(NULL, 5, 10000);
    CUDA(cudaDeviceSynchronize());
    CHECK_STR_EQ(flush_says().c_str(), "");
    CHECK_EQ_U64(kernels_of(json_exported()), 5);
}

TEST(faults, another_tool_holds_cupti) {
    gpu_double_faults("client=CUPTI for Nsight Systems");
    CUDA(cudaFree(NULL));
    char *said = harness_capture(
        2, [](void *) { stint_profiler_start("All", "Default"); }, NULL);
    CHECK_CONTAINS(said, "stint: no GPU activities: cuptiSubscribe: another tool has CUPTI: CUPTI "
                         "for Nsight Systems; timers and captures go on\n");
    free(said);
}

// With a driver that has CUPTI's functions per subscriber, with one that has not, and where kinds
// of records cannot be enabled by them.
TEST(faults, functions_per_subscriber) {
    const char *const faults[] = {"cupti=130300,driver=13030", "cupti=130300,driver=13000",
                                  "cupti=130300,driver=13030,v2-fails"};
    for (const char *text : faults) {
        gpu_double_faults(text);
        stint_profiler_start("All", "Default");
        spin_many(NULL, 20, 1000);
        CUDA(cudaDeviceSynchronize());
        CHECK_STR_EQ(flush_says().c_str(), "");
        CHECK_EQ_U64(kernels_of(json_exported()), 20);
        stint_profiler_stop("total", "/dev/null");
    }
}

TEST(faults, times_that_cannot_be) {
    uint64_t bad = 0;
    for (const char *text : {"times=zero", "times=high", "times=swapped", "times=late"}) {
        gpu_double_faults(text);
        stint_profiler_start("All", "Default");
        spin_many(NULL, 100, 10000);
        CUDA(cudaDeviceSynchronize());
        (void)stint_gpu_flush();
        const std::string json = json_exported();
        bad += 10;
        CHECK_EQ_U64(kernels_of(json), 90);
        CHECK_EQ_U64(lost_as(json, "activity_bad"), bad);
        CHECK(json_sum(json, "devices", "busy_ns", "", "busy_ns") <= 90 * 10000);
        stint_profiler_stop("total", "/dev/null");
    }
}

TEST(faults, cuda_that_does_not_work) {
    gpu_double_faults("init=999");
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_TIMER("cpu only", NULL);
    }
    CHECK(cudaFree(NULL) == cudaErrorUnknown);
    stint_profiler_start("All", "Default");
    CHECK(stint_gpu_flush() == STINT_OK);
    CHECK_EQ_U64(real_stat("cpu only").gpu_calls, 0);
    CHECK_CONTAINS(report_of("table").c_str(), "CUDA was not initialised");
}

// ---- Reports

TEST(reports, a_program_without_scopes) {
    for (const char *view : {"gpu", "table", "tree"}) {
        const std::string settings = std::string("STINT_GPU=cupti STINT_REPORT=") + view;
        const std::string said = output_of(settings.c_str(), "noscope");
        CHECK_CONTAINS(said.c_str(), "stint gpu: ");
        CHECK_CONTAINS(said.c_str(), "real_spin_kernel");
    }
    CHECK_STR_EQ(output_of("STINT_REPORT=gpu", "noscope").c_str(), "");
}

TEST(reports, the_header_knows_that_cuda_is_initialised) {
    const std::string said = output_of("STINT_GPU=cupti", "scopes");
    CHECK_CONTAINS(said.c_str(), "GPU driver; cupti 13.1: ");
    CHECK(said.find("not initialised") == std::string::npos);
}

// ---- Records of newer versions

TEST(records, copies_of_a_batch) {
    char from[16][64] = {{0}}, to[16][64];
    void *targets[16];
    const void *sources[16];
    size_t bytes[16];
    for (int i = 0; i < 16; ++i) {
        targets[i] = to[i];
        sources[i] = from[i];
        bytes[i] = 64;
    }
    stint_profiler_start("All", "Default");
    CUDA(cudaMemcpyBatchAsync(targets, sources, bytes, 16, NULL, NULL, 0, NULL));
    CUDA(cudaMemcpyAsync(to[0], from[0], 64, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaDeviceSynchronize());
    (void)stint_gpu_flush();
    const std::string json = json_exported();
    CHECK_EQ_U64(json_sum(json, "memory", "HtoD", "\"batch\":1", "calls"), 16);
    CHECK_EQ_U64(json_sum(json, "memory", "HtoD", "\"batch\":1", "bytes"), 16 * 64);
    CHECK_EQ_U64(json_sum(json, "memory", "HtoD", "\"batch\":1", "total_ns"), 1000 + 1024 / 10);
    CHECK_EQ_U64(json_sum(json, "memory", "HtoD", "", "calls"), 17);
    CHECK_EQ_U64(json_sum(json, "api", "cudaMemcpyBatchAsync", "", "calls"), 1);
    CHECK_CONTAINS(report_of("gpu").c_str(), "  batch  ");
}

static void wait_5_ms(void *) {
    usleep(5000);
}

// A function that a stream runs on the host is the cause of the device's idle time.
TEST(records, host_functions) {
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    stint_profiler_start("All", "Default");
    real_spin(stream, MS, NULL);
    CUDA(cudaLaunchHostFunc(stream, wait_5_ms, NULL));
    real_spin(stream, MS, NULL);
    CUDA(cudaStreamSynchronize(stream));
    (void)stint_gpu_flush();
    const std::string json = json_exported();
    CHECK_EQ_U64(json_sum(json, "gaps", "\"host function\"", "", "calls"), 1);
    CHECK(json_sum(json, "gaps", "\"host function\"", "", "total_ns") >= 5 * MS);
    CHECK_EQ_U64(json_sum(json, "gaps", "why", "", "calls"), 1);
}

// ---- Captures, sizes, ends

static std::atomic<bool> over;

static void *profile_and_flush(void *) {
    for (int i = 0; i < 60; ++i) {
        (void)stint_gpu_flush();
        stint_profiler_start("All", "Default");
        (void)stint_gpu_flush();
        stint_profiler_stop("total", "/dev/null");
        usleep(500);
    }
    over = true;
    return NULL;
}

// 60 profiles and 120 flushes of another thread beside captures, which say whether one was spoilt.
TEST(sizes, captures_beside_profiles_and_flushes) {
    pthread_t thread;
    int captures = 0;
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    CHECK(pthread_create(&thread, NULL, profile_and_flush, NULL) == 0);
    for (; captures < 50 || !over; ++captures) {
        cudaGraph_t graph = NULL;
        CUDA(cudaStreamBeginCapture(stream, captures % 2 ? cudaStreamCaptureModeGlobal
                                                         : cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < 5; ++i) {
            REGISTER_GPU_TIMER("captured", stream);
            real_spin(stream, 1000, NULL);
            usleep(100);
        }
        CUDA(cudaStreamEndCapture(stream, &graph));
        CHECK(graph != NULL);
    }
    pthread_join(thread, NULL);
    CHECK(captures >= 50);
    CHECK_EQ_U64(gpu_double_spoilt_captures(), 0);
}

// 200 000 kernels of two launches of a graph.
TEST(sizes, graphs_of_100000_nodes) {
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    cudaGraphExec_t program = graph_of(stream, 100000, 100);
    stint_profiler_start("All", "Default");
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("launch");
        CUDA(cudaGraphLaunch(program, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    (void)stint_gpu_flush();
    const std::string json = json_exported();
    CHECK_EQ_U64(kernels_of(json), 200000);
    CHECK_EQ_U64(json_sum(json, "stats", "\"launch\"", "", "device_calls"), 200000);
    CHECK_EQ_U64(json_sum(json, "kernels", "spin", "", "total_ns"), 200000 * 100);
}

static size_t resident_pages() {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%*s %zu", &pages) == 1);
    fclose(f);
    return pages;
}

TEST(sizes, launches_do_not_take_memory) {
    size_t before = 0;
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    cudaGraphExec_t program = graph_of(stream, 1, 100);
    stint_profiler_start("All", "Default");
    for (int i = 0; i < 400000; ++i) {
        REGISTER_TIMER("launch");
        cudaGraphLaunch(program, stream);
        if (i % 1000 == 999) {
            CUDA(cudaStreamSynchronize(stream));
        }
        before = i == 200000 ? resident_pages() : before;
    }
    CUDA(cudaStreamSynchronize(stream));
    (void)stint_gpu_flush();
    CHECK(resident_pages() <= before + 64); // the tables are full by then
    CHECK_EQ_U64(kernels_of(json_exported()), 400000);
}

// ---- CUDA_INJECTION64_PATH: cuInit calls stint, whose CUPTI is not called before

#ifdef STINT_IS_SHARED
static std::string output_of_late(const char *how, const char *more) {
    const std::string settings = "env -u CUDA_INJECTION64_PATH STINT_GPU=cupti STINT_OUTPUT=stdout "
                                 "STINT_REPORT= ";
    return output_of((settings + more).c_str(), how);
}

static void check_traced(const std::string &said) {
    CHECK_CONTAINS(said.c_str(), "main: 0 calls of CUPTI, subscribed 0\n"
                                 "initialised: 1 calls of CUPTI, subscribed 1\n");
    CHECK_CONTAINS(said.c_str(), "real_spin_kernel");
}

TEST(injection, cupti_is_not_called_before_cuda) {
    check_traced(output_of_late("late", ""));
}

TEST(injection, a_child_may_be_the_first_to_use_cuda) {
    const std::string said = output_of_late("late-fork", "");
    check_traced(said);
    CHECK_CONTAINS(said.c_str(), "parent: 0 calls of CUPTI, subscribed 0\n");
}

TEST(injection, another_tool_has_the_variable) {
    const std::string said = output_of_late("late", "CUDA_INJECTION64_PATH=/nonexistent/tool.so");
    CHECK_CONTAINS(said.c_str(), "initialised: 0 calls of CUPTI, subscribed 0\n"
                                 "in a scope: 1 calls of CUPTI, subscribed 1\n");
    CHECK_CONTAINS(said.c_str(), "real_spin_kernel");
}

TEST(injection, a_child_without_stint_is_left_alone) {
    const std::string said = output_of_late("late-start", "START='" INJECTION_OTHER "'");
    CHECK_CONTAINS(said.c_str(), "other: 0, 0 calls of CUPTI\n");
    CHECK(said.find("stint gpu: stint_gpu_injection_other") == std::string::npos);
}

TEST(injection, a_child_with_stint_is_traced) {
    char self[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    check_traced(
        output_of_late("late-start", ("START='" + std::string(self) + " --run late'").c_str()));
}

TEST(injection, after_cuda_was_initialised_children_do_not_have_it) {
    const std::string said = output_of_late("late-list", "");
    check_traced(said);
    CHECK_CONTAINS(said.c_str(), "STINT_GPU=cupti\n"); // the environment is in it
    CHECK(said.find("\nCUDA_INJECTION64_PATH=") == std::string::npos);
}
#endif

TEST(ends, while_threads_launch) {
    for (const char *settings : {"STINT_GPU=cupti", "STINT_GPU=events"}) {
        for (const char *how : {"exit", "fork", "profile"}) {
            (void)output_of(settings, how);
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--run")) {
        return run_program(argv[2]);
    }
    return harness_main(argc, argv);
}
