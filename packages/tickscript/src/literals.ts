// Converts tokens of literals to their values.
import { MAX_INT64 } from '@tidemark/core';
import { parseDuration } from './duration.ts';
import type {
  BooleanNode,
  DurationNode,
  FloatNode,
  IntegerNode,
  ReferenceNode,
  RegexNode,
  StarNode,
  StringNode,
} from './ast.ts';
import { checkRegexSyntax } from './regex-syntax.ts';
import { syntaxFailure } from './syntax-error.ts';
import type { SyntaxFailure } from './syntax-error.ts';
import type { Token } from './token.ts';

type Bare<T> = Omit<T, 'span' | 'comment'>;
type Literal =
  | Bare<BooleanNode>
  | Bare<IntegerNode>
  | Bare<FloatNode>
  | Bare<DurationNode>
  | Bare<StringNode>
  | Bare<RegexNode>
  | Bare<StarNode>
  | Bare<ReferenceNode>;

/**
 * The value of a literal, without position and comment. Throws `SyntaxFailure` for an invalid one.
 */
export function literalOf(text: string, token: Token): Literal {
  switch (token.kind) {
    case 'number':
      return numberOf(text, token);
    case 'string':
      return stringOf(token);
    case 'duration':
      return durationOf(text, token);
    case 'regex':
      return regexOf(text, token);
    case 'reference':
      return { kind: 'reference', name: referenceName(token) };
    case '*':
      return { kind: 'star' };
    default:
      return { kind: 'boolean', value: token.kind === 'TRUE' };
  }
}

/** The name between the quotes of a reference. */
export function referenceName(token: Token): string {
  return token.text.slice(1, -1).replaceAll('\\"', '"');
}

function numberOf(text: string, token: Token): Literal {
  const digits = token.text;
  if (digits.includes('.')) {
    const value = Number(digits);
    if (!Number.isFinite(value)) throw illegalNumber(text, token);
    return { kind: 'float', value };
  }
  const isOctal = digits.length > 1 && digits.startsWith('0');
  if (isOctal && /[89]/.test(digits)) throw illegalNumber(text, token);
  const value = BigInt(isOctal ? `0o${digits}` : digits);
  if (value > MAX_INT64) throw illegalNumber(text, token);
  return { kind: 'integer', value, isOctal };
}

function illegalNumber(text: string, token: Token): SyntaxFailure {
  return syntaxFailure(text, token, {
    code: 'TICK_ILLEGAL_NUMBER',
    message: `parser: illegal number syntax: "${token.text}"`,
    hint: token.text.startsWith('0')
      ? 'integers that begin with 0 are octal'
      : 'integers go up to 9223372036854775807, floats up to 1.8e308',
  });
}

function durationOf(text: string, token: Token): Literal {
  const nanos = parseDuration(token.text);
  if (nanos !== undefined) return { kind: 'duration', nanos, text: token.text };
  throw syntaxFailure(text, token, {
    code: 'TICK_ILLEGAL_DURATION',
    message: `parser: invalid duration literal: "${token.text}"`,
    hint: 'durations go up to 292 years',
  });
}

function stringOf(token: Token): Literal {
  const isTripleQuoted = token.text.length >= 6 && token.text.startsWith("'''");
  const value = isTripleQuoted
    ? token.text.slice(3, -3)
    : token.text.slice(1, -1).replaceAll("\\'", "'");
  return { kind: 'string', value, isTripleQuoted };
}

function regexOf(text: string, token: Token): Literal {
  const literal = token.text.slice(1, -1);
  const pattern = literal.replaceAll('\\/', '/');
  const problem = checkRegexSyntax(pattern);
  if (problem === undefined) return { kind: 'regex', pattern, literal };
  const message = `parser: ${problem}`;
  throw syntaxFailure(text, token, {
    code: 'TICK_INVALID_REGEX',
    message,
    hint: pattern.startsWith('*')
      ? 'comments begin with //'
      : 'regular expressions have the syntax of RE2; a backslash takes the meaning from a character',
  });
}
