/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: what was lost, skipped or abandoned, counted. Ids and texts come from
 * gen/status.ini; a report's footer prints every count that is not zero.
 */
#ifndef STINT_STATUS_H
#define STINT_STATUS_H

#include <stdint.h>

#include "status_ids.inc"

/* Rows may miss a call for each that is counted, or any number of them. */
enum status_missing { STATUS_MISSING_NONE, STATUS_MISSING_CALLS, STATUS_MISSING_ANY };

struct status_text {
    const char *key;
    const char *text;  /* completes "N …" */
    const char *label; /* short */
    enum status_missing missing;
};

/* NULL for an id out of range. */
const struct status_text *status_text(uint32_t id);

#endif
