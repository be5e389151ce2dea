# SPDX-License-Identifier: Apache-2.0
"""Code that must not compile. Beside each case is a form that compiles. They differ in one place
only, so that a failure has that reason and no other."""
import dataclasses

LITERAL = "STINT_name_must_be_a_literal_else_use_STINT_TIMER_DYNAMIC"
WHOLE = "STINT_level_and_role_are_constants_after_the_name"
TYPE = (r"incompatible|cannot convert|could not convert|cannot initialize|no matching|invalid conversion"
        r"|no known conversion|invalid operands|pointer type .* was expected|without a cast"
        r"|request for member|is not a structure or union|not a class"
        r"|STINT_must_be_a_text_with_NUL_else_use_stint_text")
MANY = "STINT_too_many_arguments"
NO_NOTE = "STINT_TIMER_INFO_needs_a_name_and_a_note"
NO_START = "STINT_TIMER_SINCE_needs_a_name_and_a_start"
FEW = r"too few|requires|expected"
BOTH = ("on", "off")

PROLOGUE = """#include <stint/stint.h>
extern const char *text(void);
void FUNCTION(const char *name, char *buffer, int n, double real, stint_set *set, uint64_t start);
void FUNCTION(const char *name, char *buffer, int n, double real, stint_set *set, uint64_t start) {
    stint_timer h = {{0, 0}};
    (void)name, (void)buffer, (void)n, (void)real, (void)set, (void)start, (void)h;
    """


@dataclasses.dataclass
class Case:
    body: str  # @ is replaced by the bad or the good piece
    bad: str
    good: str
    says: str
    switches: tuple = BOTH
    only_cxx: bool = False

    def source(self, piece, function="function"):
        return PROLOGUE.replace("FUNCTION", function) + self.body.replace("@", piece) + "\n}\n"


CASES = []

# Names that are not literals.
for body in ("REGISTER_TIMER(@);", "REGISTER_TIMER(@, 1000);", "REGISTER_TIMER(@, -1, set);",
             "REGISTER_TIMER_INFO(@, name);", "REGISTER_TIMER_SET(@, start);",
             "REGISTER_TIMER_SET(@, start, 1000);", "REGISTER_TIMER_SET(@, start, -1, set);",
             "REGISTER_TIMER_DETAIL(@, 1);", "REGISTER_TIMER_ROLE(@, STINT_ROLE_OP);",
             "REGISTER_TIMER_OP(@, name);", "REGISTER_TIMER_UNDER(@, stint_sender_here());", "TIMER_BEGIN(h, @);",
             "TIMER_MARK(@);", "TIMER_VALUE(@, n);", "REGISTER_GPU_TIMER(@, name);", "REGISTER_GPU_TIMER_INFO(@, name, name);",
             "REGISTER_CL_TIMER(@, &h);", "REGISTER_CL_TIMER_INFO(@, &h, name);"):
    CASES.append(Case(body, "name", '"literal"', LITERAL))
for bad in ("buffer", "text()", "n", "real", "(name)", "*name", 'n ? "a" : "b"', '"a" + n'):
    CASES.append(Case("REGISTER_TIMER(@);", bad, '"literal"', LITERAL))
for bad in ("NULL", "0", "__func__"):  # constants to a compiler, so it may not say why
    CASES.append(Case("REGISTER_TIMER(@);", bad, '"literal"', "error"))

