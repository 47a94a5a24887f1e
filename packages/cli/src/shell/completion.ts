// Tab completion: keywords, functions and the names of the present database.
import { KEYWORDS, formatIdentifier } from '@tidemark/influxql';

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
  'connect',
  'clear',
];
const FUNCTIONS = [
  'count(',
  'mean(',
  'sum(',
  'min(',
  'max(',
  'first(',
  'last(',
  'spread(',
  'stddev(',
  'median(',
  'mode(',
  'percentile(',
  'distinct(',
  'top(',
  'bottom(',
  'derivative(',
  'difference(',
  'non_negative_derivative(',
  'moving_average(',
  'cumulative_sum(',
  'elapsed(',
  'integral(',
  'time(',
  'now()',
  'fill(',
];
const SCHEMA_AGE_MS = 10_000;

/** Reads names from the server at most every ten seconds. */
export class Completer {
  readonly #session: Session;
  #names: readonly string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #readFor = '';

  constructor(session: Session) {
    this.#session = session;
  }

  /** Candidates for the last word of a line, as `node:readline` wants them. */
  async complete(line: string): Promise<[string[], string]> {
    const word = /["\w.-]*$/.exec(line)?.[0] ?? '';
    const isFirst = line.trimStart() === word;
    const names = await this.#schemaNames();
    const candidates = [...(isFirst ? COMMANDS : [...FUNCTIONS, ...names]), ...KEYWORDS];
    const wanted = word.toLowerCase();
    const hits = candidates.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
    return [[...new Set(hits)], word];
  }

  async #schemaNames(): Promise<readonly string[]> {
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
      this.#names = [
        ...new Set(
          series.flatMap((one) =>
            (one.values ?? []).map(([name]) => formatIdentifier(String(name))),
          ),
        ),
      ];
    } catch {
      // Completion is a convenience: without an answer there are only keywords.
      this.#names = [];
    }
    return this.#names;
  }
}
