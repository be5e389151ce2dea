/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include "recorded.h"

TEST(status, every_one_has_its_texts) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        const struct status_text *t = status_text(i);
        if (CHECK(t && t->key && t->text && t->label)) {
            CHECK(*t->key && *t->text && *t->label);
            CHECK(!strchr(t->text, '\n') && strlen(t->text) < 100);
            CHECK(strlen(t->label) <= 20);
            CHECK(*t->text != ' ' && t->text[strlen(t->text) - 1] != '.');
        }
    }
    CHECK(status_text(STINT_STATUS_COUNT) == NULL);
    CHECK(status_text(UINT32_MAX) == NULL);
}

TEST(status, numbers_and_texts_go_together) {
    CHECK_STR_EQ(status_text(STINT_STATUS_TOO_DEEP)->key, "too_deep");
    CHECK_STR_EQ(status_text(STINT_STATUS_STRAY_END)->key, "stray_end");
    CHECK_STR_EQ(status_text(STINT_STATUS_CAPTURE_UNBALANCED)->key, "capture_unbalanced");
}
