# SPDX-License-Identifier: Apache-2.0
"""Where the markers of lines go (stint/lines.h).

Every insertion is before a statement, a condition or an increment, at an offset that the compiler gave and
that is no place inside a macro expansion. What is inserted, with n for the cell of the line:

    block        STINT_LINE(n); statement
    no braces    if (STINT_LINE(n), 0) {} else statement     (after if, else, a loop or a label)
    condition    while (STINT_LINE(n), condition)

A line is hit when its first statement is reached, and a loop's when its condition is evaluated, as gcov
counts. A later statement of a line counts only if the line was entered there, as by a case. The
increment of a loop is a hit only of a line of its own.
"""
import re

# Have no code of their own, or one that begins elsewhere.
NO_CODE = {'NullStmt', 'CompoundStmt', 'CaseStmt', 'DefaultStmt', 'LabelStmt', 'AttributedStmt',
           'ForStmt', 'WhileStmt', 'DoStmt', 'CXXForRangeStmt', 'CXXTryStmt'}
COPIED = {'CallExpr', 'CXXMemberCallExpr', 'ImplicitCastExpr', 'BinaryOperator', 'UnaryOperator',
          'DeclRefExpr', 'CStyleCastExpr', 'CXXStaticCastExpr', 'CXXDynamicCastExpr'}
LITERALS = {'IntegerLiteral', 'CXXBoolLiteralExpr', 'CharacterLiteral'}
# A declaration of these in a statement: nothing inside is of this function.
OTHER_FUNCTIONS = ('LambdaExpr', 'CXXRecordDecl', 'BlockExpr')
# Without one of these inside, (void)x has no code.
WITH_EFFECT = ('CallExpr', 'CXXMemberCallExpr', 'BinaryOperator', 'CompoundAssignOperator',
               'UnaryOperator', 'StmtExpr', 'CXXConstructExpr', 'CXXOperatorCallExpr')
# The initialiser of a static variable that has one of these inside may run when it is reached.
CALLS = ('CallExpr', 'CXXMemberCallExpr', 'CXXConstructExpr', 'CXXOperatorCallExpr', 'CXXNewExpr')
VARIABLES = ('VarDecl', 'DecompositionDecl')
VARIABLE_LENGTH = re.compile(r'\[[^\]\d]')


