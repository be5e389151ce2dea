/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stddef.h>

#include "env.h"
#include "filter.h"
#include "log.h"
#include "report_options.h"

struct stint_config config = {
    .enable = 1,
    .percentiles = 1,
    .unit = CONFIG_UNIT_AUTO,
    .memory = (uint64_t)64 << 20,
};

void config_read_environment(void) {
    env_read(&config);
    if (config.filter && filter_set(config.filter)) {
        log_line("STINT_FILTER=%s: expected +glob,-glob,… (at most 64); ignored", config.filter);
        config.filter = NULL;
    }
    struct report_options options;
    if (config.report && report_options_parse(config.report, &options)) {
        log_line("STINT_REPORT=%s: expected " REPORT_OPTIONS_FORM "; ignored", config.report);
        config.report = NULL;
    }
}
