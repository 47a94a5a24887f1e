// The directory to damage: every kind of file, two databases, deletes, and the reads of a client.
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { columnValue } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { openStorageInline } from '@tidemark/storage';
import type { PolicyRef, StorageEngine } from '@tidemark/storage-api';

/** Opens a directory as the service does, without background work. */
export function openSubject(directory: string, servesDamaged = false): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false, servesDamaged });
}

const WEEK = 7n * 86_400n * 1_000_000_000n;
const EVERYTHING = { start: -(2n ** 62n), end: 2n ** 62n };
const { signal } = new AbortController();
const utf8 = new TextEncoder();

const DATABASES: Readonly<Record<string, readonly string[]>> = {
  one: ['m', 'n', 'many'],
  two: ['m'],
};
const FIELDS = [
  { name: 'f', type: 'float' },
  { name: 's', type: 'string' },
] as const;

async function write(engine: StorageEngine, database: string, lines: readonly string[]) {
  const policy: PolicyRef = {
    id: database === 'one' ? 1 : 2,
    database,
    retentionPolicy: 'autogen',
    shardDurationNanos: WEEK,
    maxSeriesPerDatabase: 0,
    maxValuesPerTag: 0,
  };
  const body = utf8.encode(lines.join('\n'));
  await engine.writeLines({ policy, body, precision: 'ns', now: 0n });
}

/** Rows of two shards, in order and not, of some series with texts. */
function lines(measurement: string, round: number): string[] {
  return Array.from({ length: 60 }, (_, i) => {
    const time = BigInt((i * 7 + round) % 100) + (i % 2 === 0 ? 0n : WEEK);
    return `${measurement},t=v${i % 5} f=${round * 100 + i},s="text ${i % 4}" ${time}`;
  });
}

/** Enough series for a checkpoint at the stop. */
const MANY = Array.from({ length: 2500 }, (_, i) => `many,t=v${i} f=${i} 1`);

/**
 * Fills `clean` as a stop leaves it and `killed` as a kill does: segments of several flushes, two
 * of them merged, tombstones that are not compacted, and three log files with rows and a delete.
 */
export async function fillSubjects(clean: string, killed: string): Promise<void> {
  let engine = await openSubject(clean);
  await write(engine, 'one', [...lines('m', 0), ...lines('n', 0)]);
  await write(engine, 'two', lines('m', 0));
  await engine.flush();
  await write(engine, 'one', lines('m', 1));
  await engine.flush();
  await engine.compact();
  await write(engine, 'one', [...lines('m', 2), ...MANY]);
  await engine.delete({ database: 'one', measurements: ['n'], timeRange: { start: 0n, end: 20n } });
  await engine.flush();
  for (let round = 3; round < 6; round++) {
    await write(engine, 'one', lines('m', round));
    await write(engine, 'two', lines('m', round));
    await engine.delete({ database: 'two', timeRange: { start: 0n, end: BigInt(round) } });
    await write(engine, 'one', lines('n', round));
    if (round === 5) cpSync(clean, killed, { recursive: true });
    await engine.close();
    if (round < 5) engine = await openSubject(clean);
  }
}

/** Files that can be damaged: the owner's is for people, and the reserve is for its room. */
export function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !/owner\.json|reserve/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** The outcome of one question. */
export type Answer =
  | { readonly kind: 'answer'; readonly rows: readonly string[]; readonly isPartial: boolean }
  | { readonly kind: 'refused'; readonly error: Error };

/**
 * Asks for all rows, their number, and the schema, of every measurement. By the name of the
 * question.
 */
export async function askAll(
  engine: StorageEngine,
  takesPartial: boolean,
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const ask = async (
    name: string,
    read: (options: { onPartial?: () => void }) => AsyncIterable<readonly string[]>,
  ): Promise<void> => {
    let isPartial = false;
    const onPartial = (): void => void (isPartial = true);
    const rows: string[] = [];
    try {
      for await (const some of read(takesPartial ? { onPartial } : {})) rows.push(...some);
      answers.set(name, { kind: 'answer', rows, isPartial });
    } catch (error) {
      answers.set(name, { kind: 'refused', error: error as Error });
    }
  };
  const snapshot = engine.source.snapshot();
  for (const [database, measurements] of Object.entries(DATABASES)) {
    const filter = { database };
    await ask(`measurements of ${database}`, async function* names({ onPartial }) {
      for await (const batch of eachBatch(
        snapshot.schema({ kind: 'measurements', filter }, { signal, onPartial }),
      )) {
        if (batch.kind === 'measurements') yield batch.names;
      }
    });
    await ask(`series of ${database}`, async function* keys({ onPartial }) {
      for await (const batch of eachBatch(
        snapshot.schema({ kind: 'series', filter }, { signal, onPartial }),
      )) {
        if (batch.kind === 'series') yield batch.keys;
      }
    });
    for (const measurement of measurements) {
      const source = { database, retentionPolicy: 'autogen', measurement };
      const request = { source, timeRange: EVERYTHING, descending: false } as const;
      await ask(`rows of ${database}.${measurement}`, async function* rows({ onPartial }) {
        const asked = { ...request, groupBy: 'all', fields: FIELDS } as const;
        for await (const batch of eachBatch(snapshot.scan(asked, { signal, onPartial }))) {
          yield Array.from(batch.times, (time, i) => {
            const values = batch.columns.map((column) => String(columnValue(column, i)));
            return `${database} ${batch.seriesKey} ${time} ${values.join(' ')}`;
          });
        }
      });
      await ask(`count of ${database}.${measurement}`, async function* count({ onPartial }) {
        const aggregates = [{ field: 'f', type: 'float', functions: ['count', 'sum'] }] as const;
        const asked = { ...request, sources: [request.source], groupBy: [], aggregates };
        for await (const batch of eachBatch(snapshot.aggregate(asked, { signal, onPartial }))) {
          yield batch.fields.flat().map(({ values }) => String(columnValue(values, 0)));
        }
      });
    }
  }
  snapshot.close();
  return answers;
}
