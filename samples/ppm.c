/* SPDX-License-Identifier: Apache-2.0 */
#include "ppm.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next number of a header, after white space and #-comments; -1 if there is none. */
static int header_number(FILE *file) {
    int c = getc(file);
    while (isspace(c) || c == '#') {
        if (c == '#') {
            do {
                c = getc(file);
            } while (c != '\n' && c != EOF);
        }
        c = getc(file);
    }
    int number = isdigit(c) ? 0 : -1;
    while (isdigit(c)) {
        if (number <= PPM_MAX_PIXELS) {
            number = number * 10 + (c - '0');
        }
        c = getc(file);
    }
    ungetc(c, file);
    return number;
}

static const char *read_header(FILE *file, struct ppm *picture) {
    if (getc(file) != 'P' || getc(file) != '6') {
        return ferror(file) ? strerror(errno) : "not a binary PPM (no P6 at its start)";
    }
    picture->width = header_number(file);
    picture->height = header_number(file);
    const int maximum = header_number(file);
    if (picture->width < 1 || picture->height < 1 || maximum < 1 || !isspace(getc(file))) {
        return "broken PPM header";
    }
    if (maximum != 255) {
        return "not 8 bits a channel (the largest value must be 255)";
    }
    if (picture->height > PPM_MAX_PIXELS / picture->width) {
        return "too large (4194304 pixels at most)";
    }
    return NULL;
}

const char *ppm_read(const char *path, struct ppm *picture) {
    picture->pixel = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return strerror(errno);
    }
    const char *error = read_header(file, picture);
    if (error == NULL) {
        const size_t size = (size_t)picture->width * (size_t)picture->height * 3;
        picture->pixel = malloc(size);
        if (picture->pixel == NULL) {
            error = "out of memory";
        } else if (fread(picture->pixel, 1, size, file) != size) {
            error = ferror(file) ? strerror(errno) : "cut short";
        }
    }
    if (error != NULL) {
        free(picture->pixel);
        picture->pixel = NULL;
    }
    fclose(file);
    return error;
}

const char *ppm_write(const char *path, const struct ppm *picture) {
    const size_t size = (size_t)picture->width * (size_t)picture->height * 3;
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return strerror(errno);
    }
    const char *error = NULL;
    if (fprintf(file, "P6\n%d %d\n255\n", picture->width, picture->height) < 0 ||
        fwrite(picture->pixel, 1, size, file) != size) {
        error = strerror(errno);
    }
    if (fclose(file) != 0 && error == NULL) {
        error = strerror(errno);
    }
    return error;
}
