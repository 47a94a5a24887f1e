// Tab completion: suggestions that are valid at the cursor: keywords, functions, and the names of
// the current database.
import { KEYWORDS, formatIdentifier } from '@tidemark/influxql';
import type { Series } from '@tidemark/client';
import { FUNCTIONS } from '@tidemark/query';

import type { Session } from './session.ts';

const COMMANDS = [
  'use',
  'format',
  'precision',
  'insert',
  'settings',
  'history',
  'help',
  'exit',
  'pretty',
  'timing',
  'spark',
  'pager',
  'connect',
  'clear',
];
const CALLS = Array.from(FUNCTIONS.keys(), (name) => `${name}(`);
const SCHEMA_AGE_MS = 10_000;

type Names = {
  readonly databases: readonly string[];
  readonly measurements: readonly string[];
  readonly fields: readonly string[];
  readonly tags: readonly string[];
};

const NO_NAMES: Names = { databases: [], measurements: [], fields: [], tags: [] };

type Clause = {
  readonly names: readonly (keyof Names)[];
  readonly words: readonly string[];
};

const ENDS = ['GROUP', 'BY', 'ORDER', 'LIMIT', 'OFFSET', 'SLIMIT', 'SOFFSET', 'fill(', 'tz('];

/** What can follow a keyword, up to the next keyword of the table. */
const CLAUSES: ReadonlyMap<string, Clause> = new Map([
  ['SELECT', { names: ['fields', 'tags'], words: [...CALLS, 'DISTINCT', 'AS', 'INTO', 'FROM'] }],
  ['FROM', { names: ['measurements'], words: ['SELECT', 'WHERE', 'WITH', ...ENDS] }],
  ['INTO', { names: ['measurements'], words: ['FROM'] }],
  ['MEASUREMENT', { names: ['measurements'], words: ['WHERE'] }],
  ['WHERE', { names: ['tags', 'fields'], words: ['time', 'now()', 'AND', 'OR', ...ENDS] }],
  ['BY', { names: ['tags'], words: ['time(', 'time', 'ASC', 'DESC', ...ENDS] }],
  ['KEY', { names: ['tags'], words: ['IN', 'WHERE', ...ENDS] }],
  ['ON', { names: ['databases'], words: [...KEYWORDS] }],
  ['DATABASE', { names: ['databases'], words: [...KEYWORDS] }],
  ['USE', { names: ['databases'], words: [] }],
]);

/** The context of the cursor in a statement. */
type Place = {
  readonly quote: '' | '"' | "'" | '/';
  /** The part of a name or keyword already typed, including its quote. */
  readonly word: string;
  /** The last keyword before it that determines what follows; empty without one. */
  readonly clause: string;
  readonly isFirst: boolean;
};

/** Reads names from the server at most every ten seconds. */
export class Completer {
  readonly #session: Session;
  #names = NO_NAMES;
  #readAt = Number.NEGATIVE_INFINITY;
  #readFor = '';

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Candidates for the last word of a line, as `node:readline` expects them. `before` contains
   * earlier lines of the statement.
   */
  async complete(line: string, before = ''): Promise<[string[], string]> {
    const place = placeOf(before === '' ? line : `${before}\n${line}`);
    // Values and patterns cannot be completed.
    if (place.quote === "'" || place.quote === '/') return [[], place.word];
    const { names, words } = CLAUSES.get(place.clause) ?? { names: [], words: [...KEYWORDS] };
    const isQuoted = place.quote === '"';
    const known = names.length === 0 ? NO_NAMES : await this.#schemaNames();
    const own = names.flatMap((kind) => known[kind]).map((name) => written(name, isQuoted));
    const others = isQuoted ? [] : [...(place.isFirst ? COMMANDS : []), ...words];
    const wanted = place.word.toLowerCase();
    // A name that needs quotes is also found without typing the quote.
    const starts = (candidate: string): boolean =>
      candidate.startsWith(wanted) || (!isQuoted && candidate.startsWith(`"${wanted}`));
    const hits = [...own, ...others].filter((candidate) => starts(candidate.toLowerCase()));
    return [[...new Set(hits)], place.word];
  }

  async #schemaNames(): Promise<Names> {
    const { database } = this.#session.settings;
    if (this.#readFor === database && performance.now() - this.#readAt < SCHEMA_AGE_MS)
      return this.#names;
    this.#readAt = performance.now();
    this.#readFor = database;
    const statements =
      database === ''
        ? 'SHOW DATABASES'
        : 'SHOW DATABASES; SHOW MEASUREMENTS; SHOW FIELD KEYS; SHOW TAG KEYS';
    try {
      const series = await this.#session
        .client()
        .rows(statements, database === '' ? {} : { database });
      this.#names = {
        databases: firstCells(series, ({ name }) => name === 'databases'),
        measurements: firstCells(series, ({ name }) => name === 'measurements'),
        fields: firstCells(series, ({ columns }) => columns[0] === 'fieldKey'),
        tags: firstCells(series, ({ columns }) => columns[0] === 'tagKey'),
      };
    } catch {
      // Completion is a convenience: without an answer there are only keywords.
      this.#names = NO_NAMES;
    }
    return this.#names;
  }
}

function firstCells(all: readonly Series[], isWanted: (series: Series) => boolean): string[] {
  return all.filter(isWanted).flatMap(({ values = [] }) => values.map(([name]) => String(name)));
}

/** The name as it is inserted: quoted if it was begun with a quote. */
function written(name: string, isQuoted: boolean): string {
  const plain = formatIdentifier(name);
  return isQuoted && !plain.startsWith('"') ? `"${plain}"` : plain;
}

const isWordCharacter = (character: string): boolean => /[\w\p{L}]/u.test(character);

/** Reads up to the end of the text, where the cursor is. */
function placeOf(text: string): Place {
  let clause = '';
  let isFirst = true;
  for (let i = 0; i < text.length;) {
    const character = text[i] ?? '';
    if (character === '"' || character === "'" || startsPattern(text, i)) {
      const end = endOfQuoted(text, i);
      if (end === undefined) {
        const word = character === '"' ? text.slice(i) : '';
        return { quote: character as Place['quote'], word, clause, isFirst };
      }
      isFirst = false;
      i = end + 1;
    } else if (isWordCharacter(character)) {
      let end = i + 1;
      while (end < text.length && isWordCharacter(text[end] ?? '')) end++;
      const word = text.slice(i, end);
      if (end === text.length) return { quote: '', word, clause, isFirst };
      if (CLAUSES.has(word.toUpperCase())) clause = word.toUpperCase();
      isFirst = false;
      i = end;
    } else {
      // The next statement is independent of this one.
      if (character === ';') [clause, isFirst] = ['', true];
      i++;
    }
  }
  return { quote: '', word: '', clause, isFirst };
}

/** A slash after `~` or FROM begins a regular expression; elsewhere it divides. */
const startsPattern = (text: string, at: number): boolean =>
  text[at] === '/' && /(?:~|\bfrom)\s*$/i.test(text.slice(0, at));

function endOfQuoted(text: string, start: number): number | undefined {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === text[start]) return i;
  }
  return undefined;
}
