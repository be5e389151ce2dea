/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "system/log.h"
#include "system/target.h"

struct export {
    target_putter *put;
    void *what;
};

static int put_export(struct sink *sink, void *of) {
    const struct export *e = of;
    progress_start("writing", sink);
    int failed = e->put(sink, e->what);
    progress_stop();
    return failed;
}

int export_target_write(const char *output, int how, target_putter *put, void *what,
                        const char *of) {
    static struct target target;
    struct export e = {put, what};
    const char *why;
    if (!target_put(&target, output, how, 0666, put_export, &e, &why)) {
        return COMMAND_GOOD;
    }
    if (why) {
        return command_refuse_output(output, why);
    }
    log_error("%.500s: not enough memory to export it", of);
    return COMMAND_FAILED;
}
