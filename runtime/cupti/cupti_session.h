/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as a tracer: found at run time (libcupti.so.13, .12, .11.8 …, or STINT_CUPTI_LIB). A
 * session lasts from Subscribe to Unsubscribe; buffers that are completed later are still
 * read. */
#ifndef STINT_CUPTI_SESSION_H
#define STINT_CUPTI_SESSION_H

#include "activity/tracer_ops.h"

extern const struct tracer_ops cupti_tracer;

#endif
