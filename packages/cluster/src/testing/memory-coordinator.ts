// A coordinator in memory, for simulations: one server, and a connection to it for each instance
// that may be slow, cut, or lose responses. Data that the server has not synced is lost when it
// crashes.
import { randomUUID } from 'node:crypto';
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import { Superseded } from '../coordinator.ts';
import type {
  AppendOptions,
  Coordinator,
  Entry,
  LogEnds,
  LogRecord,
  ReadOptions,
  SharedLog,
  SharedRegister,
} from '../coordinator.ts';
import { FIRST_LEVEL, LEADER, vacant } from '../leader-entry.ts';
import { LIMITS } from '../limits.ts';

/** Small, so that whole stores are several records. */
const MESSAGE_BYTES = 4096;

type LogName = 'changes' | 'points';

type StoredLog = {
  records: LogRecord[];
  first: number;
  last: number;
  /** Records by the id that their writer gave them. */
  ids: Map<string, number>;
  /** Subjects of the records that have one, by number. */
  subjects: Map<number, string>;
};

type Stored = {
  readonly entries: Map<string, Entry>;
  revision: number;
  readonly logs: Readonly<Record<LogName, StoredLog>>;
};

function empty(): Stored {
  const log = (): StoredLog => ({
    records: [],
    first: 1,
    last: 0,
    ids: new Map(),
    subjects: new Map(),
  });
  return { entries: new Map(), revision: 0, logs: { changes: log(), points: log() } };
}

/** Records do not change, so only the lists are copied. */
function copyOf({ entries, revision, logs }: Stored): Stored {
  const copy = ({ records, ids, subjects, ...rest }: StoredLog): StoredLog => ({
    ...rest,
    records: [...records],
    ids: new Map(ids),
    subjects: new Map(subjects),
  });
  return {
    entries: new Map(entries),
    revision,
    logs: { changes: copy(logs.changes), points: copy(logs.points) },
  };
}

export class MemoryServer {
  isUp = true;
  #stored = empty();
  #synced = empty();
  readonly #readers = { changes: new Set<() => void>(), points: new Set<() => void>() };
  readonly #onPoint: (record: LogRecord) => void;

  /** `onPoint` is called with every record of the log of points. */
  constructor(onPoint: (record: LogRecord) => void = () => undefined) {
    this.#onPoint = onPoint;
  }

  /** Number of records appended to each log since the beginning. */
  readonly appends = { changes: 0, points: 0 };

