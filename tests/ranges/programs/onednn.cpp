// SPDX-License-Identifier: Apache-2.0
// Some multiplications of matrices that are large enough for several threads.
#include <oneapi/dnnl/dnnl.hpp>

int main() {
    using namespace dnnl;
    engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    memory::desc shape({512, 512}, memory::data_type::f32, memory::format_tag::ab);
    memory a(shape, cpu), b(shape, cpu), c(shape, cpu);
    matmul multiply(matmul::primitive_desc(matmul::desc(shape, shape, shape), cpu));
    for (int i = 0; i < 20; ++i) {
        multiply.execute(queue, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    }
    queue.wait();
    return 0;
}
