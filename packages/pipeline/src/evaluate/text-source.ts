// Maps the characters of a string to positions in the script, so that mistakes inside a query can
// be located. A string is one literal, or several joined by `+`; vars are followed to the literals
// of their declarations.
import type { Span } from '@tidemark/core';
import type { ExpressionNode } from '@tidemark/tickscript';

/** A literal with its quotes, or another origin of these characters. */
type TextPiece = {
  readonly value: string;
  readonly span: Span;
  readonly quotes: 'single' | 'triple' | 'none';
};

/**
 * Vars that are repeatedly joined to themselves would have more pieces than a script has
 * characters.
 */
const PIECES_MAX = 1000;

/** The pieces of a text in order. */
export type TextSource = readonly TextPiece[];

/** A text and, when it comes from the script, where it stands there. */
export type TextValue = {
  readonly kind: 'string';
  readonly value: string;
  readonly source?: TextSource | undefined;
};

/** The text of a literal. */
export function literalText(literal: Extract<ExpressionNode, { kind: 'string' }>): TextValue {
  const { value, span, isTripleQuoted } = literal;
  const quotes = isTripleQuoted ? 'triple' : 'single';
  return { kind: 'string', value, source: [{ value, span, quotes }] };
}

/** The text's source, or the position where the text is named or created. */
export function sourceOf({ value, source }: TextValue, place: Span): TextSource {
  return source ?? [{ value, span: place, quotes: 'none' }];
}

/** Concatenates sources; `undefined` for too many pieces. */
export function joined(texts: readonly TextSource[]): TextSource | undefined {
  const pieces = texts.flat().filter(({ value }) => value !== '');
  return pieces.length > PIECES_MAX ? undefined : pieces;
}

/** The part of the script that contains a part of a text; `undefined` beyond it. */
export function placeInScript(source: TextSource, part: Span): Span | undefined {
  const first = placeOfUnit(source, part.start);
  const last = part.end > part.start ? placeOfUnit(source, part.end - 1) : first;
  if (first === undefined || last === undefined) return endOf(source, part.start);
  // A piece may be declared after its use in front of another.
  const isEmpty = part.end <= part.start;
  return { start: first.start, end: isEmpty ? first.start : Math.max(first.end, last.end) };
}

/** The position of the character at an index of the text. */
function placeOfUnit(source: TextSource, index: number): Span | undefined {
  let offset = index;
  for (const { value, span, quotes } of source) {
    if (offset < value.length) {
      if (quotes === 'none') return span;
      if (quotes === 'triple') {
        const start = span.start + 3 + offset;
        return { start, end: start + 1 };
      }
      // Every quote in a text in single quotes is written with a backslash before it.
      const start = span.start + 1 + offset + quotesIn(value.slice(0, offset));
      return { start, end: start + (value[offset] === "'" ? 2 : 1) };
    }
    offset -= value.length;
  }
  return undefined;
}

/**
 * The position after the last character, where the text ends too early; the whole literal of an
 * empty text.
 */
function endOf(source: TextSource, index: number): Span | undefined {
  const length = source.reduce((sum, { value }) => sum + value.length, 0);
  const last = source.at(-1);
  if (last === undefined || index !== length) return undefined;
  if (last.quotes === 'none' || length === 0) return last.span;
  const end = last.span.end - (last.quotes === 'triple' ? 3 : 1);
  return { start: end, end };
}

function quotesIn(text: string): number {
  return text.split("'").length - 1;
}
