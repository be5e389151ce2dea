/* SPDX-License-Identifier: Apache-2.0 */
#include <tracy/Tracy.hpp>

static void simulate(int n) {
    ZoneScoped;
    for (volatile int i = 0; i < n; i = i + 1) {
    }
}

static void draw(int n) {
    ZoneScopedN("draw");
    TracyPlot("triangles", n);
    for (volatile int i = 0; i < n; i = i + 1) {
    }
}

int main() {
    for (int frame = 0; frame < 100; ++frame) {
        simulate(20000);
        draw(10000);
        FrameMark;
    }
    return 0;
}
