// Clauses that several statements share: sources, WHERE, GROUP BY, ORDER BY, LIMIT and the like.
// Each function returns undefined if its clause is absent.
import { MAX_INT64, MAX_UINT64 } from '@tidemark/core';
import type { Expression, MeasurementSource, ShowClauses, SortOrder } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseExpressionAt, parseSegments, regexAt } from './expression.ts';
import type { Token } from './token.ts';

const MAX_INT32 = 2147483647n;
/** Digits of the largest unsigned integer. */
const MAX_DIGITS = 20;

/** `ON database`. */
export function onDatabase(cursor: Cursor): string | undefined {
  return cursor.skip('ON') ? cursor.identifier() : undefined;
}

/** `name ON database`. */
export function nameOnDatabase(cursor: Cursor): {
  readonly name: string;
  readonly database: string;
} {
  const name = cursor.identifier();
  cursor.expect('ON');
  return { name, database: cursor.identifier() };
}

/** `ON database FROM a, b.c, /d/`. */
export function scope(cursor: Cursor): Pick<ShowClauses, 'database' | 'sources'> {
  const database = onDatabase(cursor);
  return { database, sources: fromMeasurements(cursor) };
}

/** `FROM a, b.c, /d/`. */
export function fromMeasurements(cursor: Cursor): readonly MeasurementSource[] {
  return cursor.skip('FROM') ? cursor.list(measurement) : [];
}

/** `name`, `/pattern/`, `rp.name`, `db.rp.name`, `db..name`. */
export function measurement(cursor: Cursor): MeasurementSource {
  const { start } = cursor.peek();
  const alone = cursor.regex();
  if (alone !== undefined) {
    return { kind: 'measurement', pattern: alone.text, span: cursor.spanFrom(start) };
  }
  const segments = parseSegments(cursor);
  const endsWithDot = cursor.last().fixed === '.';
  const pattern = endsWithDot && segments.length < 3 ? cursor.regex()?.text : undefined;
  if (endsWithDot && pattern === undefined) cursor.failExpected(['identifier']);
  const leading = pattern === undefined ? segments.slice(0, -1) : segments;
  return {
    kind: 'measurement',
    database: leading.length === 2 ? leading[0] : undefined,
    retentionPolicy: emptyToUndefined(leading.at(-1)),
    name: pattern === undefined ? segments.at(-1) : undefined,
    pattern,
    span: cursor.spanFrom(start),
  };
}

/** `db..name` has no retention policy; it does not have one that is called ''. */
export function emptyToUndefined(segment: string | undefined): string | undefined {
  return segment === '' ? undefined : segment;
}

/** `WHERE expression`. */
export function where(cursor: Cursor): Expression | undefined {
  return cursor.skip('WHERE') ? parseExpressionAt(cursor) : undefined;
}

/** `GROUP BY dimension, …`. */
export function groupBy(cursor: Cursor): readonly Expression[] {
  if (!cursor.skip('GROUP')) return [];
  cursor.expect('BY');
  return cursor.list(() => regexAt(cursor) ?? parseExpressionAt(cursor));
}

/** `ORDER BY [time] [ASC | DESC]`. */
export function orderBy(cursor: Cursor): SortOrder | undefined {
  if (!cursor.skip('ORDER')) return undefined;
  cursor.expect('BY');
  const token = cursor.peek();
  const hasDirectionOnly = token.fixed === 'ASC' || token.fixed === 'DESC';
  if (!hasDirectionOnly) {
    if (token.kind !== 'identifier') cursor.failExpected(['identifier', 'ASC', 'DESC']);
    cursor.next();
    if (token.text !== 'time') refuseSortField(cursor);
  }
  const descending = cursor.at('DESC');
  if (descending || cursor.at('ASC')) cursor.next();
  if (cursor.skip(',')) {
    cursor.identifier();
    refuseSortField(cursor);
  }
  return { descending };
}

function refuseSortField(cursor: Cursor): never {
  const { start } = cursor.last();
  const message = 'only ORDER BY time supported at this time';
  return cursor.fail(message, cursor.spanFrom(start), 'IQL_ORDER_BY');
}

/** `LIMIT 5 OFFSET 1`. */
export function rowLimits(cursor: Cursor): Pick<ShowClauses, 'limit' | 'offset'> {
  return { limit: optionalInteger(cursor, 'LIMIT'), offset: optionalInteger(cursor, 'OFFSET') };
}

/** `SLIMIT 5 SOFFSET 1`. */
export function seriesLimits(cursor: Cursor): Pick<ShowClauses, 'seriesLimit' | 'seriesOffset'> {
  const seriesLimit = optionalInteger(cursor, 'SLIMIT');
  return { seriesLimit, seriesOffset: optionalInteger(cursor, 'SOFFSET') };
}

/** `LIMIT 5` and the like. */
function optionalInteger(
  cursor: Cursor,
  word: 'LIMIT' | 'OFFSET' | 'SLIMIT' | 'SOFFSET',
): bigint | undefined {
  if (!cursor.skip(word)) return undefined;
  const token = cursor.integer();
  const value = limitValue(token);
  if (value < 0n) cursor.failAt(`${word} must be >= 0`, token, 'IQL_INTEGER');
  return value;
}

/** The number after LIMIT and the like, limited to int64. */
export function limitValue({ text }: Token): bigint {
  return integerUpTo(text, MAX_INT64) ?? MAX_INT64;
}

/** A replication factor. */
export function replication(cursor: Cursor): number {
  const token = cursor.integer();
  const value = integerUpTo(token.text, MAX_INT64);
  if (value === undefined) {
    const message = `strconv.Atoi: parsing "${token.text}": value out of range`;
    return cursor.failAt(message, token, 'IQL_INTEGER');
  }
  if (value < 1n || value > MAX_INT32) {
    const message = `invalid value ${value}: must be 1 <= n <= ${MAX_INT32}`;
    cursor.failAt(message, token, 'IQL_INTEGER');
  }
  return Number(value);
}

/** An id: an integer of 64 bits without sign. */
export function id(cursor: Cursor): bigint {
  const token = cursor.integer();
  const value = integerUpTo(token.text, MAX_UINT64);
  if (value === undefined || value < 0n) {
    const message = `strconv.ParseUint: parsing "${token.text}": value out of range`;
    return cursor.failAt(message, token, 'IQL_INTEGER');
  }
  return value;
}

/**
 * The value of an integer token, `undefined` beyond `max`. Never converts more digits than 64 bits
 * can have.
 */
function integerUpTo(text: string, max: bigint): bigint | undefined {
  const digits = text.replace(/^0+(?=\d)/, '');
  if (digits.length > MAX_DIGITS) return undefined;
  const value = BigInt(digits);
  return value > max ? undefined : value;
}
