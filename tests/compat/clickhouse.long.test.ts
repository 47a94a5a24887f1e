// The recorded answers of the older system, replayed against the executable with its points on a
// ClickHouse cluster. A part of them on one node; with CLUSTER_CASES=all all of them on two shards
// of two replicas (`npm run soak:cluster-cases`). What differs from the embedded engine is listed
// with its reason in clickhouse-differences.json; a listed case that agrees after all fails as
// well.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hasPrograms, removeDirectory, runTidemark, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import clusterDifferences from './clickhouse-differences.json' with { type: 'json' };
import differences from './oracle-differences.json' with { type: 'json' };
import { nameOf, pathOf, readLines, replayCases } from './recorded-database-cases.ts';
import type { RecordedCase } from './recorded-database-cases.ts';

/** Where a cluster answers otherwise than the embedded engine. */
const ownDifferences: readonly { readonly case: string; readonly reason: string }[] =
  clusterDifferences;

/** 1 % of the 1884 cases. */
const MOST_DIFFERENCES = 18;

/** One in so many of the cases that only read, and of those that change something first. */
const EVERY =
  process.env['CLUSTER_CASES'] === 'all' ? { read: 1, change: 1 } : { read: 6, change: 12 };
const SHAPE = EVERY.read === 1 ? '2' : '1';

const isComplete = hasPrograms('clickhouse-server', '/usr/share/zookeeper/bin/zkServer.sh');

describe.runIf(isComplete)('recorded cases on a cluster', () => {
  let scratch: string;
  let server: Tidemark;

  const cluster = (verb: string, ...more: readonly string[]) =>
    runTidemark(['cluster', verb, '--dir', join(scratch, 'cluster'), ...more]);

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'tidemark-cluster-'));
    const up = await cluster('up', '--shards', SHAPE, '--replicas', SHAPE);
    const [, urls = ''] = /clickhouse=(\S+)/.exec(up.stdout) ?? [];
    server = await startTidemark({
      command: 'tsdb',
      args: [
        '--monitor-store-enabled=false',
        '--storage-engine=clickhouse',
        `--clickhouse-urls=${urls}`,
      ],
    });
  });

  afterAll(async () => {
    await server.stop();
    await cluster('down');
    await removeDirectory(server.directory);
    await removeDirectory(scratch);
  });

  test(
    'are answered as by the embedded engine, except for the listed ones',
    async () => {
      const all = await readLines<RecordedCase>(pathOf('oracle-cases.jsonl'));
      const counts = { read: 0, change: 0 };
      const chosen = all.filter(({ pre, request }) => {
        const kind = pre === undefined && request.method === 'GET' ? 'read' : 'change';
        return counts[kind]++ % EVERY[kind] === 0;
      });
      const file = join(scratch, 'cases.jsonl');
      await writeFile(file, chosen.map((one) => JSON.stringify(one)).join('\n'));

      const found = await replayCases(server.tsdb, file, join(scratch, 'report.jsonl'));

      const names = chosen.map(nameOf);
      const known = new Set(differences.map((one) => one.case));
      const listed = new Set(ownDifferences.map((one) => one.case));
      const own = found.filter(({ line }) => !known.has(names[line]!));
      const unlisted = own.filter(({ line }) => !listed.has(names[line]!));
      const differing = new Set(own.map(({ line }) => names[line]!));
      expect(unlisted.map(({ line, want, got }) => `${names[line]}\n${want}\n${got}`)).toEqual([]);
      expect(names.filter((name) => listed.has(name) && !differing.has(name))).toEqual([]);
      expect(chosen.length).toBeGreaterThan(250);
    },
    // An hour for all of them on a machine with other work.
    3_600_000,
  );

  test('every entry of the list belongs to a case and has a reason', async () => {
    const names = new Set(
      (await readLines<RecordedCase>(pathOf('oracle-cases.jsonl'))).map(nameOf),
    );

    expect(ownDifferences.filter((one) => !names.has(one.case))).toEqual([]);
    expect(ownDifferences.filter(({ reason }) => reason === '')).toEqual([]);
    expect(ownDifferences.length).toBeLessThanOrEqual(MOST_DIFFERENCES);
  });
});
