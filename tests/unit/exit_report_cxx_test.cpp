/* SPDX-License-Identifier: Apache-2.0 */
/* The exit report comes after C++ static destructors, in whatever order objects were made. */
#include "fake_clock.h"
#include "harness.h"
#include "stint/stint.h"

namespace {

struct late {
    explicit late(const char *its_name) : name(its_name) {}
    ~late() {
        REGISTER_TIMER_DYNAMIC(name);
        fake_advance(1000);
        dprintf(2, "destructor of %s\n", name);
    }
    const char *name;
};

void handler() {
    REGISTER_TIMER("handler");
    fake_advance(1000);
}

void program() {
    static late before("before"); // made before the library is first used
    stint_report_at_exit("legacy");
    {
        REGISTER_TIMER("program");
        fake_advance(1000);
    }
    static late after("after");
    atexit(handler);
}

void run(void *) {
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        program();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

} // namespace

TEST(exit_report_cxx, comes_after_static_destructors) {
    char *said = harness_capture(2, run, NULL);
    const char *report = said ? strstr(said, "======= StatSet") : NULL;
    const char *last = said ? strstr(said, "destructor of before") : NULL;
    CHECK(report && last && last < report);
    CHECK_CONTAINS(report, "Stat=before ");
    CHECK_CONTAINS(report, "Stat=after ");
    CHECK_CONTAINS(report, "Stat=handler ");
    CHECK_CONTAINS(report, "Stat=program ");
}
