/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces: named, inline, without a name, inside each other. */
namespace outer {
namespace inner {
int get() {
    return 1;
}
} // namespace inner
inline namespace v2 {
int other() {
    return inner::get() + 1;
}
} // namespace v2
} // namespace outer
namespace {
int hidden() {
    return 3;
}
} // namespace
namespace a::b {
int nested() {
    return 4;
}
} // namespace a::b
extern "C" int corpus_namespaces() {
    using namespace outer;
    return other() + hidden() + a::b::nested();
}
