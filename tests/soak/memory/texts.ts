// Strings and tags of every size, requested by many clients at once in every kind of statement:
// time and resident memory of each. The same workload runs against any server with the same
// interface.
import { createHash } from 'node:crypto';

import { query, send } from '@tidemark/testkit';

import { peakBytes, resetPeak } from './peak.ts';

/** A server, and the process whose memory counts. */
export type Subject = { readonly url: string; readonly pid: number };

export type Measured = {
  readonly name: string;
  readonly clients: number;
  readonly seconds: number;
  readonly peakMiB: number;
  /** Answers with a series or nothing, and those with an error; the texts of the errors. */
  readonly answered: number;
  readonly refused: number;
  readonly errors: readonly string[];
};

/** Random hexadecimal, which no codec makes smaller than half. */
export function randomText(seed: string, length: number): string {
  const pieces: string[] = [];
  for (let i = 0; i * 128 < length; i++) {
    pieces.push(createHash('sha512').update(`${seed} ${i}`).digest('hex'));
  }
  return pieces.join('').slice(0, length);
}

export type TextsWorkload = {
  readonly database: string;
  readonly texts: number;
  readonly textLength: number;
  readonly series: number;
};

/** Measurement `big`: texts `t`, numbers `n`, tag `h`. */
export async function loadTexts(subject: Subject, workload: TextsWorkload): Promise<Measured> {
  const { database, texts, textLength, series } = workload;
  await query(subject.url, `CREATE DATABASE ${database}`);
  // Made before the measurement: making them takes longer than storing them.
  const linesPerWrite = Math.max(1, Math.min(5000, Math.floor((1600 << 10) / textLength)));
  const bodies = bodiesOf(Math.ceil(texts / linesPerWrite), (number) => {
    const lines: string[] = [];
    const end = Math.min(texts, (number + 1) * linesPerWrite);
    for (let n = number * linesPerWrite; n < end; n++) {
      lines.push(`big,h=h${n % series} t="${randomText(`${n}`, textLength)}",n=${n}i ${n + 1}`);
    }
    return lines.join('\n');
  });
  return writeAll(subject, `load ${texts} texts of ${textLength} B`, {
    database,
    bodies,
    writers: 2,
  });
}

/**
 * Measurement `tagged`: series with a long tag `a`, a number `v` each, and the same as `value`,
 * which Prometheus reads.
 */
export async function loadTags(
  subject: Subject,
  workload: { readonly database: string; readonly series: number; readonly tagLength: number },
): Promise<Measured> {
  const { database, series, tagLength } = workload;
  await query(subject.url, `CREATE DATABASE ${database}`);
  const perWrite = Math.max(1, Math.min(5000, Math.floor((1600 << 10) / tagLength)));
  const bodies = bodiesOf(Math.ceil(series / perWrite), (number) => {
    const lines: string[] = [];
    for (let n = number * perWrite; n < Math.min(series, (number + 1) * perWrite); n++) {
      const tag = randomText(`tag ${n}`, tagLength);
      lines.push(`tagged,a=${tag} v=${n},value=${n} ${n + 1}`);
    }
    return lines.join('\n');
  });
  const name = `load ${series} tags of ${tagLength} B`;
  return writeAll(subject, name, { database, bodies, writers: 2 });
}

const EVENT_SERIES = 200;
const LINES_PER_WRITE = 5000;
const EVENT_LEVELS = ['debug', 'info', 'notice', 'warning', 'error'];

/** Measurement `events`: a message of 80 to 200 bytes, nearly all distinct, a level and a code. */
export async function loadEvents(
  subject: Subject,
  workload: { readonly database: string; readonly events: number; readonly writers: number },
): Promise<Writing> {
  const { database, events, writers } = workload;
  await query(subject.url, `CREATE DATABASE ${database}`);
  const bodies = bodiesOf(Math.ceil(events / LINES_PER_WRITE), (number) => {
    const lines: string[] = [];
    const end = Math.min(events, (number + 1) * LINES_PER_WRITE);
    for (let n = number * LINES_PER_WRITE; n < end; n++) {
      const noise = randomText(`event ${n >> 3}`, 256).slice((n & 7) * 16);
      const message = `request ${n} from 10.0.${n % 251}.${n % 13} took ${n % 977} ms: ${noise}`;
      const level = EVENT_LEVELS[(n * 7) % EVENT_LEVELS.length]!;
      const text = message.slice(0, 80 + ((n * 31) % 121));
      const time = n * 100_000;
      lines.push(
        `events,host=h${n % EVENT_SERIES} message="${text}",level="${level}",code=${n % 600}i ${time}`,
      );
    }
    return lines.join('\n');
  });
  return writeAll(subject, `load ${events} events`, { database, bodies, writers });
}

/** Makes bodies while others are sent: all of them would fill the memory. */
function* bodiesOf(count: number, make: (number: number) => string): Generator<string> {
  for (let number = 0; number < count; number++) yield make(number);
}

