/* SPDX-License-Identifier: Apache-2.0 */
/* Code before that of places.c: moves it by PLACES_SHIFT times 8 bytes. */
extern char places_shift;
__asm__(".text\nplaces_shift: .fill 8 * " PLACES_SHIFT ", 1, 0x90\n");
