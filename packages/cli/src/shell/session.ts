// The state of a shell session, and the shell's own commands (use, format, insert …) that change
// it.
import { TsdbClient } from '@tidemark/client';
import { parseQuery } from '@tidemark/influxql';
import type { QueryOptions, ResponseDiagnostic, Result } from '@tidemark/client';

import { describeError, UsageError } from '../exit.ts';
import type { Colours } from '../output/colour.ts';
import { formatResponse, FORMATS } from './format.ts';
import type { Format } from './format.ts';
import { socketFetch } from './socket-fetch.ts';

export const PRECISIONS = ['rfc3339', 'h', 'm', 's', 'ms', 'u', 'ns'] as const;
export type Precision = (typeof PRECISIONS)[number];

export type Settings = {
  url: string;
  username: string;
  password: string;
  /** Used instead of user and password. */
  token: string;
  /** Path of a unix socket used instead of the address of `url`; empty for none. */
  socket: string;
  database: string;
  retentionPolicy: string;
  format: Format;
  precision: Precision;
  consistency: string;
  isPretty: boolean;
  hasTiming: boolean;
  hasSparklines: boolean;
  /** Whether results longer than the terminal go through a pager. */
  hasPager: boolean;
};

/** Output of a session. */
export type Screen = {
  /** Columns; `undefined` if nobody looks and nothing is shortened. */
  readonly width: () => number | undefined;
  readonly colours: Colours;
};

/** The result of one line of input. */
export type Outcome =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'exit' };

const HELP = `connect <host:port>        use another server
auth                       ask for user and password
use <db>[.<rp>]            database (and retention policy) of the following statements
insert [into <rp>] <line>  write line protocol
format column|csv|json     how answers are printed
precision rfc3339|h|m|s|ms|u|ns
consistency any|one|quorum|all
pretty | timing | spark    switch pretty JSON, timing, a drawn line per series on and off
pager                      switch the pager of long results on and off
settings                   show all of these
clear database|retention policy
history                    statements of this and earlier sessions
exit, quit, Ctrl-D

Everything else is a statement of the query language. A line that ends in the middle of one is continued;
Tab completes keywords, measurements, tags and fields; Ctrl-R looks for earlier statements.`;

type ShellCommand = (argument: string) => Outcome | Promise<Outcome>;

const output = (text: string): Outcome => ({ kind: 'output', text });
const failed = (text: string): Outcome => ({ kind: 'error', text: `ERR: ${text}` });

/** Statements that return rows; others are silent on success. */
const ASKING = /^(?:select|show-|explain)/;

/** One session: settings, a client, and a method that runs a line. */
export class Session {
  readonly settings: Settings;
  readonly #commands: ReadonlyMap<string, ShellCommand>;
  readonly #screen: Screen;

