// SPDX-License-Identifier: Apache-2.0
// One thread per output point, in blocks of 1024, as in PaddlePaddle. Backward adds with atomics,
// because neighbouring output points give to the same input points.
#include "bilinear_gpu.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <stint/stint.h>

namespace {

const unsigned BLOCK = 1024;

// The place of an output index on one axis of the input; bilinear.c has the same.
struct tap {
    int low;
    int step;
    float high_weight;
};

__device__ tap tap_of(int index, int in, int out) {
    const float position =
        static_cast<float>(in) / static_cast<float>(out) * static_cast<float>(index);
    tap t;
    t.low = static_cast<int>(position);
    t.step = t.low < in - 1 ? 1 : 0;
    t.high_weight = position - static_cast<float>(t.low);
    return t;
}

// The four points of an input plane that an output point reads from, or adds to.
struct corner {
    size_t first; // index of the upper left tap in the whole input
    tap v;
    tap h;
};

__device__ corner corner_of(const bilinear_shape &shape, size_t point) {
    const size_t out_plane = static_cast<size_t>(shape.out_height) * shape.out_width;
    const size_t in_plane = static_cast<size_t>(shape.height) * shape.width;
    const int y = static_cast<int>(point % out_plane / shape.out_width);
    const int x = static_cast<int>(point % shape.out_width);
    corner c;
    c.v = tap_of(y, shape.height, shape.out_height);
    c.h = tap_of(x, shape.width, shape.out_width);
    c.first = point / out_plane * in_plane + static_cast<size_t>(c.v.low) * shape.width + c.h.low;
    return c;
}

__global__ void forward_kernel(bilinear_shape shape, size_t count, const float *in, float *out) {
    const size_t point = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (point < count) {
        const corner c = corner_of(shape, point);
        const float *upper = in + c.first;
        const float *lower = upper + c.v.step * shape.width;
        const float top = (1 - c.h.high_weight) * upper[0] + c.h.high_weight * upper[c.h.step];
        const float bottom = (1 - c.h.high_weight) * lower[0] + c.h.high_weight * lower[c.h.step];
        out[point] = (1 - c.v.high_weight) * top + c.v.high_weight * bottom;
    }
}

__global__ void backward_kernel(bilinear_shape shape, size_t count, const float *out_grad,
                                float *in_grad) {
    const size_t point = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (point < count) {
        const corner c = corner_of(shape, point);
        float *upper = in_grad + c.first;
        float *lower = upper + c.v.step * shape.width;
        const float top = (1 - c.v.high_weight) * out_grad[point];
        const float bottom = c.v.high_weight * out_grad[point];
        atomicAdd(upper, (1 - c.h.high_weight) * top);
        atomicAdd(upper + c.h.step, c.h.high_weight * top);
        atomicAdd(lower, (1 - c.h.high_weight) * bottom);
        atomicAdd(lower + c.h.step, c.h.high_weight * bottom);
    }
}

bool good(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        std::printf("GPU: %s: %s\n", what, cudaGetErrorString(code));
    }
    return code == cudaSuccess;
}

// The input's and the output's memory on the GPU, gradients or not.
struct buffers {
    float *in;
    float *out;
    size_t in_count;
    size_t out_count;

    explicit buffers(const bilinear_shape &shape)
        : in(nullptr), out(nullptr),
          in_count(static_cast<size_t>(shape.planes) * shape.height * shape.width),
          out_count(static_cast<size_t>(shape.planes) * shape.out_height * shape.out_width) {}
    ~buffers() {
        cudaFree(in);
        cudaFree(out);
    }
    buffers(const buffers &) = delete;
    buffers &operator=(const buffers &) = delete;

    bool allocate() {
        REGISTER_TIMER("GPU allocate");
        return good(cudaMalloc(&in, in_count * sizeof *in), "allocating") &&
               good(cudaMalloc(&out, out_count * sizeof *out), "allocating");
    }
    unsigned blocks() const { return static_cast<unsigned>((out_count + BLOCK - 1) / BLOCK); }
    // Each value of the smaller side and of the larger one is moved once, caches permitting.
    uint64_t bytes() const { return (in_count + out_count) * sizeof(float); }
};

bool copy_to(float *gpu, const float *host, size_t count) {
    REGISTER_GPU_TIMER("copy to GPU", nullptr);
    TIMER_BYTES(count * sizeof *host);
    return good(cudaMemcpy(gpu, host, count * sizeof *host, cudaMemcpyHostToDevice), "copying in");
}

bool copy_from(float *host, const float *gpu, size_t count) {
    REGISTER_GPU_TIMER("copy from GPU", nullptr);
    TIMER_BYTES(count * sizeof *host);
    return good(cudaMemcpy(host, gpu, count * sizeof *host, cudaMemcpyDeviceToHost),
                "copying back");
}

} // namespace

const char *bilinear_gpu_missing(void) {
    REGISTER_TIMER("GPU start");
    int devices = 0;
    cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaSuccess) {
        code = devices > 0 ? cudaFree(nullptr) : cudaErrorNoDevice; // makes the context
    }
    return code == cudaSuccess ? nullptr : cudaGetErrorString(code);
}

int bilinear_gpu_forward(const bilinear_shape *shape, const float *in, float *out) {
    buffers b(*shape);
    if (!b.allocate() || !copy_to(b.in, in, b.in_count)) {
        return -1;
    }
    {
        REGISTER_GPU_TIMER("GPU forward", nullptr);
        TIMER_BYTES(b.bytes());
        TIMER_FLOPS(11 * b.out_count); // three interpolations of a*(1-w) + b*w, weights aside
        forward_kernel<<<b.blocks(), BLOCK>>>(*shape, b.out_count, b.in, b.out);
    }
    return good(cudaGetLastError(), "forward") && copy_from(out, b.out, b.out_count) ? 0 : -1;
}

int bilinear_gpu_backward(const bilinear_shape *shape, const float *out_grad, float *in_grad) {
    buffers b(*shape);
    if (!b.allocate() || !copy_to(b.out, out_grad, b.out_count) ||
        !copy_to(b.in, in_grad, b.in_count)) {
        return -1;
    }
    {
        REGISTER_GPU_TIMER("GPU backward", nullptr);
        TIMER_BYTES(b.bytes() + b.in_count * sizeof(float)); // gradients are read and written
        TIMER_FLOPS(10 * b.out_count);                       // six products, four sums
        backward_kernel<<<b.blocks(), BLOCK>>>(*shape, b.out_count, b.out, b.in);
    }
    return good(cudaGetLastError(), "backward") && copy_from(in_grad, b.in, b.in_count) ? 0 : -1;
}
