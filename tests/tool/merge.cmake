# SPDX-License-Identifier: Apache-2.0
#
# stint merge on run files of the tool's own test program (tool.cmake).

stint_test_cases(merge. merge_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
    CASES one sums large_sums sampled senders threads rows gpu trace other_clock added_up
    order size memory memory_of_ranks kept kept_of_programs kept_limit kept_in_part kept_order kept_size
    wide_buckets full_bucket full_bucket_of_two bucket_bytes bad_pairs
    format_4 folder odd_ranks starts last_start helpers killed_rank
    command_line refuses usage hostile hostile_tables)
