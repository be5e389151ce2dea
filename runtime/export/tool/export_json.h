/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run, for json and for the page.
 */
#ifndef STINT_EXPORT_JSON_H
#define STINT_EXPORT_JSON_H

#include "base/sink.h"
#include "model/ranks.h"

/* `,"ranks":{…}` with so many names and last ranks at most, or nothing if the run was not merged.
 * 0, or -1 if there is not enough memory. */
int export_json_ranks(struct sink *out, struct snapshot *s, uint32_t most);

#endif
