/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of a run in formats of other programs. Each function returns 0, or -1 if there was not
 * enough memory; write errors are kept in the sink. Only data of the run is exported.
 *
 * The formats are those of gen/formats.ini; export/tool/formats.h lists all of them.
 */
#ifndef STINT_EXPORT_H
#define STINT_EXPORT_H

#include "base/sink.h"
#include "model/run.h"

#include "export_formats.inc"

#endif