  constructor(settings: Settings, screen: Screen) {
    this.settings = settings;
    this.#screen = screen;
    this.#commands = new Map<string, ShellCommand>([
      ['help', () => output(HELP)],
      ['exit', () => ({ kind: 'exit' })],
      ['quit', () => ({ kind: 'exit' })],
      ['connect', (argument) => this.#connect(argument)],
      ['use', (argument) => this.#use(argument)],
      ['format', (argument) => this.#choose('format', FORMATS, argument)],
      [
        'precision',
        (argument) => this.#choose('precision', PRECISIONS, argument === '' ? 'ns' : argument),
      ],
      [
        'consistency',
        (argument) => this.#choose('consistency', ['any', 'one', 'quorum', 'all'], argument),
      ],
      ['pretty', () => this.#toggle('isPretty', 'pretty print')],
      ['timing', () => this.#toggle('hasTiming', 'timing')],
      ['spark', () => this.#toggle('hasSparklines', 'spark lines')],
      ['pager', () => this.#toggle('hasPager', 'pager')],
      ['settings', () => output(this.#describe())],
      ['clear', (argument) => this.#clear(argument)],
    ]);
  }

  /** The client for the current address and credentials. */
  client(): TsdbClient {
    const { url, username, password, token, socket } = this.settings;
    return new TsdbClient({
      url,
      ...(token === '' ? (username === '' ? {} : { username, password }) : { token }),
      ...(socket === '' ? {} : { fetch: socketFetch(socket) }),
      timeoutMs: 600_000,
    });
  }

  /** Runs a command of the shell, an insert or a statement. Never throws for input of the user. */
  async run(line: string, signal?: AbortSignal): Promise<Outcome> {
    const text = line.trim();
    const [word = ''] = text.split(/\s+/);
    const command = this.#commands.get(word.toLowerCase());
    if (text === '') return output('');
    try {
      if (command !== undefined && !/^(select|show)$/i.test(word))
        return await command(text.slice(word.length).trim());
      if (/^insert\s/i.test(text)) return await this.#insert(text.slice(word.length).trim());
      return await this.#query(text, signal);
    } catch (error) {
      if (signal?.aborted === true) return failed('cancelled');
      return failed(describeError(error));
    }
  }

  async #query(text: string, signal: AbortSignal | undefined): Promise<Outcome> {
    const { settings } = this;
    const options: QueryOptions = {
      database: settings.database === '' ? undefined : settings.database,
      retentionPolicy: settings.retentionPolicy === '' ? undefined : settings.retentionPolicy,
      epoch: settings.precision === 'rfc3339' ? undefined : settings.precision,
      signal,
    };
    const started = performance.now();
    const response = await this.client().query(text, options);
    const elapsed = settings.hasTiming ? `\n(${(performance.now() - started).toFixed(1)} ms)` : '';
    if (response.error !== undefined)
      return failed(response.error + caret(text, response.diagnostics?.[0]));
    const { colours } = this.#screen;
    const width = this.#screen.width();
    const statements = width === undefined ? [] : (parseQuery(text).query?.statements ?? []);
    const shown = formatResponse(response, {
      ...settings,
      width,
      colours,
      emptyText: (i) => (ASKING.test(statements[i]?.kind ?? '') ? 'no rows' : undefined),
    });
    const results = response.results ?? [];
    // `not executed` only follows an error.
    const failure = results.find((result) => result.error !== undefined);
    // Output for programs gets no remarks.
    const remarks =
      settings.format === 'column'
        ? results
            .filter((result) => result !== failure)
            .flatMap(({ diagnostics = [] }) =>
              diagnostics.map((one) => colours.note(remark(text, one))),
            )
        : [];
    const parts = [shown, ...remarks].filter((part) => part !== '');
    if (failure?.error === undefined) return output(parts.join('\n') + elapsed);
    const error = `ERR: ${failure.error}${this.#advice(text, failure)}`;
    return { kind: 'error', text: [...parts, error].join('\n') };
  }

  /** The position of an error in a statement, and advice for the shell. */
  #advice(text: string, { error = '', diagnostics = [] }: Result): string {
    if (error.startsWith('database name required') && this.settings.database === '')
      return '\n  choose one with: use <db>';
    return caret(text, diagnostics[0]);
  }

  async #insert(text: string): Promise<Outcome> {
    const into = /^into\s+(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$/is.exec(text);
    const retentionPolicy = into?.[1] ?? into?.[2] ?? this.settings.retentionPolicy;
    const { database, precision, consistency } = this.settings;
    if (database === '') return failed('database is required; choose one with: use <db>');
    const finding = await this.client().write(database, into?.[3] ?? text, {
      retentionPolicy: retentionPolicy === '' ? undefined : retentionPolicy,
      precision: precision === 'rfc3339' ? 'ns' : precision,
      consistency: consistency === '' ? undefined : consistency,
    });
    return output(finding === undefined ? '' : `note: ${finding}`);
  }

  async #connect(argument: string): Promise<Outcome> {
    if (argument === '') return failed('connect needs an address: connect 127.0.0.1:8086');
    this.settings.socket = '';
    this.settings.url = /^https?:\/\//.test(argument) ? argument : `http://${argument}`;
    return output(`connected to ${this.settings.url}, version ${await this.client().ping()}`);
  }

  async #use(argument: string): Promise<Outcome> {
    const parts = /^(?:"((?:[^"\\]|\\.)*)"|([^."\s]+))(?:\.(?:"((?:[^"\\]|\\.)*)"|(\S+)))?$/.exec(
      argument,
    );
    const database = parts?.[1] ?? parts?.[2];
    if (database === undefined) return failed('write: use <db> or use <db>.<rp>');
    const known = await this.client().rows('SHOW DATABASES');
    if (!known.some((series) => series.values?.some(([name]) => name === database) === true)) {
      return failed(
        `Database ${database} doesn't exist. Run SHOW DATABASES for a list of existing databases.`,
      );
    }
    this.settings.database = database;
    this.settings.retentionPolicy = parts?.[3] ?? parts?.[4] ?? '';
    const policy =
      this.settings.retentionPolicy === ''
        ? ''
        : `\nUsing retention policy ${this.settings.retentionPolicy}`;
    return output(`Using database ${database}${policy}`);
  }

  #choose<K extends 'format' | 'precision' | 'consistency'>(
    key: K,
    allowed: readonly Settings[K][],
    argument: string,
  ): Outcome {
    const value = allowed.find((one) => one === argument.toLowerCase());
    if (value === undefined) return failed(`${key} is one of ${allowed.join(', ')}`);
    this.settings[key] = value;
    return output('');
  }

  #toggle(key: 'isPretty' | 'hasTiming' | 'hasSparklines' | 'hasPager', label: string): Outcome {
    this.settings[key] = !this.settings[key];
    return output(`${label} ${this.settings[key] ? 'on' : 'off'}`);
  }

  #clear(argument: string): Outcome {
    if (/^(db|database)$/i.test(argument)) this.settings.database = '';
    else if (/^(rp|retention policy)$/i.test(argument)) this.settings.retentionPolicy = '';
    else return failed('write: clear database, or clear retention policy');
    return output('');
  }

  #describe(): string {
    return Object.entries(this.settings)
      .filter(([name]) => name !== 'password' && name !== 'token')
      .map(([name, value]) => `${name.padEnd(16)} ${String(value)}`)
      .join('\n');
  }
}

