// Parser: recursive descent with precedence climbing. Total: any text gives a tree plus
// diagnostics. After an error it continues at the next line that begins a statement, so that one
// pass finds several errors.
import { assert } from '@tidemark/core';
import type { Span } from '@tidemark/core';
import type { ExpressionNode, Program, Statement, Comment } from './ast.ts';
import { ExpressionParser } from './expression-parser.ts';
import { tokenize } from './lexer.ts';
import { referenceName } from './literals.ts';
import { MAX_DIAGNOSTICS, MAX_SCRIPT_LENGTH } from './limits.ts';
import { syntaxFailure, SyntaxFailure } from './syntax-error.ts';
import type { SyntaxDiagnostic } from './syntax-error.ts';

export type ParseResult = {
  /** The statements that could be parsed. */
  readonly program: Program;
  /** Text of the first error as recorded, `parser: …`; absent when there is none. */
  readonly error?: string | undefined;
  readonly diagnostics: readonly SyntaxDiagnostic[];
};

export type LambdaParseResult = {
  readonly expression?: ExpressionNode | undefined;
  readonly error?: string | undefined;
  readonly diagnostics: readonly SyntaxDiagnostic[];
};

/** Parses a whole script. Never throws on any text. */
export function parseScript(text: string): ParseResult {
  const span = { start: 0, end: text.length };
  const tooLong = lengthFailure(text);
  if (tooLong !== undefined) {
    return failed({ kind: 'program', statements: [], span }, [tooLong]);
  }
  const parser = new ExpressionParser(text, tokenize(text));
  const statements: Statement[] = [];
  const diagnostics: SyntaxDiagnostic[] = [];
  while (!parser.isAtEnd() && diagnostics.length < MAX_DIAGNOSTICS.value) {
    const consumed = parser.consumed();
    try {
      statements.push(parseStatement(parser));
    } catch (error) {
      // Only syntax errors are expected here; everything else is a bug and is rethrown.
      if (!(error instanceof SyntaxFailure)) throw error;
      diagnostics.push(error.diagnostic);
      parser.recover();
      if (parser.consumed() === consumed) parser.skip();
      skipToStatement(parser);
    }
  }
  const comment = parser.takeTrailingComment();
  if (comment !== undefined) statements.push({ kind: 'comment', comment, span: comment.span });
  const program: Program = { kind: 'program', statements, span };
  return diagnostics.length === 0 ? { program, diagnostics } : failed(program, diagnostics);
}

export type ParseLambdaOptions = {
  /** Accept `(lambda: …)` as an operand: a part with its own state, as in evaluated lambdas. */
  readonly isNestingAllowed?: boolean | undefined;
};

/** Parses the body of a lambda, the text after `lambda:`. Never throws on any text. */
export function parseLambda(text: string, options: ParseLambdaOptions = {}): LambdaParseResult {
  try {
    const tooLong = lengthFailure(text);
    if (tooLong !== undefined) return { error: tooLong.message, diagnostics: [tooLong] };
    const parser = new ExpressionParser(text, tokenize(text), options.isNestingAllowed);
    const expression = parser.parseBinary();
    parser.expect('EOF');
    return { expression, diagnostics: [] };
  } catch (error) {
    // As in parseScript: bugs are rethrown.
    if (!(error instanceof SyntaxFailure)) throw error;
    return { error: error.diagnostic.message, diagnostics: [error.diagnostic] };
  }
}

function failed(program: Program, diagnostics: readonly SyntaxDiagnostic[]): ParseResult {
  const first = diagnostics[0];
  assert(first !== undefined, 'a failed parse has a diagnostic');
  return { program, error: first.message, diagnostics };
}

function lengthFailure(text: string): SyntaxDiagnostic | undefined {
  if (text.length <= MAX_SCRIPT_LENGTH.value) return undefined;
  const failure = syntaxFailure(
    text,
    { start: 0, end: 0 },
    {
      code: 'TICK_TOO_LONG',
      message: `parser: script is longer than ${MAX_SCRIPT_LENGTH.value} characters`,
    },
  );
  return failure.diagnostic;
}

function parseStatement(parser: ExpressionParser): Statement {
  switch (parser.peek().kind) {
    case 'var':
      return parseDeclaration(parser);
    case 'dbrp':
      return parseDbrp(parser);
    default: {
      const expression = parser.parseExpression();
      return { kind: 'expression', expression, span: expression.span };
    }
  }
}

/** `var name = expression` or `var name type`. */
function parseDeclaration(parser: ExpressionParser): Statement {
  const start = parser.expect('var').start;
  const comment = parser.takeComment();
  const name = parser.expect('identifier').text;
  if (parser.peek().kind === 'identifier') {
    const type = parser.expect('identifier');
    return withComment(comment, {
      kind: 'type-declaration',
      name,
      type: type.text,
      span: { start, end: type.end },
    });
  }
  parser.expect('=');
  const value = parser.parseExpression();
  return withComment(comment, {
    kind: 'declaration',
    name,
    value,
    span: { start, end: value.span.end },
  });
}

/** `dbrp "database"."retention policy"`. */
function parseDbrp(parser: ExpressionParser): Statement {
  const start = parser.expect('dbrp').start;
  const comment = parser.takeComment();
  const database = parser.expect('reference');
  parser.expect('.');
  const retentionPolicy = parser.expect('reference');
  const span: Span = { start, end: retentionPolicy.end };
  return withComment(comment, {
    kind: 'dbrp',
    database: referenceName(database),
    retentionPolicy: referenceName(retentionPolicy),
    span,
  });
}

function withComment<T extends object>(comment: Comment | undefined, node: T): T {
  return comment === undefined ? node : { ...node, comment };
}

/** A statement begins with a word at the start of a line. */
function skipToStatement(parser: ExpressionParser): void {
  for (let token = parser.peek(); token.kind !== 'EOF'; token = parser.peek()) {
    const isWord = token.kind === 'var' || token.kind === 'dbrp' || token.kind === 'identifier';
    if (isWord && parser.isAtLineStart(token)) return;
    parser.skip();
    parser.recover();
  }
}
