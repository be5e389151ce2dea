/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the macros call when they are off: declared so that arguments are type-checked, never
 * defined, never reached. Not for users.
 */
#ifndef STINT_IMPL_OFF_H
#define STINT_IMPL_OFF_H

#ifdef __cplusplus
extern "C" {
#endif

extern void stint_impl_off_scope(const char *name, int level, int role, stint_set *set);
extern void stint_impl_off_scope_with(const char *name, const char *info, long long threshold_us,
                                      stint_set *set);
extern void stint_impl_off_scope_since(const char *name, uint64_t start_us, long long threshold_us,
                                       stint_set *set);
extern void stint_impl_off_handle_begin(stint_timer *handle, const char *name);
extern void stint_impl_off_handle_end(stint_timer *handle);
extern void stint_impl_off_capture(const char *name, const char *info);

#ifdef __cplusplus
} /* extern "C" */

void stint_impl_off_dynamic(const char *name, uint64_t start_us, long long threshold_us,
                            stint_set *set);
void stint_impl_off_op(const char *type, const char *instance);
/* std::string, std::string_view and what looks like them. */
template <typename Text>
auto stint_impl_off_dynamic(const Text &name, uint64_t start_us, long long threshold_us,
                            stint_set *set) -> decltype((void)name.data(), (void)name.size());
template <typename Text>
auto stint_impl_off_op(const char *type, const Text &instance)
    -> decltype((void)instance.data(), (void)instance.size());
#else
extern void stint_impl_off_dynamic(const char *name, uint64_t start_us, long long threshold_us,
                                   stint_set *set);
extern void stint_impl_off_op(const char *type, const char *instance);
#endif

#endif
