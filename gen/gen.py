# SPDX-License-Identifier: Apache-2.0
"""Turns one of the tables beside this script into one of the files made of it.

    python3 gen/gen.py OUTPUT TABLE [-o FILE]

OUTPUT names the form (report_columns.inc, environment.md, ...); without -o it is printed. A pure
function of the table: the same input gives the same bytes on every machine. A file that already
holds these bytes is left alone, so that whatever depends on it is not rebuilt.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True  # the source tree may be read-only, and stays clean either way

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "instrument"))

import columns
import completion
import counters
import cupti
import driver
import env
import formats
import gpu_peak
import html
import interfaces
import kernel_names
import records
import options
from output_file import write_if_changed
import status
import table
import units
import views
import words

OUTPUTS = {
    "report_columns.inc": columns.render_c,
    "report_sorts.inc": columns.render_sorts,
    "row_percentiles.inc": columns.render_percentiles,
    "metric_columns.inc": columns.render_metrics,
    "history_columns.inc": columns.render_history,
    "diff_numbers.inc": columns.render_diff,
    "prometheus_columns.inc": columns.render_prometheus,
    "stat_members.inc": columns.render_stat,
    "columns.md": columns.render_markdown,
    "counter_ids.inc": counters.render_ids,
    "counter_table.inc": counters.render_c,
    "cupti_check.c": cupti.render_check,
    "cupti_double.inc": cupti.render_double,
    "cupti_table.inc": cupti.render_table,
    "cupti_types.inc": cupti.render_types,
    "driver_table.inc": driver.render_table,
    "driver_calls.inc": driver.render_calls,
    "driver_check.c": driver.render_check,
    "driver_double.inc": driver.render_double,
    "env_table.inc": env.render_c,
    "env_help.inc": env.render_help,
    "env_tracer_value.inc": env.render_tracer,
    "environment.md": env.render_markdown,
    "cuda_codes.inc": driver.render_codes,
    "export_formats.inc": formats.render_export,
    "format_names.txt": formats.render_names,
    "formats_table.inc": formats.render_c,
    "program_formats.inc": formats.render_program,
    "tool_formats.inc": formats.render_tool,
    "gpu_peak_table.inc": gpu_peak.render_c,
    "kernel_names_table.inc": kernel_names.render_c,
    "measure_flags.inc": records.render_flags,
    "record_ids.inc": records.render_ids,
    "measure_table.inc": records.render_measures,
    "record_table.inc": records.render_rules,
    "option_ids.inc": options.render_ids,
    "option_table.inc": options.render_c,
    "options.md": options.render_markdown,
    "stint.1": options.render_man,
    "stint.bash": completion.render_bash,
    "stint.fish": completion.render_fish,
    "_stint": completion.render_zsh,
    "range_interfaces.inc": interfaces.render_c,
    "report.html": html.render_page,
    "report_html.inc": html.render_c,
    "status_ids.inc": status.render_ids,
    "status_table.inc": status.render_c,
    "report_view_ids.inc": views.render_ids,
    "report_view_names.inc": views.render_names,
    "report_view_table.inc": views.render_c,
    "tool_views.inc": views.render_tool,
    "unit_ids.inc": units.render_ids,
    "unit_table.inc": units.render_c,
    "view_help.inc": words.render_view_help,
    "words.inc": words.render_c,
}


def main(argv):
    parser = argparse.ArgumentParser(prog="gen.py", description="Generates a file from a table.")
    parser.add_argument("output", choices=list(OUTPUTS), help="what to generate")
    parser.add_argument("table", help="the .ini file to read")
    parser.add_argument("-o", metavar="FILE", help="where to write it (default: standard output)")
    args = parser.parse_args(argv)
    try:
        data = OUTPUTS[args.output](args.table).encode("ascii")
        if args.o:
            write_if_changed(args.o, data)
        else:
            sys.stdout.buffer.write(data)
    except table.TableError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print("%s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
