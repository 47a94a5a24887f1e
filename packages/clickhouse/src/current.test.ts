// The same SQL on a current ClickHouse, which the package `chdb` has in one process. It takes half
// a gigabyte and is not part of the installation: `npm run soak:chdb` puts it there first.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { SeriesSource } from '@tidemark/query';
import { openStorage } from '@tidemark/storage';
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
import { openGate } from './testing/gate.ts';
import { expectLateInsertToBeHidden, expectRefusedWriteToLose } from './testing/late-inserts.ts';
import { TEST_SETTINGS, testPolicy } from './testing/test-storage.ts';

const PACKAGE = 'chdb';

function chdb(): ChdbPackage | undefined {
  try {
    return createRequire(import.meta.url)(PACKAGE) as ChdbPackage;
  } catch {
    return undefined; // It is not there.
  }
}

const found = chdb();
const policy = testPolicy(1);

describe.runIf(found !== undefined)('a current ClickHouse', () => {
  test('answers as the embedded engine does', async () => {
    const server = await startChdb(found!);
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-current-'));
    const embedded = await openStorage({
      directory,
      ingest: { allowUnsigned: true },
      hasBackgroundWork: false,
    });
    const engine = await openClickHouse({
      ...TEST_SETTINGS,
      urls: [server.url],
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

      await engine.delete({ database: policy.database, measurements: ['m'] });
      const [request] = scanRequests(policy);
      expect(await scanned(engine.source, request!)).toEqual([]);
    } finally {
      await engine.close();
      await embedded.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test('lets inserts that come late lose, as the oldest version does', async () => {
    const server = await startChdb(found!);
    const gate = await openGate(server.url);
    const twoFrontEnds = async () => ({
      gates: [gate],
      one: await openClickHouse({ ...TEST_SETTINGS, urls: [gate.url], writeTimeoutMs: 2000 }),
      two: await openClickHouse({ ...TEST_SETTINGS, urls: [server.url] }),
    });
    try {
      await expectRefusedWriteToLose(testPolicy(1), await twoFrontEnds());
      await expectLateInsertToBeHidden(testPolicy(2), await twoFrontEnds());
    } finally {
      await gate.close();
      await server.close();
    }
  });
});
