// Values as SQL text. Everything that comes from a user or from data passes through here.
import { MIN_INT64 } from '@tidemark/core';

/** A text in single quotes. */
export function sqlText(text: string): string {
  return `'${text.replace(/[\\'\0]/g, (char) => (char === '\0' ? '\\0' : `\\${char}`))}'`;
}

/** Several values of `IN (…)`. */
export function sqlTexts(texts: Iterable<string>): string {
  return Array.from(texts, sqlText).join(', ');
}

/**
 * Whether an expression is one of some values, which are SQL. 18.16 compares with one value in a
 * third of the time that it takes to look it up in a set.
 */
export function sqlIn(expression: string, values: Iterable<string>): string {
  const all = [...new Set(values)];
  if (all.length === 0) return '0';
  return all.length === 1 ? `${expression} = ${all[0]}` : `${expression} IN (${all.join(', ')})`;
}

/** A name in backquotes. */
export function sqlName(name: string): string {
  return `\`${name.replace(/[\\`]/g, (char) => `\\${char}`)}\``;
}

/** An int64; the smallest has no literal of its own. */
export function sqlInt64(value: bigint): string {
  return value === MIN_INT64 ? 'toInt64(-9223372036854775807) - 1' : `toInt64(${value})`;
}

/** A double, bit by bit: 18.16 reads decimals with a last digit that is off. */
export function sqlFloat64(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return `reinterpretAsFloat64(unhex('${bytes.toString('hex')}'))`;
}
