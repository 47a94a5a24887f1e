// Literals of tokens. For other tokens the parser reports the error.
import { MAX_INT64, MAX_UINT64, MIN_INT64 } from '@tidemark/core';
import type { Span } from '@tidemark/core';

import type { IntegerLiteral, Literal, UnsignedLiteral } from './ast.ts';
import { parseDuration } from './duration.ts';
import type { Token } from './token.ts';

/** More digits cannot be an unsigned integer; keeps the conversion of hostile numbers cheap. */
const MAX_INTEGER_DIGITS = 40;

/** The integer of a token; `undefined` when 64 bits cannot hold it. */
export function integerLiteral(
  { text }: Token,
  span: Span,
): IntegerLiteral | UnsignedLiteral | undefined {
  if (text.length > MAX_INTEGER_DIGITS) return undefined;
  const value = BigInt(text);
  if (value > MAX_UINT64) return undefined;
  return { kind: value > MAX_INT64 ? 'unsigned' : 'integer', value, span };
}

/** The literal of a token; `undefined` if it is none or the parser refuses it. */
export function literalOf(token: Token, span: Span): Literal | undefined {
  const { kind, text } = token;
  switch (kind) {
    case 'string':
      return { kind, value: text, span };
    case 'regex':
      return { kind, pattern: text, span };
    case 'number':
      return { kind, value: Number(text), span };
    case 'integer':
      return integerLiteral(token, span);
    case 'duration': {
      const parsed = parseDuration(text);
      return parsed.ok ? { kind, nanos: parsed.nanos, span } : undefined;
    }
    default:
      return undefined;
  }
}

/** A number with a minus before it; `undefined` when it does not fit, or is no number. */
export function negated(literal: Literal): Literal | undefined {
  switch (literal.kind) {
    case 'number':
    case 'integer':
      return { ...literal, value: -literal.value } as Literal;
    case 'unsigned':
      // The smallest integer has no positive counterpart.
      if (literal.value !== -MIN_INT64) return undefined;
      return { ...literal, kind: 'integer', value: MIN_INT64 };
    case 'duration':
      return { ...literal, nanos: -literal.nanos };
    default:
      return undefined;
  }
}
