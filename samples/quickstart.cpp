/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdio>
#include <stint/stint.hpp>
#include <string>
#include <vector>

static const stint::StatSet shops("shops");

static double serve(const std::string &shop, int customers) {
    STINT_TIMER_DYNAMIC("serve " + shop, -1, shops); /* a name made at run time, in a set */
    std::vector<double> bill;
    for (int i = 0; i < customers; ++i) {
        bill.insert(bill.begin(), 1.0 / (i + 1));
    }
    double sum = 0;
    for (double amount : bill) {
        sum += amount;
    }
    return sum;
}

int main() {
    double sum = 0;
    for (int day = 0; day < 7; ++day) {
        STINT_TIMER("day");
        sum += serve("bakery", 2000) + serve("bank", 500);
    }
    std::printf("%.6f\n", sum);
    globalStat.printAllStatus();
    return shops.printAllStatus();
}