# Arguments of the wrong type.
for body, bad, good in (
        ('REGISTER_TIMER("a", @);', '"x"', "5"),
        ('REGISTER_TIMER("a", -1, @);', '"x"', "set"),
        ('REGISTER_TIMER("a", -1, @);', "&h", "set"),
        ('REGISTER_TIMER("a", -1, @);', "3.5", "set"),
        ('REGISTER_TIMER_INFO("a", @);', "3.5", '"x"'),
        ('REGISTER_TIMER_INFO("a", @);', "n", "name"),
        ('REGISTER_TIMER_INFO("a", @);', "&h", "name"),
        ('REGISTER_TIMER_INFO("a", name, @);', "name", "n"),
        ('REGISTER_TIMER_INFO("a", name, -1, @);', "name", "set"),
        ('REGISTER_TIMER_UNDER("a", @);', "n", "stint_sender_here()"),
        ('REGISTER_TIMER_UNDER("a", @);', "&h", "stint_sender_here()"),
        ('REGISTER_TIMER_SET("a", @);', "name", "start"),
        ('REGISTER_TIMER_SET("a", start, @);', "name", "n"),
        ('REGISTER_TIMER_SET("a", start, -1, @);', "name", "set"),
        ("REGISTER_TIMER_DYNAMIC(@);", "3.5", "name"),
        ("REGISTER_TIMER_DYNAMIC(@);", "n", "buffer"),
        ("REGISTER_TIMER_DYNAMIC(name, @);", "name", "n"),
        ("REGISTER_TIMER_DYNAMIC(name, -1, @);", "name", "set"),
        ("REGISTER_TIMER_DYNAMIC_SET(name, @);", "name", "start"),
        ("REGISTER_TIMER_DYNAMIC_SET(@, start);", "3.5", "name"),
        ('REGISTER_TIMER_OP("a", @);', "3.5", "name"),
        ('TIMER_BEGIN(@, "a");', "n", "h"),
        ("TIMER_END(@);", "n", "h"),
        ('REGISTER_GPU_TIMER("a", @);', "n", "&h"),
        ('REGISTER_GPU_TIMER("a", @);', "3.5", "NULL"),
        ('REGISTER_GPU_TIMER_INFO("a", NULL, @);', "n", "name"),
        ('REGISTER_CL_TIMER("a", @);', "n", "&h"),
        ('REGISTER_CL_TIMER_INFO("a", NULL, @);', "n", "name"),
        ("TIMER_BYTES(@);", "name", "n"),
        ('TIMER_VALUE("a", @);', "name", "n"),
        ("TIMER_FLOPS(@);", "&h", "3.5"),
        ("REGISTER_GPU_PROFILER(@);", "3.5", '"a"'),
        ('REGISTER_GPU_PROFILER("a", @);', "3.5", "name"),
        ("GPU_PROFILER_START(@);", "3.5", "name"),
        ("REGISTER_PROFILER(@, NULL, NULL, NULL);", "n", '"All"'),
        ("REGISTER_PROFILER(NULL, @, NULL, NULL);", "3.5", "name"),
        ("REGISTER_PROFILER(NULL, NULL, @, NULL);", "&h", '"total"'),
        ("REGISTER_PROFILER(NULL, NULL, NULL, @);", "n", "buffer")):
    CASES.append(Case(body, bad, good, TYPE))

# A text without its NUL, as std::string_view.
VIEW = "struct view { const char *data() const; size_t size() const; } v = {}; (void)v; "
for body, good in (('REGISTER_TIMER_INFO("a", @);', "name"),
                   ('REGISTER_GPU_TIMER_INFO("a", NULL, @);', "buffer"),
                   ("REGISTER_GPU_PROFILER(@);", "name"), ('REGISTER_GPU_PROFILER("a", @);', "name"),
                   ("REGISTER_PROFILER(NULL, NULL, NULL, @);", "name")):
    CASES.append(Case(VIEW + body, "v", good, "STINT_must_be_a_text_with_NUL_else_use_stint_text",
                      only_cxx=True))

# Level and role are part of the site: constants.
CASES.append(Case('REGISTER_TIMER_DETAIL("a", @);', "n", "1", WHOLE))
CASES.append(Case('REGISTER_TIMER_DETAIL("a", @);', "name", "1", WHOLE))
CASES.append(Case('REGISTER_TIMER_ROLE("a", @);', "name", "STINT_ROLE_OP", WHOLE))
# The other order says so.
CASES.append(Case("REGISTER_TIMER_DETAIL(@);", '1, "a"', '"a", 1', LITERAL))
CASES.append(Case("REGISTER_TIMER_ROLE(@);", 'STINT_ROLE_OP, "a"', '"a", STINT_ROLE_OP', LITERAL))
CASES.append(Case("REGISTER_TIMER_DETAIL(@);", '"a", "b"', '"a", 1', WHOLE))
CASES.append(Case("REGISTER_TIMER_ROLE(@);", '"a", 2.5', '"a", 2', WHOLE))
CASES.append(Case("REGISTER_TIMER(@);", "5, \"a\"", '"a", 5', LITERAL))
CASES.append(Case("REGISTER_TIMER_SINCE(@);", "7, \"a\"", '"a", 7', LITERAL))
CASES.append(Case('REGISTER_TIMER_ROLE("a", @);', "n", "1", WHOLE))