  /** Resolves when a log has had more than `seen` appends, or the signal is aborted. */
  appended(name: LogName, seen: number, signal: AbortSignal): Promise<void> {
    if (this.appends[name] > seen || signal.aborted) return Promise.resolve();
    const readers = this.#readers[name];
    return new Promise((resolve) => {
      const wake = (): void => {
        readers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      readers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Appends a record and wakes its readers. */
  append(
    name: LogName,
    of: Omit<LogRecord, 'sequence'> & {
      readonly id: string;
      readonly subject?: string | undefined;
    },
  ): number {
    const log = this.#stored.logs[name];
    const { id, subject, ...record } = of;
    log.last++;
    this.appends[name]++;
    const appended = { ...record, sequence: log.last };
    log.records.push(appended);
    log.ids.set(id, log.last);
    if (subject !== undefined) log.subjects.set(log.last, subject);
    if (name === 'points') this.#onPoint(appended);
    for (const wake of this.#readers[name]) wake();
    return log.last;
  }

  /** Starts with the state that a cluster leaves whose instances support this level. */
  begin(level: number): void {
    const left = vacant({ id: '', url: '', term: 0, isServing: false, level });
    this.#stored.revision++;
    const { revision } = this.#stored;
    this.#stored.entries.set(LEADER, { text: JSON.stringify(left), revision });
  }

  get stored(): Stored {
    return this.#stored;
  }

  /** Syncs: what is stored now survives a crash. */
  sync(): void {
    this.#synced = copyOf(this.#stored);
  }

  /** Returns to the synced state, as after a loss of power. */
  loseUnsynced(): void {
    this.#stored = copyOf(this.#synced);
  }

  /** Loses everything, as with a lost disk. */
  loseDisk(): void {
    this.#stored = empty();
    this.#synced = empty();
  }
}

/** The fate of one instance's messages; the seed decides. */
export type Network = {
  /** Nothing gets through. */
  readonly isCut: () => boolean;
  /** How long a message takes, in ms. */
  readonly delayMs: () => number;
  /** Whether the answer to a request is lost after the request was carried out. */
  readonly isAnswerLost: () => boolean;
  /** Number of records read with one request. Default: all. */
  readonly recordsAtOnce?: number;
};

type Access = {
  readonly server: MemoryServer;
  readonly network: Network;
  readonly clock: Clock;
  /**
   * Not aborted while the instance runs; one that was killed gets no answers and asks for nothing.
   */
  readonly signal: AbortSignal;
};

export class MemoryCoordinator implements Coordinator {
  readonly register: SharedRegister;
  readonly changes: SharedLog;
  readonly points: SharedLog;

  constructor(access: Access) {
    this.register = registerOf(access);
    this.changes = logOf(access, 'changes');
    this.points = logOf(access, 'points');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Asks the server; throws `Unavailable` when no answer comes. */
async function ask<T>(access: Access, run: (stored: Stored) => T): Promise<T> {
  const { server, network, clock, signal } = access;
  const isLost = (): boolean => network.isCut() || !server.isUp;
  await sleep(clock, network.delayMs(), signal);
  if (isLost()) return unanswered(access);
  const answer = run(server.stored);
  await sleep(clock, network.delayMs(), signal);
  return isLost() || network.isAnswerLost() ? unanswered(access) : answer;
}

async function unanswered({ clock, signal }: Access): Promise<never> {
  await sleep(clock, LIMITS.requestMs.value, signal);
  throw new Unavailable('the coordinator does not answer');
}

/** Never ends for an instance that was killed meanwhile. */
async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms);
  if (signal.aborted) await new Promise(() => undefined);
}

function registerOf(access: Access): SharedRegister {
  const set = (stored: Stored, key: string, text: string): number => {
    stored.revision++;
    stored.entries.set(key, { text, revision: stored.revision });
    return stored.revision;
  };
  return {
    get: (key) => ask(access, ({ entries }) => entries.get(key)),
    list: (prefix) =>
      ask(access, ({ entries }) => {
        const found = [...entries].filter(([key]) => key.startsWith(`${prefix}.`));
        return new Map(found.sort().map(([key, entry]) => [key.slice(prefix.length + 1), entry]));
      }),
    put: (key, text) => ask(access, (stored) => set(stored, key, text)),
    change: (key, text, revision) =>
      ask(access, (stored) =>
        (stored.entries.get(key)?.revision ?? 0) === revision ? set(stored, key, text) : undefined,
      ),
    remove: (key) => ask(access, ({ entries }) => void entries.delete(key)),
  };
}

function logOf(access: Access, name: LogName): SharedLog {
  const ends = (): Promise<LogEnds> =>
    ask(access, ({ logs }) => {
      const { first, last, records } = logs[name];
      return { first, last, bytes: records.reduce((sum, { bytes }) => sum + bytes.length, 0) };
    });
  return {
    bytesMax: MESSAGE_BYTES,
    ends,
    append: (bytes, options) => append(access, name, { bytes, options }),
    read: (options) => read(access, name, options),
    purge: (before) =>
      ask(access, ({ logs }) => {
        const log = logs[name];
        log.records = log.records.filter(({ sequence }) => sequence >= before);
        log.first = Math.max(log.first, Math.min(before, log.last + 1));
        for (const sequence of log.subjects.keys())
          if (sequence < before) log.subjects.delete(sequence);
      }),
  };
}

async function append(
  access: Access,
  name: LogName,
  { bytes, options }: { readonly bytes: Uint8Array; readonly options: AppendOptions },
): Promise<number> {
  const { label = '', level = FIRST_LEVEL, subject, after, signal } = options;
  const id = randomUUID();
  const kept = Uint8Array.from(bytes);
  for (;;) {
    if (signal.aborted) throw new Unavailable('the term has ended');
    try {
      const sequence = await ask(access, ({ logs }) => {
        const log = logs[name];
        const known = log.ids.get(id);
        if (known !== undefined) return known;
        if (after !== undefined && after !== lastOf(log, subject)) return undefined;
        return access.server.append(name, { id, bytes: kept, label, level, subject });
      });
      if (sequence === undefined) throw new Superseded('another instance has taken over');
      return sequence;
    } catch (error) {
      // Like NATS's client: a request without an answer is repeated.
      if (!(error instanceof Unavailable)) throw error;
    }
  }
}

/** Number of the last record, or of the last one with a subject; 0 when there is none. */
function lastOf({ last, subjects }: StoredLog, subject: string | undefined): number {
  if (subject === undefined) return last;
  return [...subjects].findLast(([, own]) => own === subject)?.[0] ?? 0;
}

async function* read(
  access: Access,
  name: LogName,
  { first, through, signal }: ReadOptions,
): AsyncIterable<LogRecord> {
  let next = first;
  let failures = 0;
  while (!signal.aborted) {
    const seen = access.server.appends[name];
    let found: readonly LogRecord[] = [];
    try {
      found = await ask(access, ({ logs }) =>
        logs[name].records
          .filter(({ sequence }) => sequence >= next && sequence <= (through ?? sequence))
          .slice(0, access.network.recordsAtOnce),
      );
      failures = 0;
    } catch (error) {
      // A reader without an end waits for the coordinator; one that reads up to `through` gives up.
      if (through !== undefined && ++failures * LIMITS.requestMs.value >= LIMITS.silentMs.value)
        throw error;
    }
    for (const record of found) {
      if (signal.aborted) return;
      yield record;
      next = record.sequence + 1;
    }
    const isPart = found.length === access.network.recordsAtOnce;
    if (through !== undefined && failures === 0 && !isPart) return;
    if (found.length > 0 || failures > 0) continue;
    await access.server.appended(name, seen, signal);
    if (access.signal.aborted) await new Promise(() => undefined);
  }
}
