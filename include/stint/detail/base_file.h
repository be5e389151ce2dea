/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For instrumented copies of sources: __BASE_FILE__ is the original, as __FILE__ is by #line. The
 * copy defines STINT_IMPL_BASE_FILE. Compilers accept the redefinition without a warning in a
 * system header.
 */
#if defined(__GNUC__)
#pragma GCC system_header
#endif
#undef __BASE_FILE__
#define __BASE_FILE__ STINT_IMPL_BASE_FILE
