/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with CUPTI from its load to its end: before it initialises CUDA, and until the driver
 * is unloaded.
 */
#include "cuda_double.h"
#include "cupti_double.h"
#include "harness.h"

/* A run of the program with these settings. */
struct run {
    const char *library, *how, *more;
};

static void run_program(void *data) {
    const struct run *r = data;
    char command[2000];
    snprintf(command, sizeof command,
             "env STINT_CUPTI_LIB='%s' STINT_CUDA_LIB=/nonexistent/libcuda.so.1 %s '%s' %s 2>&1",
             r->library, r->more, CUPTI_PROGRAM, r->how);
    CHECK(system(command) == 0);
}

static char *output_of(const char *library, const char *how, const char *more) {
    struct run r = {library, how, more};
    return harness_capture(1, run_program, &r);
}

static void check_run(const char *how, const char *more, const char *expected) {
    char *said = output_of(CUPTI_DOUBLE_LIBRARY, how, more);
    CHECK_STR_EQ(said, expected);
}

TEST(cupti_life, from_load_to_exit) {
    check_run("wait", "STINT_GPU=cupti",
              "main: on 1, subscribed 1\n"
              "driver goes: cupti 13.1: 12 records, 0.0 % of the run; on 0, subscribed 0\n"
              "start again: -1\n"
              "calls after: 0\n");
}

TEST(cupti_life, what_is_not_complete_is_forced_out) {
    check_run("", "STINT_GPU=cupti",
              "main: on 1, subscribed 1\n"
              "driver goes: cupti 13.1: 9 records, 0.0 % of the run; on 0, subscribed 0\n"
              "start again: -1\n"
              "calls after: 0\n");
}

TEST(cupti_life, not_unless_asked) {
    static const char expected[] = "main: on 0, subscribed 0\n"
                                   "driver goes: ; on 0, subscribed 0\n";
    static const char *const settings[] = {"STINT_GPU=events", "STINT_GPU=", "",
                                           "STINT_GPU=cupti STINT_ENABLE=0",
                                           "STINT_GPU=cupti STINT_CAPTURE=train"};
    for (int i = 0; i < 5; ++i) {
        char *said = output_of(CUPTI_DOUBLE_LIBRARY, "", settings[i]);
        CHECK_CONTAINS(said, expected);
    }
}

TEST(cupti_life, a_child_has_none) {
    char *said = output_of(CUPTI_DOUBLE_LIBRARY, "fork", "STINT_GPU=cupti");
    CHECK_CONTAINS(said, "child: start -1, on 0, calls 0, \"\"\n");
    CHECK_CONTAINS(said, "driver goes: cupti 13.1: 9 records");
}

TEST(cupti_life, held_by_another_tool) {
    char *said = output_of(CUPTI_DOUBLE_LIBRARY, "",
                           "STINT_GPU=cupti STINT_CUPTI_DOUBLE_FAIL=cuptiSubscribe=39 "
                           "STINT_REPORT=table");
    CHECK_CONTAINS(said, "stint: no GPU activities: cuptiSubscribe: another tool has CUPTI");
    CHECK_CONTAINS(said, "no cupti: cuptiSubscribe: another tool has CUPTI (nsys, ncu,");
    CHECK_CONTAINS(said, "train");
}

TEST(cupti_life, no_library) {
    char *said = output_of("/nonexistent/libcupti.so.13", "", "STINT_GPU=cupti");
    CHECK_CONTAINS(said, "stint: no GPU activities: ");
    CHECK_CONTAINS(said, "/nonexistent/libcupti.so.13: ");
    CHECK_CONTAINS(said, "main: on 0, subscribed 0\n");
}

