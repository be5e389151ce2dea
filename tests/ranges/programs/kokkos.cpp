// SPDX-License-Identifier: Apache-2.0
// Each kind of kernel, a region, a section twice, a fence, a copy of 8000 bytes, two arrays of
// them.
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>

int main(int argc, char **argv) {
    Kokkos::initialize(argc, argv);
    double sum = 0;
    {
        Kokkos::View<double *> a("a", 1000), b("b", 1000);
        Kokkos::Profiling::pushRegion("region");
        for (int i = 0; i < 10; ++i) {
            Kokkos::parallel_for(
                "fill", 1000, KOKKOS_LAMBDA(int k) { a(k) = k; });
        }
        Kokkos::parallel_reduce(
            "sum", 1000, KOKKOS_LAMBDA(int k, double &to) { to += a(k); }, sum);
        Kokkos::parallel_scan(
            "scan", 1000, KOKKOS_LAMBDA(int k, double &to, bool last) {
                to += a(k);
                if (last) {
                    b(k) = to;
                }
            });
        Kokkos::deep_copy(b, a);
        Kokkos::fence();
        Kokkos::Profiling::ProfilingSection section("section");
        section.start();
        section.stop();
        section.start();
        section.stop();
        Kokkos::Profiling::popRegion();
    }
    Kokkos::finalize();
    return sum != 499500;
}
