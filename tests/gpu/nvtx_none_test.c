/* SPDX-License-Identifier: Apache-2.0 */
/* A build that found no NVTX headers has no back end for ranges. */
#include "emit/emit.h"

#include "recorded.h"

static void scope(NO_ARG) {
    REGISTER_TIMER("scope");
    fake_advance(5);
}

TEST(nvtx_none, says_so) {
    setenv("STINT_NVTX", "1", 1);
    emit_set_backend(NULL);
    char *said = harness_capture(2, scope, NULL);
    CHECK_STR_EQ(said, "stint: STINT_NVTX=1: this build has no NVTX (its headers were not there); "
                       "ignored\n");
    scope(NULL);
    CHECK_EQ_U64(stat_of("scope").total_ns, 10);
    CHECK(!emit_built());
    CHECK(STINT_IMPL_LOAD(&stint_impl_thread_here->gate) != STINT_IMPL_SHUT);
}

TEST(nvtx_none, says_nothing_unasked) {
    unsetenv("STINT_NVTX");
    emit_set_backend(NULL);
    CHECK_STR_EQ(harness_capture(2, scope, NULL), "");
}
