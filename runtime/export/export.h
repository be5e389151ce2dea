/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports: a run in, a file of somebody else's format out. Each returns 0, or -1 when it ran out of
 * memory; write errors stay in the sink. Nothing is exported that is not in the run.
 */
#ifndef STINT_TOOL_EXPORT_H
#define STINT_TOOL_EXPORT_H

#include "base/sink.h"
#include "read/run.h"

int export_chrome(struct sink *out, struct run *r);
int export_perfetto(struct sink *out, struct run *r);
int export_speedscope(struct sink *out, struct run *r);
int export_folded(struct sink *out, struct run *r);
int export_csv(struct sink *out, struct run *r);
int export_json(struct sink *out, struct run *r);
int export_prometheus(struct sink *out, struct run *r);
int export_html(struct sink *out, struct run *r);

#endif
