/* SPDX-License-Identifier: Apache-2.0 */
/* bilinear IN.ppm OUT.ppm: doubles a picture and says how far that is from the reference. */
#include "bilinear.h"
#include "ppm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>

/* One channel at a time, so that a large picture needs a third of the memory. */
struct channel {
    struct bilinear_shape shape;
    float *in;
    float *out;
    double *reference;
};

static size_t in_count(const struct channel *channel) {
    return (size_t)channel->shape.height * (size_t)channel->shape.width;
}

static size_t out_count(const struct channel *channel) {
    return (size_t)channel->shape.out_height * (size_t)channel->shape.out_width;
}

static int channel_make(struct channel *channel, const struct ppm *picture) {
    channel->shape = (struct bilinear_shape){1, picture->height, picture->width,
                                             2 * picture->height, 2 * picture->width};
    channel->in = malloc(in_count(channel) * sizeof *channel->in);
    channel->out = malloc(out_count(channel) * sizeof *channel->out);
    channel->reference = malloc(out_count(channel) * sizeof *channel->reference);
    return channel->in && channel->out && channel->reference ? 0 : -1;
}

static void channel_free(struct channel *channel) {
    free(channel->in);
    free(channel->out);
    free(channel->reference);
}

static void unpack(const struct channel *channel, const unsigned char *pixel) {
    STINT_TIMER_ROLE("unpack", STINT_ROLE_COPY);
    for (size_t i = 0; i < in_count(channel); ++i) {
        channel->in[i] = (float)pixel[3 * i];
    }
}

static void interpolate(const struct channel *channel) {
    STINT_TIMER_ROLE("interpolate", STINT_ROLE_COMPUTE);
    bilinear_forward(&channel->shape, channel->in, channel->out);
}

static void run_reference(const struct channel *channel) {
    STINT_TIMER_ROLE("reference", STINT_ROLE_COMPUTE);
    bilinear_reference_forward(&channel->shape, channel->in, channel->reference);
}

/* Rounds to bytes and returns the squared error against the rounded reference. */
static double pack(const struct channel *channel, unsigned char *pixel) {
    STINT_TIMER_ROLE("pack", STINT_ROLE_COPY);
    double error = 0;
    for (size_t i = 0; i < out_count(channel); ++i) {
        const long value = lroundf(channel->out[i]);
        const double apart = (double)value - (double)lround(channel->reference[i]);
        error += apart * apart;
        pixel[3 * i] = (unsigned char)value;
    }
    return error;
}

/* NULL or why not. *mean_error: squared, over all bytes of the result. */
static const char *doubled(const struct ppm *picture, struct ppm *result, double *mean_error) {
    STINT_TIMER("double");
    struct channel channel;
    const char *error = "out of memory";
    result->width = 2 * picture->width;
    result->height = 2 * picture->height;
    result->pixel = malloc((size_t)result->width * (size_t)result->height * 3);
    *mean_error = 0;
    if (channel_make(&channel, picture) == 0 && result->pixel != NULL) {
        for (int c = 0; c < 3; ++c) {
            unpack(&channel, picture->pixel + c);
            interpolate(&channel);
            run_reference(&channel);
            *mean_error += pack(&channel, result->pixel + c);
        }
        *mean_error /= (double)out_count(&channel) * 3;
        error = NULL;
    }
    channel_free(&channel);
    return error;
}

static const char *read_picture(const char *path, struct ppm *picture) {
    STINT_TIMER_INFO("read", path);
    return ppm_read(path, picture);
}

static const char *write_picture(const char *path, const struct ppm *picture) {
    STINT_TIMER_INFO("write", path);
    return ppm_write(path, picture);
}

static int complain(const char *path, const char *error) {
    fprintf(stderr, "bilinear: %s: %s\n", path, error);
    return 1;
}

static int run(const char *from, const char *to, struct ppm *picture, struct ppm *result) {
    double mean_error;
    const char *error = read_picture(from, picture);
    if (error == NULL) {
        error = doubled(picture, result, &mean_error);
    }
    if (error != NULL) {
        return complain(from, error);
    }
    error = write_picture(to, result);
    if (error != NULL) {
        return complain(to, error);
    }
    printf("%dx%d -> %dx%d, against the reference: ", picture->width, picture->height,
           result->width, result->height);
    if (mean_error == 0) {
        puts("identical");
    } else {
        printf("PSNR %.2f dB\n", 10 * log10(255.0 * 255.0 / mean_error));
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: bilinear IN.ppm OUT.ppm\n", stderr);
        return 2;
    }
    struct ppm picture = {0};
    struct ppm result = {0};
    const int status = run(argv[1], argv[2], &picture, &result);
    free(picture.pixel);
    free(result.pixel);
    if (status == 0) {
        fflush(stdout); /* the report goes to stderr: keep the order */
        printAllStatus();
    }
    return status;
}
