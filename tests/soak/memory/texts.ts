// Texts and tags of every size, asked for by many clients at once in every kind of statement: time
// and resident memory of each. The same workload runs against any server with the same interface.
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

/** Measurement `tagged`: series with a long tag `a`, a number `v` each. */
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
      lines.push(`tagged,a=${randomText(`tag ${n}`, tagLength)} v=${n} ${n + 1}`);
    }
    return lines.join('\n');
  });
  const name = `load ${series} tags of ${tagLength} B`;
  return writeAll(subject, name, { database, bodies, writers: 2 });
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

/** Sends all bodies; the time is that of the writes, one writer's at least. */
export async function writeAll(
  subject: Subject,
  name: string,
  { database, bodies, writers }: Writes,
): Promise<Measured & { readonly worstMs: number; readonly p99Ms: number }> {
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

/** One statement by several clients at once. */
export async function measure(
  subject: Subject,
  { text, isChunked = false }: Statement,
  { database, clients }: { readonly database: string; readonly clients: number },
): Promise<Measured> {
  resetPeak(subject.pid);
  const started = performance.now();
  const answers = await Promise.all(
    Array.from({ length: clients }, () => ask(subject.url, { text, isChunked, database })),
  );
  const errors = answers.filter((answer) => answer !== '');
  return {
    name: isChunked ? `${text} (chunked)` : text,
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