class Marks:
    """The markers of one source file; numbers are the lines of the cells."""

    def __init__(self, path, number=0):
        self.path = path
        self.number = number
        self.numbers = []
        self.cells = {}
        self.source = b''
        self.insertions = []
        self.seen = set()
        self.closed = set()

    def function(self, source, function):
        """The insertions of a function whose body is a CompoundStmt."""
        self.source = source
        opening = ' STINT_LINES_FUNCTION(%d) ' % self.number
        self.insertions = [(function.body.begin.offset + 1, opening.encode())]
        self.seen = set()
        self.closed = set()  # offsets of macros that begin with a label, a brace or another statement
        self.block(function.body)
        return self.insertions

    # ---- Markers.

    def cell(self, line):
        if line not in self.cells:
            self.cells[line] = len(self.numbers)
            self.numbers.append(line)
        return self.cells[line]

    def marker(self, place, counts=True):
        line = place.line()
        if not counts:
            name = 'STINT_LINE_AGAIN'
        elif line in self.seen:
            name = 'STINT_LINE_ENTERED'
        else:
            name = 'STINT_LINE'
            self.seen.add(line)
        return '%s(%d)' % (name, self.cell(line))

    def insert(self, place, text):
        self.insertions.append((place.offset, text.encode()))

    def is_ours(self, place):
        return place is not None and place.file == self.path

    def close_place(self, node):
        """Closes the place of the macro that the statement begins with: its other statements have
        no place before them."""
        if node.begin.macro:
            self.closed.add(node.begin.offset)

    def before_statement(self, node, in_block, counts=True, of=None):
        """The line has the place `of`."""
        if not self.is_ours(node.begin) or (node.begin.macro and node.begin.offset in self.closed):
            return
        place = of or node.begin
        if node.kind == 'DeclStmt' and not place.macro:
            place = self.first_variable(node).place
        marker = self.marker(place, counts)
        if in_block:
            self.insert(node.begin, marker + '; ')
        else:
            self.insert(node.begin, ' if (%s, 0) {} else ' % marker)

    def comes_after(self, offset, token):
        """Whether only blanks and comments are between the token and that place."""
        text = self.source[max(0, offset - 4096):offset].rstrip()
        while text.endswith(b'*/') and b'/*' in text:
            text = text[:text.rindex(b'/*')].rstrip()
        return text.endswith(token)

    def before_expression(self, node, after):
        """Its line, or None if the condition of a loop is a macro with the parentheses: `after` must be
        before it."""
        place = node.begin
        if not self.is_ours(place) or not self.comes_after(place.offset, after):
            return None
        self.insert(place, self.marker(place) + ', ')
        return place.line()

    def before_increment(self, node, loop_lines):
        """Its line is hit if nothing else of the loop is on it."""
        place = node.begin
        if self.is_ours(place) and self.comes_after(place.offset, b';'):
            name = 'STINT_LINE_AGAIN' if place.line() in loop_lines else 'STINT_LINE_ENTERED'
            self.insert(place, '%s(%d), ' % (name, self.cell(place.line())))

    # ---- Statements.

    def block(self, node):
        self.close_place(node)
        for child in node.children():
            if child:
                self.statement(child, True)
                self.close_place(child)

    def statement(self, node, in_block):
        kind = node.kind
        visit = getattr(self, 'visit_' + kind, None)
        if kind not in NO_CODE and self.has_code(node):
            self.before_statement(node, in_block)
        if visit:
            visit(node, in_block)
        else:
            self.expression(node)

    @staticmethod
    def first_variable(node):
        """The first variable of a declaration that is made by code."""
        for child in node.children():
            if not child or child.kind not in VARIABLES:
                continue
            if child.head.get('storageClass') == 'static':
                has_code = any(child.contains(kind) for kind in CALLS)
            else:
                has_code = 'init' in child.head or \
                    VARIABLE_LENGTH.search(child.head.get('type', {}).get('qualType', ''))
            if has_code:
                return child
        return None

    def has_code(self, node):
        if node.kind == 'DeclStmt':
            return self.first_variable(node) is not None
        if node.kind == 'CStyleCastExpr' and node.head.get('castKind') == 'ToVoid':
            return any(node.contains(kind) for kind in WITH_EFFECT)
        return not node.head.get('isConstexpr')  # if constexpr

    def expression(self, node):
        """Statement expressions in it have statements of their own."""
        if node is None or not node.contains('StmtExpr') or \
                any(node.contains(other) for other in OTHER_FUNCTIONS):
            return
        for child in node.children():
            if child is None:
                continue
            if child.kind == 'StmtExpr':
                if not child.begin.macro:
                    for inner in child.children():
                        self.statement(inner, True)
            else:
                self.expression(child)

    def visit_CompoundStmt(self, node, in_block):
        self.block(node)

    def body(self, node):
        """A statement that may have no braces."""
        if node is None:
            return
        if node.begin.macro and node.kind == 'CompoundStmt':
            self.block(node)
            return
        if self.inside_macro:
            # The macro has the words before it: only what is in braces has a place of its own.
            if not node.begin.macro and node.kind == 'CompoundStmt':
                self.statement(node, True)
            return
        self.statement(node, False)

    inside_macro = False

    def bodies(self, node, bodies):
        was = self.inside_macro
        self.inside_macro = node.begin.macro
        for body in bodies:
            self.body(body)
        self.inside_macro = was

    def visit_IfStmt(self, node, in_block):
        children = list(node.children())
        last = 2 if node.head.get('hasElse') else 1
        for child in children[:-last]:
            self.expression(child)
        self.bodies(node, children[-last:])

    def visit_SwitchStmt(self, node, in_block):
        children = list(node.children())
        for child in children[:-1]:
            self.expression(child)
        self.bodies(node, children[-1:])

    def visit_WhileStmt(self, node, in_block):
        children = list(node.children())
        condition = children[-2]
        variable = children[0] if node.head.get('hasVar') else None
        self.loop(node, in_block, condition, b'(', variable)
        self.expression(condition)
        self.bodies(node, children[-1:])

    def loop(self, node, in_block, condition, after, variable, init=None):
        """It is hit where its condition is evaluated; without a condition, at its begin. The variable is
        the declaration that is the condition, or None."""
        has_condition = variable is not None or \
            (condition is not None and condition.kind not in LITERALS)
        line = None
        if has_condition and not node.begin.macro:
            before = len(self.insertions)
            if variable is not None:
                line = self.before_initialiser(variable)
            else:
                line = self.before_expression(condition, after)
            inserted = self.insertions[before:]
            del self.insertions[before:]
            if init is not None:
                self.before_init(node, init, in_block, line)
            elif line is None:
                self.before_statement(node, in_block)
            self.insertions += inserted
        elif node.begin.macro or init is not None:
            self.before_statement(node, in_block)
        return line

    def before_init(self, node, init, in_block, condition_line):
        """A loop of several lines is hit where its init is, once each time that it is entered."""
        place = init.begin
        if init.kind == 'DeclStmt':
            place = (self.first_variable(init) or init).place
        if place is None or place.macro:
            place = node.begin
        self.before_statement(node, in_block, place.line() != condition_line, place)

    def before_initialiser(self, declaration):
        """while (int n = (mark, next())): only for values that are copied anyway. Returns the line."""
        found = self.first_variable(declaration)
        value = [child for child in found.children() if child][-1] if found else None
        if value is None or value.kind not in COPIED:
            return None
        begin, end = value.begin, value.end
        if begin.macro or end is None or end.macro or \
                not self.is_ours(begin) or not self.comes_after(begin.offset, b'='):
            return None
        self.insert(begin, '(%s, ' % self.marker(begin))
        self.insertions.append((end.after, b')'))
        return begin.line()

    def visit_ForStmt(self, node, in_block):
        init, variable, condition, increment, body = node.children()
        line = self.loop(node, in_block, condition, b';', variable, init)
        for part in (init, condition, increment):
            self.expression(part)
        if increment is not None and not node.begin.macro:
            self.before_increment(increment, (line, node.begin.line()))
        self.bodies(node, [body])

    def visit_DoStmt(self, node, in_block):
        body, condition = node.children()
        if node.begin.macro:
            self.before_statement(node, in_block)
        self.bodies(node, [body])
        if not node.begin.macro and condition.kind not in LITERALS:
            self.before_expression(condition, b'(')
            self.expression(condition)

    def visit_CXXForRangeStmt(self, node, in_block):
        self.before_statement(node, in_block)
        self.bodies(node, list(node.children())[-1:])

    def visit_CXXTryStmt(self, node, in_block):
        for child in node.children():
            if child.kind == 'CXXCatchStmt':
                for inner in child.children():
                    if inner and inner.kind == 'CompoundStmt':
                        self.statement(inner, True)
            else:
                self.statement(child, True)

    def labelled(self, node, in_block, statement):
        if statement:
            self.close_place(node)
            self.statement(statement, in_block)

    def visit_CaseStmt(self, node, in_block):
        self.labelled(node, in_block, list(node.children())[-1])

    def visit_DefaultStmt(self, node, in_block):
        self.labelled(node, in_block, list(node.children())[-1])

    def visit_LabelStmt(self, node, in_block):
        self.labelled(node, in_block, list(node.children())[-1])

    def visit_AttributedStmt(self, node, in_block):
        children = [c for c in node.children() if c and not c.kind.endswith('Attr')]
        if children and children[-1].kind == 'CompoundStmt':
            self.statement(children[-1], True)