type Writes = {
  readonly database: string;
  readonly bodies: Iterator<string>;
  readonly writers: number;
};

export type Writing = Measured & { readonly worstMs: number; readonly p99Ms: number };

/** Sends all bodies; the time is that of the writes, one writer's at least. */
export async function writeAll(
  subject: Subject,
  name: string,
  { database, bodies, writers }: Writes,
): Promise<Writing> {
  resetPeak(subject.pid);
  const times: number[] = [];
  const errors: string[] = [];
  const started = performance.now();
  let makingMs = 0;
  const writer = async (): Promise<void> => {
    for (;;) {
      const before = performance.now();
      const next = bodies.next();
      if (next.done === true) return;
      const from = performance.now();
      makingMs += from - before;
      const answer = await send(`${subject.url}/write?db=${database}`, {
        method: 'POST',
        body: next.value,
      });
      times.push(performance.now() - from);
      if (answer.status !== 204) errors.push(answer.text.slice(0, 200));
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  times.sort((a, b) => a - b);
  return {
    name,
    clients: writers,
    seconds: (performance.now() - started - makingMs) / 1000,
    peakMiB: Math.round(peakBytes(subject.pid) / (1 << 20)),
    answered: times.length - errors.length,
    refused: errors.length,
    errors: [...new Set(errors)],
    worstMs: times.at(-1) ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}

export type Statement = {
  readonly text: string;
  readonly isChunked?: boolean;
  /** The clients keep their connections and never read. */
  readonly isUnread?: boolean;
};

export type Clients = { readonly database: string; readonly clients: number };

/** One statement by several clients at once. */
export function measure(
  subject: Subject,
  { text, isChunked = false }: Statement,
  { database, clients }: Clients,
): Promise<Measured> {
  const name = isChunked ? `${text} (chunked)` : text;
  return atOnce(subject, { name, clients }, () => ask(subject.url, { text, isChunked, database }));
}

/** All series of a measurement by several clients at once, as Prometheus reads them. */
export function measureRemoteRead(
  { url, pid }: Subject,
  measurement: string,
  { database, clients }: Clients,
): Promise<Measured> {
  return atOnce({ url, pid }, { name: 'Prometheus read', clients }, async () => {
    const body = readRequest(measurement);
    const answer = await fetch(`${url}/api/v1/prom/read?db=${database}`, { method: 'POST', body });
    let last = '';
    for await (const piece of answer.body ?? []) {
      last = `${last}${Buffer.from(piece).toString('latin1')}`.slice(-600);
    }
    return answer.ok ? '' : last;
  });
}

/** A request for all samples of a measurement: a message of Prometheus in one block of snappy. */
function readRequest(measurement: string): Buffer {
  const field = (tag: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.of(tag, bytes.length), bytes]);
  const isNamed = Buffer.concat([
    field(0x12, Buffer.from('__name__')),
    field(0x1a, Buffer.from(measurement)),
  ]);
  const end = Buffer.of(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
  const message = field(0x0a, Buffer.concat([end, field(0x1a, isNamed)]));
  return Buffer.concat([Buffer.of(message.length, (message.length - 1) << 2), message]);
}

/** Asks as many times at once as there are clients; an answer is an error, or empty. */
async function atOnce(
  subject: Subject,
  { name, clients }: { readonly name: string; readonly clients: number },
  request: () => Promise<string>,
): Promise<Measured> {
  resetPeak(subject.pid);
  const started = performance.now();
  const answers = await Promise.all(Array.from({ length: clients }, request));
  const errors = answers.filter((answer) => answer !== '');
  return {
    name,
    clients,
    seconds: (performance.now() - started) / 1000,
    peakMiB: Math.round(peakBytes(subject.pid) / (1 << 20)),
    answered: clients - errors.length,
    refused: errors.length,
    errors: [...new Set(errors)],
  };
}

/** Reads an answer without keeping it; the error that it ends with, or nothing. */
async function ask(
  url: string,
  asked: { readonly text: string; readonly isChunked: boolean; readonly database: string },
): Promise<string> {
  const form = new URLSearchParams({ q: asked.text, db: asked.database, epoch: 'ns' });
  if (asked.isChunked) form.set('chunked', 'true');
  try {
    // Packing an answer takes longer than making it.
    const headers = { 'Accept-Encoding': 'identity' };
    const answer = await fetch(`${url}/query`, { method: 'POST', headers, body: form });
    let last = '';
    for await (const piece of answer.body ?? []) {
      last = `${last}${Buffer.from(piece).toString('latin1')}`.slice(-600);
    }
    const error = /"error":"((?:[^"\\]|\\.)*)"/.exec(last)?.[1];
    return error ?? (answer.status === 200 ? '' : `${answer.status}: ${last}`);
  } catch (error) {
    return `no answer: ${String((error as Error).cause ?? error)}`;
  }
}
