/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of reports (model/columns.h) in the csv and json exports, by the keys of exports.
 */
#ifndef STINT_EXPORT_COLUMNS_H
#define STINT_EXPORT_COLUMNS_H

#include "base/sink.h"
#include "export_names.h"
#include "model/columns.h"

#define EXPORT_FIRST_COLUMN 1u   /* the one before is the name */
#define EXPORT_GPU_PREFIX "gpu_" /* of the columns in json's object "gpu" */

int export_column_has(const struct report_column *c, const struct stint_row *r);
/* The columns that have a value in the row, as members of a JSON object: those of the GPU without
 * their prefix, or all others. `before` is written before the first one, a comma before each
 * other. */
void export_columns_put(struct sink *out, const struct stint_row *r, int gpu, const char *before);
/* The rows of the table in the order of their totals, the largest first. NULL if there is not
 * enough memory. */
uint32_t *export_rows(struct rows *out, struct snapshot *s, int each_thread);
struct export_name export_row_name(const struct stint_row *r);
const char *export_set(const struct snapshot *s, const struct stint_row *r);

/* A text of csv, quoted. */
void export_csv_cell(struct sink *out, struct export_name text);

struct run;
/* export_json_ranks of viewers, which only the tool has; NULL: it is not the tool. */
typedef int export_json_ranks_function(struct sink *out, struct snapshot *s, uint32_t most);
/* The two formats that do not need a run file: `maybe` is the file's run or NULL. 0, or -1 if there
 * is not enough memory. */
int export_csv_snapshot(struct sink *out, struct snapshot *s, const struct run *maybe,
                        int each_thread);
int export_json_snapshot(struct sink *out, struct snapshot *s, const struct run *maybe,
                         export_json_ranks_function *put_ranks);

#endif
