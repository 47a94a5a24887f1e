// The query language in editors: tokens, diagnostics, printer from @tidemark/influxql; functions
// from @tidemark/query; names from the database.
import {
  formatIdentifier,
  KEYWORDS,
  parseQuery,
  printStatement,
  quoteString,
  tokenize,
} from '@tidemark/influxql';
import { FUNCTIONS } from '@tidemark/query';

import { expandMacros, MACROS } from '../query/macros.ts';
import type { HoverText, SourceLanguage, Suggestion, Suggestions } from './language.ts';
import { schemaSource } from './schema-source.ts';

/** The language with the names of a database. `database` is called whenever names are needed. */
export function influxqlLanguage(database: () => string): SourceLanguage {
  return {
    lineComment: '--',
    *tokenize(text) {
      for (const { class: kind, start, end } of tokenize(text)) {
        if (kind === 'blank' || kind === 'identifier' || kind === 'punctuation') continue;
        yield { start, end, class: kind === 'parameter' ? 'function' : kind };
      }
    },
    diagnose(text) {
      const expanded = expandMacros(text, EXAMPLE);
      return parseQuery(expanded.text).diagnostics.map(({ message, span, hint }) => ({
        start: expanded.originalOffset(span.start),
        end: expanded.originalOffset(span.end),
        message,
        hint,
        severity: 'error',
      }));
    },
    // No names are better than an error while typing; running the statement reports it.
    complete: (text, offset) => complete(text, offset, database()).catch(() => undefined),
    format,
    hover,
  };
}

/** Macros are replaced by examples for checking; the values do not matter. */
const EXAMPLE = { fromMs: 0, toMs: 1, interval: '1m' };

function format(text: string): string | undefined {
  // The printer drops comments, and a macro would not survive printing.
  const hasLoss = tokenize(text).some(({ class: kind }) => kind === 'comment');
  if (hasLoss || MACROS.some(({ name }) => text.includes(name))) return undefined;
  const { query, error } = parseQuery(text);
  if (error !== undefined) return undefined;
  return query.statements.map((statement) => printStatement(statement)).join(';\n');
}

function hover(text: string, offset: number): HoverText | undefined {
  const token = tokenize(text).find(({ start, end }) => start <= offset && offset < end);
  if (token === undefined || token.class !== 'function') return undefined;
  const known = FUNCTIONS.get(text.slice(token.start, token.end).toLowerCase());
  if (known === undefined) return undefined;
  const { start, end } = token;
  return { start, end, title: `${known.name}()`, body: `${known.kind}: ${known.doc}` };
}

type Word = { readonly text: string; readonly start: number; readonly end: number };

/** Words of the statement around an offset, without blanks and comments. */
function wordsAround(text: string, offset: number): readonly Word[] {
  const words = tokenize(text)
    .filter(({ class: kind }) => kind !== 'blank' && kind !== 'comment')
    .map(({ start, end }) => ({ text: text.slice(start, end), start, end }));
  const first = words.findLastIndex((word) => word.text === ';' && word.end <= offset) + 1;
  const last = words.findIndex((word) => word.text === ';' && word.start >= offset);
  return words.slice(first, last < 0 ? undefined : last);
}

const CLAUSES = ['SELECT', 'FROM', 'INTO', 'WHERE', 'BY', 'ON', 'DATABASE', 'KEY', 'MEASUREMENT'];
const STARTS = ['SELECT', 'SHOW', 'CREATE', 'DROP', 'DELETE', 'EXPLAIN', 'ALTER', 'GRANT', 'KILL'];
const AFTER: Readonly<Record<string, readonly string[]>> = {
  SELECT: ['FROM', 'AS', 'DISTINCT', 'INTO'],
  FROM: ['WHERE', 'GROUP BY', 'ORDER BY time DESC', 'LIMIT', 'SLIMIT', 'tz('],
  INTO: ['FROM'],
  WHERE: ['AND', 'OR', 'time', 'now()', 'GROUP BY', 'ORDER BY time DESC', 'LIMIT', 'fill('],
  BY: ['time(', 'time', 'fill(', 'ORDER BY time DESC', 'LIMIT', 'SLIMIT', 'tz('],
};

async function complete(
  text: string,
  offset: number,
  database: string,
): Promise<Suggestions | undefined> {
  const words = wordsAround(text, offset);
  const current = words.find((word) => word.start < offset && offset <= word.end);
  const isWord = current !== undefined && /^["'$\w]/.test(current.text);
  const from = isWord ? current.start : offset;
  const before = words.filter((word) => word.end <= from);
  const clause = before.findLast((word) => CLAUSES.includes(word.text.toUpperCase()));
  const last = before.at(-1)?.text ?? '';
  if (before.length === 0) return { from, items: keywords(STARTS) };

  const measurement = measurementOf(words);
  const items: Suggestion[] = [];
  const place = clause?.text.toUpperCase() ?? '';
  if (['=', '!=', '<>'].includes(last)) {
    const tag = unquoted(before.at(-2)?.text ?? '');
    const values = await schemaSource.tagValues(database, measurement, tag);
    items.push(
      ...values.map((value): Suggestion => ({
        label: quoteString(value),
        kind: 'text',
        detail: tag,
      })),
    );
    return { from, items };
  }
  if (place === 'SELECT' || place === 'WHERE' || place === 'BY' || place === 'KEY') {
    const [fields, tags] = await Promise.all([
      place === 'BY' || place === 'KEY' ? [] : schemaSource.fields(database, measurement),
      schemaSource.tags(database, measurement),
    ]);
    items.push(...names(fields, 'property', 'field'), ...names(tags, 'variable', 'tag'));
  }
  if (place === 'SELECT') items.push(...functions());
  if (place === 'WHERE' || place === 'BY') items.push(...macros());
  if (['FROM', 'INTO', 'MEASUREMENT'].includes(place)) {
    items.push(...names(await schemaSource.measurements(database), 'class', 'measurement'));
  }
  if (place === 'ON' || place === 'DATABASE') {
    items.push(...names(await schemaSource.databases(), 'class', 'database'));
  }
  items.push(...keywords(AFTER[place] ?? [...KEYWORDS]));
  return { from, items };
}

const keywords = (words: readonly string[]): readonly Suggestion[] =>
  words.map((label) => ({ label, kind: 'keyword' }));

function names(
  list: readonly string[],
  kind: Suggestion['kind'],
  detail: string,
): readonly Suggestion[] {
  return list.map((name) => ({ label: name, insert: formatIdentifier(name), kind, detail }));
}

const functions = (): readonly Suggestion[] =>
  [...FUNCTIONS.values()].map(({ name, kind, doc }) => ({
    label: `${name}()`,
    insert: `${name}(`,
    kind: 'function',
    detail: kind,
    info: doc,
  }));

const macros = (): readonly Suggestion[] =>
  MACROS.map(({ name, info }) => ({ label: name, kind: 'variable', detail: 'variable', info }));

/** The measurement that a statement reads, if it is a simple one. */
function measurementOf(words: readonly Word[]): string {
  const at = words.findIndex(({ text }) => text.toUpperCase() === 'FROM');
  if (at < 0) return '';
  let name = '';
  for (const { text } of words.slice(at + 1)) {
    if (/^["\w]/.test(text)) name = unquoted(text);
    else if (text !== '.') break;
    else name = '';
    if (name !== '' && words[words.findIndex((word) => word.text === text) + 1]?.text !== '.')
      break;
  }
  return name;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}
