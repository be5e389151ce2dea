/* SPDX-License-Identifier: Apache-2.0 */
/* Binary PPM pictures (P6, 8 bits a channel). */
#ifndef SAMPLES_PPM_H
#define SAMPLES_PPM_H

/* 2^22 pixels: twice as large each way and as doubles, a channel stays at 128 MiB. */
#define PPM_MAX_PIXELS (1 << 22)

struct ppm {
    int width;
    int height;
    unsigned char *pixel; /* red, green, blue; rows from the top. From malloc */
};

/* NULL, or why not, as one line without its end. */
const char *ppm_read(const char *path, struct ppm *picture);
const char *ppm_write(const char *path, const struct ppm *picture);

#endif