/* Two installed libraries: the program has loaded one, which is tried first. */
static char *output_of_two(const char *faults) {
    char folder[] = "/tmp/stint_cupti_XXXXXX", path[100], settings[700];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libcupti.so.13", folder);
    CHECK(!symlink(CUPTI_DOUBLE_LIBRARY, path));
    snprintf(path, sizeof path, "%s/libcupti.so.12", folder);
    CHECK(!symlink(CUPTI_DOUBLE_OLD_LIBRARY, path));
    snprintf(settings, sizeof settings,
             "STINT_CUDA_LIB='%s' STINT_DOUBLE_INIT=1 LD_LIBRARY_PATH='%s' STINT_GPU=cupti %s sh "
             "-c 'unset "
             "STINT_CUPTI_LIB; exec \"$0\"'",
             DOUBLE_LIBRARY, folder, faults);
    char *said = output_of("", "", settings);
    snprintf(path, sizeof path, "%s/libcupti.so.13", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/libcupti.so.12", folder);
    unlink(path);
    rmdir(folder);
    return said;
}

static void link_in(const char *folder, const char *name, const char *library) {
    char command[600];
    snprintf(command, sizeof command, "mkdir -p '%s' && ln -s '%s' '%s/%s'", folder, library,
             folder, name);
    CHECK(system(command) == 0);
}

/* The libcupti of the program's own CUDA, in the folders in which pip installs it: `cupti` beside
 * `cudart`. */
static void check_wheel(const char *cudart, const char *cupti, const char *cupti_name) {
    char top[] = "/tmp/stint_wheel_XXXXXX", folder[200], settings[900];
    CHECK(mkdtemp(top) != NULL);
    snprintf(folder, sizeof folder, "%s/nvidia/%s/lib", top, cudart);
    link_in(folder, "libcudart.so.12", CUDART_SHARED);
    snprintf(folder, sizeof folder, "%s/nvidia/%s/lib", top, cupti);
    link_in(folder, cupti_name, CUPTI_DOUBLE_LIBRARY);
    snprintf(settings, sizeof settings,
             "STINT_CUDA_LIB='%s' STINT_DOUBLE_INIT=1 STINT_GPU=cupti "
             "CUPTI_PROGRAM_WHEEL='%s/nvidia/%s/lib/libcudart.so.12' sh "
             "-c 'unset STINT_CUPTI_LIB; exec \"$0\"'",
             DOUBLE_LIBRARY, top, cudart);
    char *said = output_of("", "", settings);
    CHECK_CONTAINS(said, "main: on 1, subscribed 1\n");
    snprintf(settings, sizeof settings, "rm -r '%s'", top);
    CHECK(system(settings) == 0);
}

TEST(cupti_life, the_library_of_the_programs_wheels) {
    check_wheel("cuda_runtime", "cuda_cupti", "libcupti.so.12");
    check_wheel("cu13", "cu13", "libcupti.so.13");
}

TEST(cupti_life, the_first_of_two_libraries) {
    char *said = output_of_two("");
    CHECK_CONTAINS(said, "main: on 1, subscribed 1\n");
}

TEST(cupti_life, the_next_library_if_the_first_refuses) {
    static const char *const codes[] = {"14", "15", "999"};
    for (int i = 0; i < 3; ++i) {
        char faults[100];
        snprintf(faults, sizeof faults, "STINT_CUPTI_DOUBLE_FAIL=cuptiSubscribe=%s", codes[i]);
        char *said = output_of_two(faults);
        CHECK_CONTAINS(said, "main: on 1, subscribed 0\n"); /* the other one is */
    }
}

TEST(cupti_life, no_next_library_for_other_codes) {
    char *said = output_of_two("STINT_CUPTI_DOUBLE_FAIL=cuptiSubscribe=39");
    CHECK_CONTAINS(said, "cuptiSubscribe: another tool has CUPTI");
    CHECK_CONTAINS(said, "main: on 0, subscribed 0\n");
}

/* There it says that another client uses functions that exclude this library's: a second CUPTI in
 * the process would be no help, and is not loaded. */
TEST(cupti_life, no_next_library_beside_another_client) {
    char *said = output_of_two("STINT_CUPTI_DOUBLE_VERSION=130200 "
                               "STINT_CUPTI_DOUBLE_FAIL=cuptiSubscribe=14");
    CHECK_CONTAINS(said, "cuptiSubscribe: another CUPTI client uses the functions per subscriber");
    CHECK_CONTAINS(said, "main: on 0, subscribed 0\n");
}

TEST(cupti_life, all_libraries_refuse) {
    char *said = output_of_two("STINT_CUPTI_DOUBLE_FAIL=cuptiSubscribe=14 "
                               "STINT_CUPTI_DOUBLE_OLD_FAIL=cuptiSubscribe=15");
    CHECK_CONTAINS(said, "stint: no GPU activities: cuptiSubscribe: this CUPTI and the CUDA driver "
                         "do not go together; timers and captures go on\n");
    CHECK_CONTAINS(said, "main: on 0, subscribed 0\n");
}

TEST(cupti_life, real_library_without_a_driver) {
#ifdef CUPTI_REAL
    char *said = output_of(CUPTI_REAL, "", "STINT_GPU=cupti STINT_REPORT=table");
    CHECK_CONTAINS(said, "stint: no GPU activities: no CUDA driver: no /nonexistent/libcuda.so.1; "
                         "timers and captures go on\n");
    CHECK_CONTAINS(said, "train");
#else
    SKIP("no CUDA toolkit here");
#endif
}
