// The statements of a log. Names and values come from links and are quoted: nothing in them is a
// statement.
import { formatIdentifier, formatPath, quoteRegex, quoteString } from '@tidemark/influxql';

import type { SearchTerm } from './search.ts';
import type { LogSource } from './source.ts';

/** A value that a column has, or must not have. */
export type LogFilter = {
  readonly name: string;
  readonly isNot: boolean;
  readonly value: string;
};

/** The events of a log. */
export type LogQuery = {
  readonly source: LogSource;
  readonly filters: readonly LogFilter[];
  readonly terms: readonly SearchTerm[];
};

/** Bounds of time as conditions of the language: `>= 0ms`, `< '2024-01-01T00:00:00.1Z'`. */
export type Bounds = { readonly from: string; readonly to: string };

/** The newest events first. */
export function eventsText(query: LogQuery, bounds: Bounds, limit: number): string {
  return `SELECT * FROM ${path(query)} WHERE ${conditions(query, bounds)} ORDER BY time DESC LIMIT ${limit}`;
}

/** As `eventsText`, for the page of statements, in the time range chosen there. */
export function openText(query: LogQuery, limit: number): string {
  const where = ['$timeFilter', ...conditionsOf(query)].join(' AND ');
  return `SELECT * FROM ${path(query)} WHERE ${where} ORDER BY time DESC LIMIT ${limit}`;
}

/**
 * Levels of a span, whatever the filters; and how many events it has, and how many with a level.
 */
export function levelTexts(source: LogSource, bounds: Bounds): readonly [string, string] {
  const query = { source, filters: [], terms: [] };
  const level = formatIdentifier(source.level ?? '');
  const where = conditions(query, bounds);
  return [
    `SELECT distinct(${level}) FROM ${path(query)} WHERE ${where}`,
    `SELECT count(${formatIdentifier(source.text)}), count(${level}) FROM ${path(query)} WHERE ${where}`,
  ];
}

/** Events by intervals: all of them, those of one level, or of each value of a tag. */
export function countText(
  query: LogQuery,
  bounds: Bounds,
  by: {
    readonly interval: string;
    readonly level?: string | undefined;
    readonly tag?: string | undefined;
  },
): string {
  const { source, filters } = query;
  const level =
    by.level === undefined ? [] : [{ name: source.level ?? '', isNot: false, value: by.level }];
  const counted = { ...query, filters: [...filters, ...level] };
  const groups = [
    `time(${by.interval})`,
    ...(by.tag === undefined ? [] : [formatIdentifier(by.tag)]),
  ];
  return (
    `SELECT count(${formatIdentifier(source.text)}) AS "count" FROM ${path(query)} ` +
    `WHERE ${conditions(counted, bounds)} GROUP BY ${groups.join(', ')} fill(none)`
  );
}

const path = ({ source: { policy, measurement } }: LogQuery): string =>
  policy === '' ? formatPath([measurement]) : formatPath([policy, measurement]);

const conditions = (query: LogQuery, { from, to }: Bounds): string =>
  [`time ${from}`, `time ${to}`, ...conditionsOf(query)].join(' AND ');

/** Values of one column that are wanted are alternatives. */
function conditionsOf({ source, filters, terms }: LogQuery): readonly string[] {
  const wanted = new Map<string, string[]>();
  const all: string[] = [];
  for (const filter of filters) {
    const comparison = comparisonOf(source, filter);
    const alternatives = wanted.get(filter.name);
    if (filter.isNot) all.push(comparison);
    else if (alternatives === undefined) wanted.set(filter.name, [comparison]);
    else alternatives.push(comparison);
  }
  for (const [only = '', ...more] of wanted.values()) {
    all.push(more.length === 0 ? only : `(${[only, ...more].join(' OR ')})`);
  }
  const text = formatIdentifier(source.text);
  for (const { pattern, isNot } of terms) {
    all.push(`${text} ${isNot ? '!~' : '=~'} ${quoteRegex(pattern)}`);
  }
  return all;
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function comparisonOf({ fieldTypes }: LogSource, { name, isNot, value }: LogFilter): string {
  const type = fieldTypes.get(name) ?? 'string';
  const isBare =
    type === 'boolean' ? /^(true|false)$/.test(value) : type !== 'string' && NUMBER.test(value);
  return `${formatIdentifier(name)} ${isNot ? '!=' : '='} ${isBare ? value : quoteString(value)}`;
}
