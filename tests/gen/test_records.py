# SPDX-License-Identifier: Apache-2.0
"""Tests the table of the numbers of records (gen/records.py): its outputs for C and Markdown, and
the message for each invalid section. The table and the expected outputs are in this file."""
import sys
import unittest

import support

sys.path.insert(0, support.GEN)
import records  # noqa: E402
import table  # noqa: E402

FIXED = """[line.hits]
at = hits
add = sum
doc = How often.

[line.first]
at = start
add = with
with = first_at
unit = ticks
of = calls
doc = The first one.

[line.first_at]
at = first_at
add = earliest
unit = moment
of = calls
doc = When it began.

[line.squares]
at = squares
add = squares
doc = Of the times.
"""
GROUPED = """
[used]
number = 4
group = memory
add = state
of = own
doc = In use.

[most]
number = 9
group = memory
add = most
of = own
doc = Most ever.

[sent]
number = 2
group = net
at = node.bytes
add = sum
unit = bytes
of = calls
doc = Sent.
"""
TABLE = FIXED + GROUPED


class Records(support.Case):
    def test_ids(self):
        self.assert_golden("record_ids.inc", TABLE, support.HEAD + r"""enum line_number {
    LINE_HITS,
    LINE_FIRST,
    LINE_FIRST_AT,
    LINE_SQUARES,
    LINE_NUMBERS
};
#define LINE_BY_NAME \
    union { \
        uint64_t number[LINE_NUMBERS]; \
        struct { \
            uint64_t hits; \
            uint64_t first; \
            uint64_t first_at; \
            double squares; \
        }; \
    }
#define LINE_SUMS_BY_NAME \
    union { \
        u128 number[LINE_NUMBERS]; \
        struct { \
            u128 hits; \
            u128 first; \
            u128 first_at; \
            _Alignas(u128) double squares; \
        }; \
    }
#define MEASURE_COUNT 10
enum measure {
    MEASURE_USED = 4,
    MEASURE_MOST = 9,
    MEASURE_SENT = 2,
};
#define MEASURE_GROUP_COUNT 2
enum measure_group {
    MEASURE_GROUP_MEMORY,
    MEASURE_GROUP_NET,
};
enum measure_group_size {
    MEASURES_OF_MEMORY = 2,
    MEASURES_OF_NET = 1,
};
#define MEASURE_BY_NAME \
    union { \
        uint64_t measure[MEASURE_COUNT]; \
        struct { \
            uint64_t before_sent[2]; \
            uint64_t sent; \
        }; \
    }
#define MEASURE_SUMS_BY_NAME \
    union { \
        u128 measure[MEASURE_COUNT]; \
        struct { \
            u128 before_sent[2]; \
            u128 sent; \
        }; \
    }
""")

    def test_groups(self):
        self.assert_golden("measure_table.inc", TABLE, support.HEAD + """\
static const uint8_t measure_places[MEASURE_COUNT] = {
    [4] = 0,
    [9] = 1,
    [2] = 0,
};
static const uint16_t measure_numbers[] = {
    4,
    9,
    2,
};
static const struct measure_list measure_lists[MEASURE_GROUP_COUNT] = {
    {&measure_numbers[0], 2, MEASURES_IN_BLOCK},
    {&measure_numbers[2], 1, MEASURES_IN_NODE},
};
""")
        self.assert_golden("measure_flags.inc", TABLE, support.HEAD + """\
#define ROW_MEMORY ((uint64_t)1 << (ROW_MEASURES + MEASURE_GROUP_MEMORY))
#define ROW_NET ((uint64_t)1 << (ROW_MEASURES + MEASURE_GROUP_NET))
""")

    def test_rules(self):
        self.assert_golden("record_table.inc", TABLE, support.HEAD + """\
static const struct number_rule line_numbers[LINE_NUMBERS] = {
    [LINE_HITS] = {NUMBER_SUM, UNIT_COUNT, OF_OWN, 0, CELL(hits)},
    [LINE_FIRST] = {NUMBER_WITH, UNIT_TICKS, OF_CALLS, LINE_FIRST_AT, CELL(start)},
    [LINE_FIRST_AT] = {NUMBER_EARLIEST, UNIT_MOMENT, OF_CALLS, 0, CELL(first_at)},
    [LINE_SQUARES] = {NUMBER_SQUARES, UNIT_COUNT, OF_OWN, 0, CELL(squares)},
};
const struct record record_line = {line_numbers, LINE_NUMBERS};
static const struct number_rule measure_rules[MEASURE_COUNT] = {
    [4] = {NUMBER_STATE, UNIT_COUNT, OF_OWN, 0, 0 * sizeof(uint64_t)},
    [9] = {NUMBER_MOST, UNIT_COUNT, OF_OWN, 0, 1 * sizeof(uint64_t)},
    [2] = {NUMBER_SUM, UNIT_BYTES, OF_CALLS, 0, offsetof(struct stint_impl_node, bytes)},
};
const struct record record_measures = {measure_rules, MEASURE_COUNT};
""".replace("CELL(", "offsetof(struct stint_impl_line_cell, "))

    def test_tables_of_structs(self):
        """The cells of docs/format.md are of the table; each number has a row there."""
        heads = "".join("`struct %s`\n| offset | size | field | what |\n%s\n\n" % struct for struct in (
            ("stint_impl_line_cell", "| 0 | 8 | hits | x |\n| 8 | 8 | start | |\n| 16 | 8 | first_at | |\n"
             "| 24 | 8 | squares | |\n| 32 | 8 | outer | its own |"),
            ("stint_impl_node", "| 0 | 8 | bytes | |"), ("arena_activity", ""),
            ("arena_rank_cell", ""), ("arena_gpu", "")))
        path = self.write("t.ini", TABLE)
        text = records.into_format(path, heads)
        for line in ("| 0 | 8 | hits | How often. |", "| 24 | 8 | squares | Of the times. |",
                     "| 32 | 8 | outer | its own |", "| 0 | 8 | bytes | Sent. |"):
            self.assertIn(line + "\n", text)
        self.assertEqual(records.into_format(path, text), text)
        with self.assertRaisesRegex(table.TableError, r"\[line.first\]: docs/format.md has no row of start "
                                    "in the table of struct stint_impl_line_cell"):
            records.into_format(path, heads.replace("| start |", "| begin |"))

    def refuse(self, source, said):
        self.assert_refused("record_ids.inc", source, said)

    def test_a_group_is_in_one_piece(self):
        again = "\n[more]\nnumber = 5\ngroup = memory\nadd = sum\nof = own\ndoc = More.\n"
        self.refuse(TABLE + again, "[more]: group memory began above and has ended")

    def test_numbers(self):
        for change, said in (
                (("number = 9", "number = 4"),
                 "[most]: number 4 is that of [used]; the next free one is 0"),
                (("number = 9\n", ""), "[most]: no key 'number'"),
                (("= 9", "= -9"), "[most]: number '-9' is not one from 0 to 4095")):
            self.refuse(TABLE.replace(*change), said)

    def test_a_reserved_number_is_not_used_again(self):
        reserved = "\n[reserved]\nnumbers = 0 %s\ndoc = Numbers that went.\n"
        self.refuse(TABLE + reserved % 9,
                    "[most]: number 9 is that of [reserved]; the next free one is 1")
        text = support.gen("record_ids.inc", self.write("t.ini", TABLE + reserved % 11)).stdout
        self.assertIn("#define MEASURE_COUNT 12\n", text)

    def test_rules_refused(self):
        rules = "sum|state|most|least|earliest|with|ticks|squares"
        for change, said in (
                (("add = most", "add = mean"), "[most]: unknown add 'mean' (%s)" % rules),
                (("unit = bytes", "unit = miles"), "[sent]: unknown unit 'miles' "
                 "(count|samples|ticks|moment|ns|bytes)"),
                (("of = calls\ndoc = Sent", "of = all\ndoc = Sent"),
                 "[sent]: unknown of 'all' (own|calls|gpu)"),
                (("at = node.bytes", "at = row.bytes"), "[sent]: unknown place 'row' (node|gpu)"),
                (("[line.hits]", "[page.hits]"),
                 "[page.hits]: unknown record 'page' (scope|activity|line|rank_cell)"),
                (("with = first_at\n", ""),
                 "[line.first]: add = with and the key 'with' come together"),
                (("with = first_at", "with = hits"),
                 "[line.first]: there is no number 'hits' after it")):
            self.refuse(TABLE.replace(*change), said)


if __name__ == "__main__":
    unittest.main()
