// Statements as forms: prints the state of the query builder as a statement, and parses a statement
// back if the builder can express all of it.
import { formatIdentifier, formatPath, parseQuery, quoteString } from '@tidemark/influxql';
import type { Expression, SelectStatement } from '@tidemark/influxql';

import { expandMacros } from './macros.ts';

export type BuiltField = {
  readonly name: string;
  /** The function applied; empty for raw values. */
  readonly call: string;
};

export type BuiltFilter = {
  readonly tag: string;
  readonly isNot: boolean;
  readonly values: readonly string[];
};

export type BuiltQuery = {
  readonly policy: string;
  readonly measurement: string;
  readonly fields: readonly BuiltField[];
  readonly filters: readonly BuiltFilter[];
  readonly groupTags: readonly string[];
  /** `$interval`, a duration, or empty for no windows. */
  readonly window: string;
  readonly fill: string;
  readonly limit: string;
};

export const EMPTY_QUERY: BuiltQuery = {
  policy: '',
  measurement: '',
  fields: [],
  filters: [],
  groupTags: [],
  window: '',
  fill: '',
  limit: '',
};

/** The statement of a form. */
export function printBuilt(query: BuiltQuery): string {
  const { policy, measurement, fields, filters, groupTags, window, fill, limit } = query;
  const columns = fields.map(({ name, call }) =>
    call === '' ? formatIdentifier(name) : `${call}(${formatIdentifier(name)})`,
  );
  const source = policy === '' ? formatPath([measurement]) : formatPath([policy, measurement]);
  const conditions = filters
    .filter(({ values }) => values.length > 0)
    .map(({ tag, isNot, values }) => {
      const operator = isNot ? '!=' : '=';
      const parts = values.map(
        (value) => `${formatIdentifier(tag)} ${operator} ${quoteString(value)}`,
      );
      return parts.length === 1 ? parts[0] : `(${parts.join(isNot ? ' AND ' : ' OR ')})`;
    });
  const groups = [
    ...(window === '' ? [] : [`time(${window})`]),
    ...groupTags.map((tag) => formatIdentifier(tag)),
  ];
  return [
    `SELECT ${columns.length === 0 ? '*' : columns.join(', ')}`,
    `FROM ${source}`,
    `WHERE ${['$timeFilter', ...conditions].join(' AND ')}`,
    ...(groups.length === 0 ? [] : [`GROUP BY ${groups.join(', ')}`]),
    ...(fill === '' || window === '' ? [] : [`fill(${fill})`]),
    ...(limit === '' ? [] : [`LIMIT ${limit}`]),
  ].join(' ');
}

/** An improbable instant, by which `$timeFilter` is recognised. */
const MARKED = { fromMs: 1_234_567, toMs: 7_654_321, interval: '1234567ms' };
const WINDOW_NANOS = 1_234_567_000_000n;

/** The form of a statement; `undefined` when a form cannot express all of it. */
export function parseBuilt(text: string): BuiltQuery | undefined {
  if (!text.includes('$timeFilter')) return undefined;
  const { query, error } = parseQuery(expandMacros(text, MARKED).text);
  const [statement] = query.statements;
  if (error !== undefined || statement?.kind !== 'select' || query.statements.length !== 1) {
    return undefined;
  }
  const read = builtOf(statement);
  // Anything not read would be lost: the form has to print the same statement.
  if (read === undefined) return undefined;
  return sameText(printBuilt(read), text) ? read : undefined;
}

/** Whether two statements print alike. */
function sameText(a: string, b: string): boolean {
  const normal = (text: string): string =>
    JSON.stringify(parseQuery(expandMacros(text, MARKED).text).query, (key, value: unknown) =>
      key === 'span' ? undefined : typeof value === 'bigint' ? String(value) : value,
    );
  return normal(a) === normal(b);
}

function builtOf(statement: SelectStatement): BuiltQuery | undefined {
  const [source] = statement.sources;
  if (source?.kind !== 'measurement' || source.name === undefined) return undefined;
  if (source.database !== undefined || statement.sources.length > 1) return undefined;
  const fields: BuiltField[] = [];
  for (const { expression } of statement.fields) {
    if (expression.kind === 'wildcard') continue;
    const argument = expression.kind === 'call' ? expression.arguments[0] : expression;
    if (argument?.kind !== 'reference') return undefined;
    fields.push({ name: argument.name, call: expression.kind === 'call' ? expression.name : '' });
  }
  const filters = filtersOf(statement.condition);
  if (filters === undefined) return undefined;
  const groupTags: string[] = [];
  let window = '';
  for (const dimension of statement.dimensions) {
    if (dimension.kind === 'reference') groupTags.push(dimension.name);
    else if (dimension.kind === 'call' && dimension.arguments[0]?.kind === 'duration') {
      const { nanos } = dimension.arguments[0];
      window = nanos === WINDOW_NANOS ? '$interval' : durationText(nanos);
    } else return undefined;
  }
  const { fill } = statement;
  return {
    policy: source.retentionPolicy ?? '',
    measurement: source.name,
    fields,
    filters,
    groupTags,
    window,
    fill: fill === undefined ? '' : fill.kind === 'number' ? String(fill.value) : fill.kind,
    limit: statement.limit === undefined ? '' : String(statement.limit),
  };
}

function durationText(nanos: bigint): string {
  const units = [
    ['d', 86_400_000_000_000n],
    ['h', 3_600_000_000_000n],
    ['m', 60_000_000_000n],
    ['s', 1_000_000_000n],
    ['ms', 1_000_000n],
  ] as const;
  const found = units.find(([, size]) => nanos % size === 0n);
  return found === undefined ? `${nanos}ns` : `${nanos / found[1]}${found[0]}`;
}

/** Comparisons of tags with texts, joined by AND; several values of one tag in parentheses. */
function filtersOf(condition: Expression | undefined): readonly BuiltFilter[] | undefined {
  const filters: BuiltFilter[] = [];
  for (const part of partsOf(condition, 'AND')) {
    const inner = part.kind === 'paren' ? part.expression : part;
    if (isTime(inner)) continue;
    const joined = inner.kind === 'binary' && inner.operator === 'AND' ? 'AND' : 'OR';
    const compared = partsOf(inner, joined).map(comparison);
    const [first] = compared;
    if (first === undefined) return undefined;
    const values: string[] = [];
    for (const each of compared) {
      if (each === undefined || each.tag !== first.tag || each.isNot !== first.isNot)
        return undefined;
      values.push(each.value);
    }
    filters.push({ tag: first.tag, isNot: first.isNot, values });
  }
  return filters;
}

function partsOf(
  expression: Expression | undefined,
  operator: 'AND' | 'OR',
): readonly Expression[] {
  if (expression === undefined) return [];
  if (expression.kind !== 'binary' || expression.operator !== operator) return [expression];
  return [...partsOf(expression.left, operator), ...partsOf(expression.right, operator)];
}

const isTime = (expression: Expression): boolean =>
  expression.kind === 'binary' &&
  expression.left.kind === 'reference' &&
  expression.left.name === 'time';

function comparison(
  expression: Expression,
): { readonly tag: string; readonly isNot: boolean; readonly value: string } | undefined {
  if (expression.kind !== 'binary') return undefined;
  const { left, operator, right } = expression;
  if (left.kind !== 'reference' || right.kind !== 'string') return undefined;
  if (operator !== '=' && operator !== '!=') return undefined;
  return { tag: left.name, isNot: operator === '!=', value: right.value };
}
