// What FROM names, as look-ups: one per retention policy, each naming a measurement once, so that answers have an order
// and no duplicates without being gathered.
import { compareBytes } from '@tidemark/core';
import type { MeasurementSource } from '@tidemark/influxql';

import { lookUp } from '../look-up.ts';
import type { RunContext } from '../operators/run-context.ts';
import type { SchemaFilter } from '../series-source.ts';
import { Members } from './members.ts';

/** Entries of a merged piece. */
const PIECE_ENTRIES = 2048;

export type SourceOptions = {
  readonly database: string;
  /** The policy in which a source is looked for; absent where it does not matter. `undefined` stands for no FROM. */
  readonly policyOf?: ((source: MeasurementSource | undefined) => string) | undefined;
};

/** Filters that together name what the sources do. Two of them differ in their retention policy. */
export async function sourceFilters(
  sources: readonly MeasurementSource[],
  { database, policyOf }: SourceOptions,
  run: RunContext,
): Promise<readonly SchemaFilter[]> {
  if (sources.length === 0) return [{ database, retentionPolicy: policyOf?.(undefined) }];
  const byPolicy = new Map<string | undefined, MeasurementSource[]>();
  for (const source of sources) {
    const policy = policyOf?.(source);
    const known = byPolicy.get(policy);
    if (known === undefined) byPolicy.set(policy, [source]);
    else known.push(source);
  }
  const filters: SchemaFilter[] = [];
  for (const [retentionPolicy, members] of byPolicy) {
    filters.push({ database, retentionPolicy, ...(await namesOf(members, database, run)) });
  }
  return filters;
}

async function namesOf(
  sources: readonly MeasurementSource[],
  database: string,
  run: RunContext,
): Promise<Pick<SchemaFilter, 'measurements' | 'measurementPattern'>> {
  const [only] = sources;
  if (sources.length === 1 && only?.pattern !== undefined) {
    return { measurementPattern: only.pattern };
  }
  const members = new Members(run);
  for (const { name, pattern } of sources) {
    if (pattern === undefined) {
      members.add(name ?? '');
      continue;
    }
    const filter = { database, measurementPattern: pattern };
    for await (const found of lookUp(run.query, 'measurements', { filter }, run.pace)) {
      for (const each of found.names) members.add(each);
    }
  }
  return { measurements: [...members.texts] };
}

/** Entries of one measurement, in order; pieces of one measurement follow each other. */
export type Piece<T> = { readonly measurement: string; readonly entries: readonly T[] };

/**
 * Several answers, each in the order of measurements and then of entries, as one in that order without duplicates. Reads
 * on when a piece is used up: no more than one of each is held.
 */
export async function* merged<T>(
  answers: readonly AsyncIterable<Piece<T>>[],
  compare: (a: T, b: T) => number,
): AsyncIterable<Piece<T>> {
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const heads = answers.map((answer) => new Head(answer[Symbol.asyncIterator]()));
  try {
    await Promise.all(heads.map((head) => head.next()));
    let measurement: string | undefined;
    let entries: T[] = [];
    for (;;) {
      const least = leastOf(heads, compare);
      const isSame = least?.measurement === measurement;
      if (measurement !== undefined && (!isSame || entries.length === PIECE_ENTRIES)) {
        yield { measurement, entries };
        entries = [];
      }
      if (least === undefined) return;
      measurement = least.measurement;
      entries.push(least.entry);
      for (const head of heads) {
        if (head.current === undefined || order(head.current, least, compare) !== 0) continue;
        if (!head.advance()) await head.next();
      }
    }
  } finally {
    await Promise.all(heads.map((head) => head.close()));
  }
}

type Entry<T> = { readonly measurement: string; readonly entry: T };

/** The next entry of an answer. */
class Head<T> {
  readonly #answer: AsyncIterator<Piece<T>>;
  #piece: Piece<T> | undefined;
  #at = 0;
  current: Entry<T> | undefined;

  constructor(answer: AsyncIterator<Piece<T>>) {
    this.#answer = answer;
  }

  /** Goes on within the piece; `false` at its end. */
  advance(): boolean {
    const piece = this.#piece;
    if (piece === undefined || ++this.#at >= piece.entries.length) return false;
    this.current = { measurement: piece.measurement, entry: piece.entries[this.#at]! };
    return true;
  }

  /** Goes on to the first entry of the next piece that has one; to nothing at the end. */
  async next(): Promise<void> {
    do {
      const step = await this.#answer.next();
      this.#piece = step.done === true ? undefined : step.value;
      this.#at = -1;
      this.current = undefined;
    } while (this.#piece !== undefined && !this.advance());
  }

  async close(): Promise<void> {
    await this.#answer.return?.();
  }
}

function leastOf<T>(
  heads: readonly Head<T>[],
  compare: (a: T, b: T) => number,
): Entry<T> | undefined {
  let least: Entry<T> | undefined;
  for (const { current } of heads) {
    if (current === undefined) continue;
    if (least === undefined || order(current, least, compare) < 0) least = current;
  }
  return least;
}

function order<T>(a: Entry<T>, b: Entry<T>, compare: (a: T, b: T) => number): number {
  return compareBytes(a.measurement, b.measurement) || compare(a.entry, b.entry);
}