/** A finding in a statement that runs all the same, such as an unknown name. */
function remark(text: string, finding: ResponseDiagnostic): string {
  return `note: ${finding.message}${caret(text, finding)}`;
}

/**
 * The statement's line with a caret below the finding, and the hint; for a whole line only the
 * hint.
 */
export function caret(text: string, diagnostic: ResponseDiagnostic | undefined): string {
  if (diagnostic === undefined) return '';
  const start = text.lastIndexOf('\n', Math.max(0, diagnostic.position - 1)) + 1;
  const end = text.indexOf('\n', diagnostic.position);
  const line = text.slice(start, end === -1 ? undefined : end);
  const hint = diagnostic.hint === undefined ? '' : `\n  ${diagnostic.hint}`;
  const indent = diagnostic.position - start;
  const length = Math.max(1, Math.min(diagnostic.length, line.length - indent));
  if (length === line.trim().length) return hint;
  return `\n  ${line}\n  ${' '.repeat(indent)}${'^'.repeat(length)}${hint}`;
}

/** Checks a setting given as a flag. */
export function oneOf<T extends string>(flag: string, allowed: readonly T[], value: string): T {
  const found = allowed.find((one) => one === value.toLowerCase());
  if (found === undefined)
    throw new UsageError(`--${flag} is one of ${allowed.join(', ')}; got ${value}`);
  return found;
}
