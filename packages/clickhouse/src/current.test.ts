// The same SQL on a current ClickHouse, which the package `chdb` has in one process. It takes half
// a gigabyte and is not part of the installation: `npm run soak:chdb` puts it there first.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@tidemark/core';
import type { SeriesSource } from '@tidemark/query';
import { openStorage } from '@tidemark/storage';
import type { PolicyRef } from '@tidemark/storage';
import { describe, expect, test } from 'vitest';

import { openClickHouse } from './index.ts';
import { startChdb } from './testing/chdb-server.ts';
import type { ChdbPackage } from './testing/chdb-server.ts';
import {
  aggregated,
  aggregateRequests,
  fill,
  scanned,
  scanRequests,
} from './testing/compare-sources.ts';

const PACKAGE = 'chdb';

function chdb(): ChdbPackage | undefined {
  try {
    return createRequire(import.meta.url)(PACKAGE) as ChdbPackage;
  } catch {
    return undefined; // It is not there.
  }
}

const found = chdb();
const policy: PolicyRef = {
  id: 1,
  database: 'd',
  retentionPolicy: 'autogen',
  shardDurationNanos: 604_800_000_000_000n,
  maxSeriesPerDatabase: 0,
  maxValuesPerTag: 0,
};

describe.runIf(found !== undefined)('a current ClickHouse', () => {
  test('answers as the embedded engine does', async () => {
    const server = await startChdb(found!);
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-current-'));
    const embedded = await openStorage({
      directory,
      allowUnsigned: true,
      hasBackgroundWork: false,
    });
    const engine = await openClickHouse({
      urls: [server.url],
      database: 'tidemark',
      cluster: 'tidemark',
      givesPartialAnswers: false,
      readTimeoutMs: 0,
      ingest: { allowUnsigned: true, fieldTypes: 'shard', maxShards: 0, maxBadLines: 0 },
      writeQueueMaxBytes: 1 << 26,
      clock: systemClock(),
    });
    const answers = async (source: SeriesSource): Promise<readonly unknown[]> => {
      const all: unknown[] = [];
      for (const one of scanRequests(policy)) all.push(await scanned(source, one));
      for (const one of aggregateRequests(policy)) all.push(await aggregated(source, one));
      return all;
    };
    try {
      await fill(engine, policy);
      await fill(embedded, policy);

      expect(await answers(engine.source)).toEqual(await answers(embedded.source));

      await engine.delete({ database: 'd', measurements: ['m'] });
      const [request] = scanRequests(policy);
      expect(await scanned(engine.source, request!)).toEqual([]);
    } finally {
      await engine.close();
      await embedded.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
