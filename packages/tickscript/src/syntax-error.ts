// Texts of syntax errors as existing tools know them, and the hints that go with them.
import { utf8Text } from '@tidemark/core';
import type { Diagnostic, Span } from '@tidemark/core';
import type { Token } from './token.ts';

/** A finding about a script: its position, what was found and what was expected. */
export type SyntaxDiagnostic = Diagnostic & {
  /** One-based; the column counts bytes of UTF-8. */
  readonly line: number;
  readonly column: number;
  readonly found?: string | undefined;
  readonly expected?: readonly string[] | undefined;
};

/** Thrown inside the parser, caught at the statement it happened in. */
export class SyntaxFailure extends Error {
  override readonly name = 'SyntaxFailure';
  readonly diagnostic: SyntaxDiagnostic;

  constructor(diagnostic: SyntaxDiagnostic) {
    super(diagnostic.message);
    this.diagnostic = diagnostic;
  }
}

const CONTEXT_BYTES = 10;

/** `parser: unexpected X line L char C in "…". expected: …`. */
export function unexpectedToken(
  text: string,
  token: Token,
  expected: readonly string[],
): SyntaxFailure {
  const found = tokenName(token);
  const { line, column } = bytePosition(text, token.start);
  const list = expected.map((each) => `"${each}"`).join(',');
  const context = contextOf(text, token.start);
  return new SyntaxFailure({
    code: token.kind === 'error' ? 'TICK_INVALID_TOKEN' : 'TICK_UNEXPECTED_TOKEN',
    message: `parser: unexpected ${found} line ${line} char ${column} in "${context}". expected: ${list}`,
    span: { start: token.start, end: Math.max(token.end, token.start) },
    line,
    column,
    found,
    expected,
    hint: hintFor(text, token, expected),
  });
}

/** Any other error in a piece of text. */
export function syntaxFailure(
  text: string,
  span: Span,
  finding: { readonly code: string; readonly message: string; readonly hint?: string | undefined },
): SyntaxFailure {
  const { start, end } = span;
  return new SyntaxFailure({ ...finding, span: { start, end }, ...bytePosition(text, start) });
}

/** One-based line and byte column, the form in which recorded texts give positions. */
export function bytePosition(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) {
    line++;
    lineStart = i + 1;
  }
  return { line, column: utf8Length(text.slice(lineStart, offset)) + 1 };
}

function tokenName(token: Token): string {
  switch (token.kind) {
    case 'error':
      return token.text;
    default:
      return token.kind;
  }
}

/** Up to ten bytes before and after a position, within its line. */
function contextOf(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const newline = text.indexOf('\n', offset);
  const lineEnd = newline < 0 ? text.length : newline;
  const encoder = new TextEncoder();
  const before = encoder.encode(text.slice(Math.max(lineStart, offset - CONTEXT_BYTES), offset));
  const after = encoder.encode(text.slice(offset, Math.min(lineEnd, offset + CONTEXT_BYTES)));
  return (
    utf8Text(before.subarray(Math.max(0, before.length - CONTEXT_BYTES))) +
    utf8Text(after.subarray(0, CONTEXT_BYTES))
  );
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

const FOREIGN_SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['&', 'write AND for a logical and'],
  [';', 'statements need no separator'],
  ['>', 'an operand is missing between two operators'],
  ['<', 'an operand is missing between two operators'],
  ['#', 'comments begin with //'],
  ['_', 'names begin with a letter'],
  [':', 'write lambda: without a space before the colon'],
  ['\ufeff', 'save the script without a byte order mark'],
]);

/** Characters before the error that are examined for a hint. */
const HINT_CONTEXT = 100;

function hintFor(text: string, token: Token, expected: readonly string[]): string | undefined {
  if (token.kind === 'error') {
    if (token.text.startsWith('unterminated')) return 'add the closing quote';
    if (token.text.startsWith('multiple decimals')) return 'write a number with one decimal point';
    return FOREIGN_SYMBOLS.get(text.charAt(token.start));
  }
  const before = text.slice(Math.max(0, token.start - HINT_CONTEXT), token.start).trimEnd();
  if (token.kind === '=') {
    return before.endsWith('=') ? 'write == to compare' : assignmentHint(before, expected);
  }
  const wants = (kind: string) => expected.length === 1 && expected[0] === kind;
  if (wants(')')) {
    if (/\blambda$/.test(before)) return 'write lambda: with a colon';
    if (token.kind === 'identifier' && /\d[a-zµ]+$/.test(text.slice(token.start - 4, token.start)))
      return 'units of durations are u, ms, s, m, h, d and w';
    if (token.kind === 'duration')
      return 'write a duration with a single unit, 90m instead of 1h30m';
    if (token.text === 'and' || token.text === 'or') return 'write AND and OR in capital letters';
    if (/\d\.\d*$/.test(before) && /^(?:u|ms|[smhdw])$/.test(token.text))
      return 'write a duration with a whole number, 90m instead of 1.5h';
    if (/\bnot$/i.test(before)) return 'write ! for a logical not';
    if (/^in$/i.test(token.text)) return 'compare with == and OR, or match a pattern with =~';
    return 'a closing parenthesis, a comma or an operator is missing';
  }
  if (wants(']')) return 'a closing bracket or a comma is missing';
  if (wants('('))
    return 'a node is made by a call: write parentheses, even if there are no arguments';
  if (wants('reference')) return 'write the name in double quotes';
  if (wants('identifier') && token.kind === 'TRUE') return 'TRUE is a keyword; choose another name';
  if (wants('identifier') && token.kind === 'number') return 'names begin with a letter';
  if (wants('.')) return 'write database and policy: dbrp "database"."policy"';
  if (expected.includes('number')) {
    if (token.kind === 'EOF') return 'the statement is not complete';
    if (token.kind === 'var' || token.kind === 'dbrp')
      return 'the statement before is not complete';
    if (token.kind === ')')
      return MISSING_OPERAND.test(before) ? 'an operand is missing' : 'one parenthesis too many';
  }
  if (expected.includes('*') && token.kind === 'number') return 'lists hold texts, names and stars';
  if (token.kind === '|' && token.start > 0) return 'only nodes and names can be chained';
  return undefined;
}

/** Text that an operand has to follow. */
const MISSING_OPERAND = /(?:[-+*/%=<>~!,:]|\b(?:AND|OR))$/;

/** A single `=` where none is allowed. */
function assignmentHint(before: string, expected: readonly string[]): string | undefined {
  if (/\bvar\s+\w+\s+\w+$/.test(before)) return 'a var has either a type or a value';
  const name = /(?:^|\n)\s*(\w+)$/.exec(before)?.[1];
  if (name !== undefined && expected.includes('number')) return `write var ${name} = …`;
  return expected.includes(')') ? 'write == to compare' : undefined;
}
