// Logging: one sink that the process writes to, and any number of readers that follow the log over
// the API.
import { PassThrough } from 'node:stream';
import { formatRfc3339, LimitExceeded } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { LOG_SUBSCRIBER_QUEUE, LOG_SUBSCRIBERS } from '../limits.ts';
import { LogHistory } from './log-history.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const ORDER: readonly (LogLevel | 'off')[] = ['debug', 'info', 'warn', 'error', 'off'];

/** The final target of lines; pino's logger fits. */
export type LogSink = {
  readonly [level in LogLevel]: (fields: object, message: string) => void;
};

export type LogLine = {
  readonly ts: string;
  readonly lvl: LogLevel;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

export type LogFilter = {
  /** Fields that must have these values. */
  readonly fields: ReadonlyMap<string, string>;
  readonly minLevel: LogLevel;
  /** Only this level, instead of it and all above. */
  readonly isExact: boolean;
};

/** Logs with the name of a part of the engine. */
export type Logger = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

type Subscriber = { readonly filter: LogFilter; readonly write: (line: LogLine) => void };

export class LogHub {
  readonly #sink: LogSink;
  readonly #clock: Clock;
  readonly #subscribers = new Set<Subscriber>();
  readonly #redact: (text: string) => string;
  readonly #history = new LogHistory();
  #sourcesOf: ((line: LogLine) => readonly string[]) | undefined;
  #level: LogLevel | 'off';

  /** `redact` hides secrets in messages and fields. */
  constructor(
    sink: LogSink,
    clock: Clock,
    level: LogLevel | 'off',
    redact: (text: string) => string = (text) => text,
  ) {
    this.#redact = redact;
    this.#sink = sink;
    this.#clock = clock;
    this.#level = level;
  }

  setLevel(level: LogLevel | 'off'): void {
    this.#level = level;
  }

  /** Keeps the latest lines of tasks, with the databases of their data. */
  keepHistory(sourcesOf: (line: LogLine) => readonly string[]): void {
    this.#sourcesOf = sourcesOf;
  }

  /** A logger whose lines carry `service`. */
  logger(service: string): Logger {
    return (level, message, fields = {}) => this.#log(level, message, { service, ...fields });
  }

  #log(level: LogLevel, message: string, given: Readonly<Record<string, unknown>>): void {
    const task = level === 'debug' || this.#sourcesOf === undefined ? undefined : given['task'];
    const isKept = typeof task === 'string';
    const isWritten = ORDER.indexOf(level) >= ORDER.indexOf(this.#level);
    if (!isWritten && !isKept && this.#subscribers.size === 0) return;
    const msg = this.#redact(message);
    const fields = this.#redactFields(given);
    if (isWritten) this.#sink[level](sinkFields(fields), msg);
    if (!isKept && this.#subscribers.size === 0) return;
    const line = { ts: formatRfc3339(this.#clock.now()), lvl: level, msg, fields };
    if (isKept) this.#history.add(task, line, this.#sourcesOf?.(line) ?? []);
    for (const subscriber of this.#subscribers) {
      if (wants(subscriber.filter, line)) subscriber.write(line);
    }
  }

  #redactFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const entries = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string'
        ? this.#redact(value)
        : value instanceof Error
          ? this.#redact(String(value))
          : value,
    ]);
    return Object.fromEntries(entries) as Readonly<Record<string, unknown>>;
  }

  /**
   * Follows what is logged from now on, independent of the sink's level, after the kept lines of
   * `pastOf` if it is given. A reader that is too slow loses lines.
   */
  follow(
    filter: LogFilter,
    {
      format,
      signal,
      pastOf,
      mayRead,
    }: {
      readonly format: 'json' | 'logfmt';
      readonly signal: AbortSignal;
      /** A task. */
      readonly pastOf?: string | undefined;
      /** Called for each line; `sources` are the databases of the data of a kept one. */
      readonly mayRead: (line: LogLine, sources?: readonly string[]) => Promise<boolean>;
    },
  ): PassThrough {
    if (this.#subscribers.size >= LOG_SUBSCRIBERS.value) {
      throw new LimitExceeded(`too many readers follow the log: ${LOG_SUBSCRIBERS.value} may`);
    }
    const stream = new PassThrough({ highWaterMark: 1 << 20 });
    const print = format === 'json' ? printJsonLine : printLogfmt;
    let waiting = 0;
    const send = async (line: LogLine, isAllowed: Promise<boolean>): Promise<void> => {
      if (await isAllowed) stream.write(`${print(line)}\n`, () => waiting--);
      else waiting--;
    };
    // Lines keep their order, however long an answer takes.
    let last: Promise<void> = Promise.resolve();
    const write = (line: LogLine, sources?: readonly string[]): void => {
      if (waiting >= LOG_SUBSCRIBER_QUEUE.value) return;
      waiting++;
      const isAllowed = mayRead(line, sources).catch(() => false);
      last = last.then(() => send(line, isAllowed));
    };
    const subscriber: Subscriber = { filter, write };
    for (const { line, sources } of pastOf === undefined ? [] : this.#history.of(pastOf)) {
      if (wants(filter, line)) write(line, sources);
    }
    this.#subscribers.add(subscriber);
    const end = (): void => {
      this.#subscribers.delete(subscriber);
      stream.end();
    };
    stream.on('close', end);
    signal.addEventListener('abort', end, { once: true });
    return stream;
  }

  /** Ends all readers. */
  close(): void {
    this.#subscribers.clear();
  }
}

// The process has its own names of services; a part of the engine is a component there. Points are
// data, and not for its log.
function sinkFields({ service, point: _, ...fields }: Readonly<Record<string, unknown>>): object {
  return { component: service, ...fields };
}

function wants(filter: LogFilter, line: LogLine): boolean {
  const isLoud = filter.isExact
    ? line.lvl === filter.minLevel
    : ORDER.indexOf(line.lvl) >= ORDER.indexOf(filter.minLevel);
  if (!isLoud) return false;
  for (const [name, value] of filter.fields) {
    const have = line.fields[name];
    if (have === undefined || String(have) !== value) return false;
  }
  return true;
}

function printJsonLine(line: LogLine): string {
  const { ts, lvl, msg, fields } = line;
  return JSON.stringify({ ts, lvl, msg, ...fields }, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

function printLogfmt(line: LogLine): string {
  const { ts, lvl, msg, fields } = line;
  const pairs = Object.entries({ ts, lvl, msg, ...fields });
  return pairs.map(([name, value]) => `${name}=${logfmtValue(value)}`).join(' ');
}

function logfmtValue(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  return /[\s="]/.test(text) || text === '' ? JSON.stringify(text) : text;
}
