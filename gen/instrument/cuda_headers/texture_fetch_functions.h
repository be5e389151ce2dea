/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces, for clang, the header that CUDA toolkits without texture references lack (cuda.py). */
#ifdef __CUDACC__
template <class... arguments>
__attribute__((device)) void __nv_tex_surf_handler(const char *name, arguments... rest);
#endif
