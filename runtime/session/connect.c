/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects the layers when the library is loaded: which back ends this build has, and what lower
 * layers call in higher ones. Nothing else in the library names a back end.
 */
#include <stddef.h>

#include "base/api.h"
#include "capture/capture.h"
#include "capture/tracer.h"
#include "counters/counters.h"
#include "cupti/cupti_session.h"
#include "emit/emit.h"
#include "gpu/gpu_backends.h"
#include "process.h"
#include "record/cost.h"
#ifdef STINT_HAVE_CUDART
#define EVENT_BACKEND &gpu_cudart
#else
#define EVENT_BACKEND &gpu_driver
#endif
#ifdef STINT_HAVE_NVTX
#define EMIT_BACKEND &emit_nvtx
#else
#define EMIT_BACKEND NULL
#endif

const char session_is_linked; /* see base/api.h */

#ifdef STINT_STATIC
/* Brings exit_report.o of libstint.a, whose constructor and destructor nothing else refers to. */
__attribute__((used)) static int (*const exit_report)(const char *view) = stint_report_at_exit;
#endif

/* In the order in which they are tried. */
static const struct gpu_backend *const gpu_backends[] = {EVENT_BACKEND, &gpu_opencl, NULL};
static const struct tracer_ops *const tracers[] = {&cupti_tracer, NULL};

/* Before the constructors of the program and of this library, which may open scopes. */
__attribute__((constructor(101))) static void connect_layers(void) {
    process_set_hooks();
    capture_set_hooks();
    gpu_set_list(gpu_backends);
    emit_set_backend(EMIT_BACKEND);
    probe_set_ops(&counters_probe);
    tracer_set_list(tracers);
}
