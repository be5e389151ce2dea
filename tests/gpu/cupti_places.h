/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TESTS_CUPTI_PLACES_H
#define STINT_TESTS_CUPTI_PLACES_H

#include <stddef.h>

struct cupti_place {
    int domain;
    const char *name;
    size_t bytes; /* from the beginning of the parameters */
};

extern const struct cupti_place cupti_places[];
extern const unsigned cupti_places_count;
/* The same in the configuration of a launch, in bytes: the driver's, the runtime's. */
extern const unsigned cupti_places_config[2];

#endif
