/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TEST_PLUGIN_H
#define STINT_TEST_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "adapters/itt.h"

/* The functions that the module calls, and the values that the program needs to end its ranges. */
struct plugin_calls {
    void (*itt_init)(struct itt_global *, int);
    struct itt_domain *(*domain_create)(const char *);
    void (*task_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
                       struct itt_string *);
    int (*roctx_push)(const char *);
    void (*kokkos_push)(const char *);
    uint64_t (*roctx_start)(const char *);
    struct itt_domain *domain;
    uint64_t started;
};

void plugin_begin(struct plugin_calls *calls);

#endif
