/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdio.h>

static int print_row(void *data, int columns, char **values, char **names) {
    (void)data;
    printf("%s %s of %d\n", names[0], values[0], columns);
    return 0;
}

static void square(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int(context, sqlite3_value_int(values[0]) * sqlite3_value_int(values[0]));
}

int main(void) {
    sqlite3 *db;
    sqlite3_stmt *insert;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
        return 1;
    }
    sqlite3_create_function(db, "square", 1, SQLITE_UTF8, NULL, square, NULL, NULL);
    sqlite3_exec(db, "create table t(n)", NULL, NULL, NULL);
    sqlite3_prepare_v2(db, "insert into t values(?)", -1, &insert, NULL);
    for (int i = 1; i <= 10; ++i) {
        sqlite3_bind_int(insert, 1, i);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    int failed = sqlite3_exec(db, "select sum(square(n)) as s from t", print_row, NULL, NULL);
    return sqlite3_close(db) != SQLITE_OK || failed;
}
