/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of the stream in the parameters of CUDA's functions: the rules of cupti_names.c are
 * compared with the toolkit's headers, by the names of its CUPTI.
 */
#include "cupti/cupti_private.h"
#include "cupti_places.h"
#include "cupti_real.h"
#include "harness.h"

#define DRIVER CUPTI_CB_DOMAIN_DRIVER_API
#define RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API

static unsigned find_use(int domain, const char *name) {
    for (uint32_t i = 1; i < cupti_get_names_end(domain); ++i) {
        if (cupti_get_name(domain, i) && !strcmp(cupti_get_name(domain, i), name)) {
            return cupti_get_use(domain, i);
        }
    }
    return 0;
}

static int load_names(void) {
    static struct cupti c;
    uint32_t version;
    char reason[CUPTI_REASON];
    if (cupti_load_library(CUPTI_REAL, &c, &version, reason)) {
        return -1;
    }
    cupti_read_names(&c);
    return 0;
}

TEST(cupti_params, a_stream_is_where_the_rules_say) {
    NEED_REAL_DRIVER();
    if (load_names()) {
        SKIP("the toolkit's CUPTI cannot be loaded");
    }
    for (unsigned i = 0; i < cupti_places_count; ++i) {
        const struct cupti_place *p = &cupti_places[i];
        unsigned use = find_use(p->domain, p->name);
        if (!CHECK((use & CUPTI_STREAM_MASK) == CUPTI_STREAM_AT(p->bytes / 8))) {
            dprintf(harness_fd, "    %s: use %x, byte %zu\n", p->name, use, p->bytes);
        }
    }
}

TEST(cupti_params, a_configuration_has_it_in_one_place) {
    NEED_REAL_DRIVER();
    if (load_names()) {
        SKIP("the toolkit's CUPTI cannot be loaded");
    }
    CHECK((find_use(DRIVER, "cuLaunchKernelEx") & CUPTI_STREAM_MASK) == CUPTI_STREAM_IN_CONFIG);
    CHECK((find_use(RUNTIME, "cudaLaunchKernelExC") & CUPTI_STREAM_MASK) == CUPTI_STREAM_IN_CONFIG);
    CHECK(cupti_places_config[0] == CUPTI_CONFIG_WORD * 8);
    CHECK(cupti_places_config[1] == CUPTI_CONFIG_WORD * 8);
}
