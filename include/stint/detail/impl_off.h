/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the macros call when they are off: declared so that arguments are type-checked,
 * never defined, never reached. Not for users.
 */
#ifndef STINT_IMPL_OFF_H
#define STINT_IMPL_OFF_H

#ifdef __cplusplus
extern "C" {
#endif

extern STINT_IMPL_ANYWHERE void stint_impl_off_scope(const char *name, int level, int role,
                                                     stint_set *set);
extern STINT_IMPL_ANYWHERE void stint_impl_off_scope_with(const char *name, const char *info,
                                                          int64_t threshold_us, stint_set *set);
extern STINT_IMPL_ANYWHERE void stint_impl_off_scope_since(const char *name, uint64_t start_us,
                                                           int64_t threshold_us, stint_set *set);
extern STINT_IMPL_ANYWHERE void stint_impl_off_scope_under(const char *name, stint_sender sender);
extern STINT_IMPL_ANYWHERE void stint_impl_off_handle_begin(stint_timer *handle, const char *name);
extern STINT_IMPL_ANYWHERE void stint_impl_off_handle_end(stint_timer *handle);
extern STINT_IMPL_ANYWHERE void stint_impl_off_scope_queue(const char *name, void *queue,
                                                           const char *info);
extern STINT_IMPL_ANYWHERE void stint_impl_off_scope_gpu(const char *name, const void *stream,
                                                         const char *info);
extern STINT_IMPL_ANYWHERE void stint_impl_off_count(uint64_t n);
extern STINT_IMPL_ANYWHERE void stint_impl_off_value(const char *name, double value);
extern STINT_IMPL_ANYWHERE void stint_impl_off_capture(const char *name, const char *info);
extern STINT_IMPL_ANYWHERE void stint_impl_off_profiler(const char *state, const char *option,
                                                        const char *sorted_key, const char *path);

#ifdef __cplusplus
} /* extern "C" */

STINT_IMPL_ANYWHERE void stint_impl_off_dynamic(const char *name, uint64_t start_us,
                                                int64_t threshold_us, stint_set *set);
STINT_IMPL_ANYWHERE void stint_impl_off_op(const char *type, const char *instance);
/* std::string, std::string_view and what looks like them. */
template <typename Text>
STINT_IMPL_ANYWHERE auto stint_impl_off_dynamic(const Text &name, uint64_t start_us,
                                                int64_t threshold_us, stint_set *set)
    -> decltype((void)name.data(), (void)name.size());
template <typename Text>
STINT_IMPL_ANYWHERE auto stint_impl_off_op(const char *type, const Text &instance)
    -> decltype((void)instance.data(), (void)instance.size());
#else
extern STINT_IMPL_ANYWHERE void stint_impl_off_dynamic(const char *name, uint64_t start_us,
                                                       int64_t threshold_us, stint_set *set);
extern STINT_IMPL_ANYWHERE void stint_impl_off_op(const char *type, const char *instance);
#endif

#endif
