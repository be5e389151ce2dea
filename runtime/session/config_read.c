/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"

#include <stddef.h>
#include <string.h>

#include "base/arithmetic.h"
#include "emit/emit.h"
#include "report/report_options.h"
#include "system/config.h"
#include "system/filter.h"
#include "system/log.h"

#define CONFIG_MAX_MEMORY ((uint64_t)4095 << 20)
void config_read_environment(void) {
    uint64_t wanted = config.memory;
    config.memory = 0;
    env_read(&config);
    if (!config.memory) { /* not set */
        config.memory = u64_min(wanted, CONFIG_MAX_MEMORY - config.trace.bytes);
    }
    if (config.nvtx && !emit_built()) {
        log_warning("STINT_NVTX=1: this build has no NVTX (its headers were not there); ignored");
        config.nvtx = 0;
    }
    if (config.filter && filter_set(config.filter)) {
        log_warning("STINT_FILTER=%s: expected +glob,-glob,... (at most 64); ignored",
                    config.filter);
        config.filter = NULL;
    }
    if (config.trace.bytes > CONFIG_MAX_MEMORY - config.memory) {
        config.trace.bytes = CONFIG_MAX_MEMORY - config.memory;
        log_warning("STINT_MEMORY and STINT_TRACE: together at most 4095M; the trace gets %lluM",
                    (unsigned long long)(config.trace.bytes >> 20));
    }
    struct report_options options;
    if (config.report && strcmp(config.report, REPORT_NONE) != 0 &&
        report_options_parse(config.report, &options)) {
        log_warning("STINT_REPORT=%s: expected " REPORT_NONE_OR REPORT_OPTIONS_FORM "; ignored",
                    config.report);
        config.report = NULL;
    }
}