# Too many arguments, or too few.
for body, bad, good, says in (
        ('REGISTER_TIMER("a", 1, set@);', ", 5", "", MANY),
        ('REGISTER_TIMER_SET("a", start, 1, set@);', ", 5", "", MANY),
        ("REGISTER_TIMER_DYNAMIC(name, 1, set@);", ", 5", "", MANY),
        ("REGISTER_TIMER_DYNAMIC_SET(name, start, 1, set@);", ", 5", "", MANY),
        ('REGISTER_GPU_PROFILER("a", "b"@);', ', "c"', "", MANY),
        ("REGISTER_PROFILER(NULL, NULL, NULL, NULL@);", ", NULL", "", "passed 5|too many"),
        ("REGISTER_PROFILER(NULL, NULL, NULL@);", "", ", NULL", FEW + "|invalid"),
        ('REGISTER_TIMER_INFO("a", "b", 5, set@);', ", 5", "", MANY),
        ('REGISTER_TIMER_SET("a"@);', "", ", start", NO_START),
        ("REGISTER_TIMER_DYNAMIC_SET(name@);", "", ", start", NO_START),
        ("REGISTER_TIMER_DYNAMIC(@);", "", "name", FEW),
        ('REGISTER_TIMER_INFO("a"@);', "", ', "b"', NO_NOTE),
        ("REGISTER_TIMER_INFO(@);", "", '"a", "b"', NO_NOTE),
        ('REGISTER_TIMER_DETAIL("b"@);', "", ', 1', FEW + "|invalid")):
    CASES.append(Case(body, bad, good, says))

# A timer as the lone body of an if would time nothing.
for timer in ('REGISTER_TIMER("a");', 'REGISTER_TIMER("a", 5);', 'REGISTER_TIMER_INFO("a", name);',
              "REGISTER_TIMER_FUNC();", 'REGISTER_TIMER_SET("a", start);',
              "REGISTER_TIMER_DYNAMIC(name);", "REGISTER_TIMER_DYNAMIC_SET(name, start);",
              'REGISTER_TIMER_DETAIL("a", 1);', 'REGISTER_TIMER_ROLE("a", 1);',
              'REGISTER_TIMER_OP("a", name);', 'REGISTER_GPU_TIMER("a", NULL);',
              'REGISTER_CL_TIMER("a", NULL);'):
    CASES.append(Case("if (n) @", timer, "{ " + timer + " }",
                      "expected expression|not declared|undeclared", ("on",)))
CASES.append(Case("if (n) @", 'REGISTER_PROFILER("CPU", NULL, NULL, NULL);',
                  '{ REGISTER_PROFILER("CPU", NULL, NULL, NULL); }',
                  "expected expression|not declared|undeclared", ("on",)))
CASES.append(Case("if (n) @", 'REGISTER_GPU_PROFILER("a");', '{ REGISTER_GPU_PROFILER("a"); }',
                  "expected expression|not declared|undeclared", ("on",)))

# The functions have types like any other.
for body, bad, good in (
        ("(void)printStatus(@);", "1, 2", '"a"'),
        ("(void)printStatus(@);", "", '"a"'),
        ("(void)printStatus(@);", "3.5", '"a"'),
        ("(void)printAllStatus(@);", "1", ""),
        ("(void)printSegTimerStatus(@);", "1", ""),
        ("(void)getStat(@);", "3.5", "name"),
        ("resetStatus(@);", "1", ""),
        ("setThreadInfo(@);", "1, 2", "1"),
        ("(void)stint_report(@);", "3.5", "name"),
        ("(void)stint_now_us(@);", "1", ""),
        ('(void)stint_sample_add("a", @);', "name", "12"),
        ('(void)stint_stat_get("a", @, sizeof(stint_stat));', "&h", "NULL"),
        ('(void)stint_stat_get("a", NULL@);', "", ", 0"),
        ("(void)stint_version(@);", "1", ""),
        ("(void)stint_profiler_start(@);", "name", "name, NULL"),
        ("(void)stint_profiler_stop(@, NULL);", "n", "NULL"),
        ("stint_profiler_reset(@);", "1", ""),
        ("(void)stint_profiler_at_exit(NULL, NULL, NULL, @);", "3.5", "name"),
        ("n = @;", 'getStat("a")', 'printStatus("a")'),
        ("n = @ + n;", "resetStatus()", "printAllStatus()")):
    CASES.append(Case(body, bad, good, TYPE + "|too many|too few|void value|from .*pointer"))
