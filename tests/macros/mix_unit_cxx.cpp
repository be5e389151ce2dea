// SPDX-License-Identifier: Apache-2.0
// The same in C++, with an object of StatSet: on and off are two classes of that name.
#include <stint/stint.hpp>

#include "mix_unit.c"

#define MIX_OBJECT_(name) name##_object
#define MIX_OBJECT(name) MIX_OBJECT_(name)

extern "C" int MIX_OBJECT(MIX_NAME)(int calls);
extern "C" int MIX_OBJECT(MIX_NAME)(int calls) {
    const StatSet set("mix.objects");
    for (int i = 0; i < calls; ++i) {
        REGISTER_TIMER(MIX_TEXT(MIX_NAME) ".object", -1, set);
    }
    stint_stat stat = stint_stat();
    return set.getStat(MIX_TEXT(MIX_NAME) ".object", &stat) == 0 ? static_cast<int>(stat.calls)
                                                                 : -1;
}
