/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU timers, declared work, marks and values, on. Not for users.
 */
#ifndef STINT_IMPL_STREAM_H
#define STINT_IMPL_STREAM_H

#include "impl_scope.h"

#ifdef __cplusplus
extern "C" {
#endif

#define stint_impl_gpu_scope_begin STINT_IMPL_ABI_NAME(stint_impl_gpu_scope_begin)
#define stint_impl_queue_scope_begin STINT_IMPL_ABI_NAME(stint_impl_queue_scope_begin)
#define stint_impl_gpu_scope_end STINT_IMPL_ABI_NAME(stint_impl_gpu_scope_end)
#define stint_impl_add_bytes STINT_IMPL_ABI_NAME(stint_impl_add_bytes)
#define stint_impl_mark STINT_IMPL_ABI_NAME(stint_impl_mark)
#define stint_impl_value STINT_IMPL_ABI_NAME(stint_impl_value)
#define stint_impl_add_flops STINT_IMPL_ABI_NAME(stint_impl_add_flops)

extern void stint_impl_gpu_scope_begin(struct stint_impl_call *guard, struct stint_impl_site *site,
                                       void *stream);
/* The queue is a cl_command_queue. Ended by stint_impl_gpu_scope_end. */
extern void stint_impl_queue_scope_begin(struct stint_impl_call *guard,
                                         struct stint_impl_site *site, void *queue);
extern void stint_impl_gpu_scope_end(struct stint_impl_call *guard);
extern void stint_impl_add_bytes(uint64_t n);
extern void stint_impl_add_flops(uint64_t n);
extern void stint_impl_mark(struct stint_impl_site *site);
extern void stint_impl_value(struct stint_impl_site *site, double value);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Declared amounts: any other number is added, this one is counted as refused. */
#define STINT_IMPL_AMOUNT_BAD 0xffffffffffffffffu

/* Which stream NULL means is decided where the caller is compiled: nvcc's
 * --default-stream per-thread defines the macro. 1 and 2 are the handles CU_STREAM_LEGACY and
 * CU_STREAM_PER_THREAD of cuda.h. */
STINT_IMPL_INLINED void *stint_impl_stream(const void *stream) {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    return (void *)(stream ? (size_t)stream : (size_t)2);
#else
    return (void *)(stream ? (size_t)stream : (size_t)1);
#endif
}

STINT_IMPL_INLINED void stint_impl_gpu_end(struct stint_impl_call *guard) {
    if (guard->opened) {
        stint_impl_gpu_scope_end(guard);
    }
}

#ifdef __cplusplus
namespace stint_impl {

class scope_gpu {
  public:
    STINT_IMPL_UNSEEN scope_gpu(stint_impl_site *site, const void *stream, const char *info,
                                int64_t threshold_us)
        : call_{0, info, stint_impl_threshold(threshold_us)} {
        stint_impl_gpu_scope_begin(&call_, site, stint_impl_stream(stream));
    }
    STINT_IMPL_UNSEEN ~scope_gpu() { stint_impl_gpu_end(&call_); }
    scope_gpu(const scope_gpu &) = delete;
    scope_gpu &operator=(const scope_gpu &) = delete;

  private:
    stint_impl_call call_;
};

class scope_queue {
  public:
    STINT_IMPL_UNSEEN scope_queue(stint_impl_site *site, void *queue, const char *info,
                                  int64_t threshold_us)
        : call_{0, info, stint_impl_threshold(threshold_us)} {
        stint_impl_queue_scope_begin(&call_, site, queue);
    }
    STINT_IMPL_UNSEEN ~scope_queue() { stint_impl_gpu_end(&call_); }
    scope_queue(const scope_queue &) = delete;
    scope_queue &operator=(const scope_queue &) = delete;

  private:
    stint_impl_call call_;
};

} /* namespace stint_impl */
#endif

#endif
