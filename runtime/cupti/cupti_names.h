/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's functions by their numbers in CUPTI's two domains: their names, and what is to be done
 * about them. The library is asked once; nothing here knows a number.
 */
#ifndef STINT_CUPTI_NAMES_H
#define STINT_CUPTI_NAMES_H

#include "cupti_load.h"

enum cupti_use {
    CUPTI_USE_RECORD = 1, /* worth a record */
    CUPTI_USE_LAUNCH = 2, /* something with a record of its own comes of it: ask for its call */
    CUPTI_USE_QUERY = 4   /* CUPTI takes it for a wait */
};

/* Once, before the others. */
void cupti_names_read(const struct cupti *c);
/* Numbers are below; 0 is none. domain: CUPTI_CB_DOMAIN_DRIVER_API, _RUNTIME_API. */
uint32_t cupti_names_end(int domain);
/* Without "_v3020"; NULL: there is none. Stays. */
const char *cupti_name(int domain, uint32_t cbid);
/* enum cupti_use. */
unsigned cupti_use(int domain, uint32_t cbid);

#endif
