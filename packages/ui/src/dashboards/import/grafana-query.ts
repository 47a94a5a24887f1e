// Converts queries that Grafana stores as a form to statements.
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { fieldsOf, listOf, textOf } from '../fields.ts';

type Part = { readonly type: string; readonly params: readonly string[] };

function partOf(value: unknown): Part {
  const { type, params } = fieldsOf(value);
  return { type: textOf(type), params: listOf(params).map(String) };
}

/** Functions with parameters beside the field: the parameters follow it. */
function applied(column: string, { type, params }: Part): string {
  switch (type) {
    case 'field':
      return identifier(params[0] ?? '*');
    case 'math':
      return `${column}${params[0] ?? ''}`;
    case 'alias':
      return `${column} AS ${formatIdentifier(params[0] ?? '')}`;
    default:
      return `${type}(${[column, ...params].join(', ')})`;
  }
}

/** Names may contain a variable, which has to stay one. */
function identifier(name: string): string {
  if (name === '*' || /^\/.*\/$/.test(name)) return name;
  // A name may be followed by its kind, field or tag.
  const typed = /^(.+)::(tag|field)$/s.exec(name);
  if (typed !== null)
    return `"${(typed[1] ?? '').replaceAll(/["\\]/g, String.raw`\$&`)}"::${typed[2]}`;
  return name.includes('$') ? `"${name}"` : formatIdentifier(name);
}

/** A value as the operator needs it; patterns and variables stay unchanged. */
function valueOf(operator: string, value: string): string {
  if (operator === '=~' || operator === '!~') return value;
  if (operator === '<' || operator === '>') return value;
  return /^'.*'$/.test(value) || /^\/.*\/$/.test(value) ? value : quoteString(value);
}

/** The statement of a form. */
export function statementOf(target: Readonly<Record<string, unknown>>): string {
  const columns = listOf(target['select']).map((parts) =>
    listOf(parts)
      .map(partOf)
      .reduce((column, part) => applied(column, part), ''),
  );
  const policy = textOf(target['policy']);
  const source = identifier(textOf(target['measurement']));
  const from =
    policy === '' || policy === 'default' ? source : `${formatIdentifier(policy)}.${source}`;
  const conditions = listOf(target['tags']).map((tag, i) => {
    const { key, operator, value, condition } = fieldsOf(tag);
    const text = textOf(value);
    const isPattern = /^\/.*\/$/.test(text);
    const compared = textOf(operator, isPattern ? '=~' : '=');
    const joined = i === 0 ? '' : `${textOf(condition, 'AND')} `;
    return `${joined}${identifier(textOf(key))} ${compared} ${valueOf(compared, text)}`;
  });
  const groups = listOf(target['groupBy']).map(partOf);
  const dimensions = groups.flatMap(({ type, params }) => {
    if (type === 'time') return [`time(${params[0] === 'auto' ? '$interval' : params.join(', ')})`];
    return type === 'tag' ? [identifier(params[0] ?? '')] : [];
  });
  const fill = groups.find(({ type }) => type === 'fill')?.params[0];
  const where = conditions.length === 0 ? '' : `(${conditions.join(' ')}) AND `;
  return [
    `SELECT ${columns.join(', ')} FROM ${from} WHERE ${where}$timeFilter`,
    ...(dimensions.length === 0 ? [] : [`GROUP BY ${dimensions.join(', ')}`]),
    ...(fill === undefined || dimensions.length === 0 ? [] : [`fill(${fill})`]),
    ...(target['orderByTime'] === 'DESC' ? ['ORDER BY time DESC'] : []),
    ...suffix('LIMIT', target['limit']),
    ...suffix('SLIMIT', target['slimit']),
    ...(textOf(target['tz']) === '' ? [] : [`tz(${quoteString(textOf(target['tz']))})`]),
  ].join(' ');
}

function suffix(keyword: string, value: unknown): readonly string[] {
  return /^\d+$/.test(String(value ?? '')) ? [`${keyword} ${String(value)}`] : [];
}
