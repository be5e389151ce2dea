/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_names.h"

#include <stdlib.h>
#include <string.h>

#define DOMAINS 3 /* 0 is none */
#define MOST 2048 /* CUDA 13.0: 806 and 522 */
#define HOLES 16  /* in a row: there are no more */
#define SUFFIX 4  /* digits of a version at least: "cuMemAlloc_v2" is a name */

static struct {
    const char *name[MOST];
    uint8_t use[MOST];
    uint32_t end;
} domains[DOMAINS];

struct rule {
    const char *pattern; /* a * at its end: any end */
    unsigned use;        /* of the first rule that fits */
};

#define LAUNCH (CUPTI_USE_RECORD | CUPTI_USE_LAUNCH)
#define QUERY (CUPTI_USE_RECORD | CUPTI_USE_QUERY)

/* What moves data, runs kernels, gets memory or waits is to be known by its scope. Calls that are
 * made all the time and do nothing would be most of all records, and stint's own would be among
 * them: nothing is recorded of these. */
static const struct rule rules[] = {
    {"cudaLaunch*", LAUNCH},
    {"cudaMemcpy*", LAUNCH},
    {"cudaMemset*", LAUNCH},
    {"cudaMemPrefetch*", LAUNCH},
    {"cudaGraphLaunch*", LAUNCH},
    {"cudaMalloc*", LAUNCH},
    {"cudaFree*", LAUNCH},
    {"cudaHostAlloc", LAUNCH},
    {"cudaDeviceSynchronize", LAUNCH},
    {"cudaThreadSynchronize", LAUNCH},
    {"cudaStreamSynchronize*", LAUNCH},
    {"cudaEventSynchronize", LAUNCH},
    {"cudaStreamWaitEvent*", LAUNCH},
    {"cudaEventQuery", QUERY},
    {"cudaStreamQuery*", QUERY},
    {"cudaGetDevice", 0},
    {"cudaSetDevice", 0},
    {"cudaGetLastError", 0},
    {"cudaPeekAtLastError", 0},
    {"cudaGetErrorString", 0},
    {"cudaGetErrorName", 0},
    {"cudaDeviceGetAttribute", 0},
    {"cudaStreamIsCapturing*", 0},
    {"cudaStreamGetCaptureInfo*", 0},
    {"cudaThreadExchangeStreamCaptureMode", 0},
    {"cuLaunch*", LAUNCH},
    {"cuMemcpy*", LAUNCH},
    {"cuMemset*", LAUNCH},
    {"cuMemPrefetch*", LAUNCH},
    {"cuGraphLaunch*", LAUNCH},
    {"cuMemAlloc*", LAUNCH},
    {"cuMemHostAlloc*", LAUNCH},
    {"cuMemCreate", LAUNCH},
    {"cuMemRelease", LAUNCH},
    {"cuMemFree*", LAUNCH},
    {"cuArrayCreate*", LAUNCH},
    {"cuArrayDestroy", LAUNCH},
    {"cuArray3DCreate*", LAUNCH},
    {"cuMipmappedArray*", LAUNCH},
    {"cuCtxSynchronize*", LAUNCH},
    {"cuStreamSynchronize*", LAUNCH},
    {"cuEventSynchronize", LAUNCH},
    {"cuStreamWaitEvent*", LAUNCH},
    {"cuStreamQuery*", QUERY},
    {"cuEventQuery", CUPTI_USE_QUERY},
    {"cuEventRecord*", 0},
    {"cuEventElapsedTime*", 0},
    {"cuEventCreate", 0},
    {"cuEventDestroy*", 0},
    {"cuCtxGet*", 0},
    {"cuCtxSetCurrent", 0},
    {"cuCtxPushCurrent*", 0},
    {"cuCtxPopCurrent*", 0},
    {"cuStreamGetCtx*", 0},
    {"cuStreamIsCapturing*", 0},
    {"cuStreamGetCaptureInfo*", 0},
    {"cuThreadExchangeStreamCaptureMode", 0},
    {"cuDriverGetVersion", 0},
    {"cuDeviceGet*", 0},
    {"cuGetError*", 0},
    {"cuGetProcAddress*", 0},
    {"cuGetExportTable", 0},
    {"*", CUPTI_USE_RECORD},
};

static unsigned use_of(const char *name) {
    const struct rule *r = rules;
    for (;; ++r) {
        size_t n = strlen(r->pattern);
        int open = r->pattern[n - 1] == '*';
        if (open ? !strncmp(name, r->pattern, n - 1) : !strcmp(name, r->pattern)) {
            return r->use;
        }
    }
}

/* The name itself, or a copy without the version; without memory, the name as it is. */
static const char *plain(const char *name) {
    const char *v = strrchr(name, '_');
    size_t digits = v && v[1] == 'v' ? strspn(v + 2, "0123456789") : 0;
    if (digits < SUFFIX || v[2 + digits]) {
        return name;
    }
    char *copy = strndup(name, (size_t)(v - name));
    return copy ? copy : name;
}

static void read_domain(const struct cupti *c, int domain) {
    uint32_t holes = 0;
    for (uint32_t i = 1; i < MOST && holes < HOLES; ++i) {
        const char *name = NULL;
        if (c->cuptiGetCallbackName(domain, i, &name) || !name) {
            ++holes;
            continue;
        }
        holes = 0;
        domains[domain].name[i] = plain(name);
        domains[domain].use[i] = (uint8_t)use_of(domains[domain].name[i]);
        domains[domain].end = i + 1;
    }
}

void cupti_names_read(const struct cupti *c) {
    read_domain(c, CUPTI_CB_DOMAIN_DRIVER_API);
    read_domain(c, CUPTI_CB_DOMAIN_RUNTIME_API);
}

uint32_t cupti_names_end(int domain) {
    return domains[domain].end;
}

static int is_known(int domain, uint32_t cbid) {
    return domain > 0 && domain < DOMAINS && cbid < domains[domain].end;
}

const char *cupti_name(int domain, uint32_t cbid) {
    return is_known(domain, cbid) ? domains[domain].name[cbid] : NULL;
}

unsigned cupti_use(int domain, uint32_t cbid) {
    return is_known(domain, cbid) ? domains[domain].use[cbid] : 0;
}
