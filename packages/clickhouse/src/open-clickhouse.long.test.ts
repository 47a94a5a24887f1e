// The storage engine on a real cluster of two shards of two replicas, compared with the model of a
// source in memory.
import { join } from 'node:path';

import { ALL_TIME, assert, columnValue } from '@tidemark/core';
import { Driver, eachBatch } from '@tidemark/query';
import type { Predicate, ScanRequest, SchemaRequest, SeriesSource } from '@tidemark/query';
import { openStorage } from '@tidemark/storage';
import type { PolicyRef, PointStorage } from '@tidemark/storage-api';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  aggregated,
  aggregateRequests,
  fill,
  scanned,
  scanRequests,
} from './testing/compare-sources.ts';
import { Cluster } from './cluster/cluster.ts';
import { RowReader, RowWriter } from './sql/row-binary.ts';
import { pointsTable } from './sql/tables.ts';
import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import { TEST_SETTINGS, testPolicy, WEEK, writeLines } from './testing/test-storage.ts';

const { clock } = TEST_SETTINGS;
const NONE = new AbortController().signal;

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('storage on a cluster', () => {
  const cluster = useCluster({ shards: 2, replicas: 2 });
  let engine: PointStorage;
  let policies = 0;

  beforeAll(async () => {
    engine = await cluster.open({ sweepMs: 500 });
  });
  afterAll(() => engine?.close());

  /** A policy that no other test has. */
  const newPolicy = (): PolicyRef => testPolicy(++policies);

  const write = (policy: PolicyRef, lines: readonly string[]) => writeLines(engine, policy, lines);

  /** Rows as text: `key@time field=value …`. */
  async function rows(
    policy: PolicyRef,
    measurement: string,
    wanted: Partial<ScanRequest> & Pick<ScanRequest, 'fields'>,
    storage = engine,
  ): Promise<readonly string[]> {
    const { database, retentionPolicy } = policy;
    const snapshot = storage.source.snapshot();
    const request: ScanRequest = {
      source: { database, retentionPolicy, measurement },
      timeRange: ALL_TIME,
      descending: false,
      groupBy: [],
      ...wanted,
    };
    const result: string[] = [];
    for await (const batch of eachBatch(snapshot.scan(request, { signal: NONE }))) {
      batch.times.forEach((time, row) => {
        const values = batch.columns.map(
          (column, i) => `${request.fields[i]?.name}=${columnValue(column, row)}`,
        );
        result.push(`${batch.seriesKey}@${time} ${values.join(' ')}`);
      });
    }
    snapshot.close();
    return result;
  }

  async function look(request: SchemaRequest): Promise<readonly unknown[]> {
    const snapshot = engine.source.snapshot();
    const result: unknown[] = [];
    for await (const batch of eachBatch(snapshot.schema(request, { signal: NONE })))
      result.push(batch);
    snapshot.close();
    return result;
  }

  test('keeps values of every type, and the last one of each field at a time', async () => {
    const policy = newPolicy();
    const fields = [
      { name: 'f', type: 'float' },
      { name: 'i', type: 'integer' },
      { name: 'u', type: 'unsigned' },
      { name: 'b', type: 'boolean' },
      { name: 's', type: 'string' },
    ] as const;

    await write(policy, ['m,h=a f=1.5,i=-9223372036854775808i,u=18446744073709551615u 1']);
    await write(policy, ['m,h=a f=2,b=true,s="it\'s \\\\ ✓" 1', 'm,h=a f=3 1']);
    await write(policy, ['m,h=a f=1.5 -1']);

    expect(await rows(policy, 'm', { fields })).toEqual([
      'm,h=a@-1 f=1.5 i=null u=null b=null s=null',
      "m,h=a@1 f=3 i=-9223372036854775808 u=18446744073709551615 b=true s=it's \\ ✓",
    ]);
  });

  test('a value that was written before can be written again', async () => {
    const policy = newPolicy();
    const fields = [{ name: 'v', type: 'float' }] as const;

    for (const value of [1, 2, 1]) await write(policy, [`m v=${value} 5`]);

    expect(await rows(policy, 'm', { fields })).toEqual(['m@5 v=1']);
  });

  test('writes that come at once are stored together, each with its own outcome', async () => {
    const policy = newPolicy();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) => write(policy, [`m,h=${i % 7} v=${i} ${i}`, 'bad'])),
    );

    expect(outcomes.map(({ pointsWritten }) => pointsWritten)).toEqual(outcomes.map(() => 1));
    expect(outcomes.every(({ parseErrors }) => parseErrors.length === 1)).toBe(true);
    const found = await rows(policy, 'm', { fields: [{ name: 'v', type: 'integer' }] });
    expect(found).toHaveLength(50);
  });

  test('a field keeps its type in a shard group, also for the next front end', async () => {
    const policy = newPolicy();
    await write(policy, ['m v=1 1']);
    const other = await cluster.open();
    try {
      const { dropped } = await writeLines(other, policy, ['m v="x" 2', `m v="y" ${WEEK * 3n}`]);

      expect(dropped).toMatchObject({ count: 1 });
      expect(dropped?.reason).toContain('already exists as type float');
      const fields = [{ name: 'v', type: 'string' }] as const;
      expect(await rows(policy, 'm', { fields }, other)).toEqual([`m@${WEEK * 3n} v=y`]);
    } finally {
      await other.close();
    }
  });

  test('orders by groups and keys, filters by tags and fields, limits and turns around', async () => {
    const policy = newPolicy();
    const lines = Array.from(
      { length: 60 },
      (_, i) => `m,h=h${i % 6},z=z${i % 2} v=${i}i,w="t${i % 4}" ${i}`,
    );
    await write(policy, lines);
    const fields = [{ name: 'v', type: 'integer' }] as const;
    const expected = (keep: (i: number) => boolean): string[] =>
      Array.from({ length: 60 }, (_, i) => i)
        .filter(keep)
        .sort((a, b) => (a % 2) - (b % 2) || (a % 6) - (b % 6) || a - b)
        .map((i) => `m,h=h${i % 6},z=z${i % 2}@${i} v=${i}`);
    const where: Predicate = {
      kind: 'and',
      left: { kind: 'tag-regex', key: 'h', operator: '=~', pattern: '(?i)H[0-3]$' },
      right: {
        kind: 'or',
        left: { kind: 'field', field: 'v', operator: '>=', value: 30.5 },
        right: { kind: 'field-regex', field: 'w', operator: '=~', pattern: '^t2' },
      },
    };
    const groupBy = ['z'];

    expect(await rows(policy, 'm', { fields, groupBy })).toEqual(expected(() => true));
    expect(await rows(policy, 'm', { fields, groupBy, where })).toEqual(
      expected((i) => i % 6 <= 3 && (i > 30 || i % 4 === 2)),
    );
    expect(
      await rows(policy, 'm', { fields, groupBy, timeRange: { start: 10n, end: 20n } }),
    ).toEqual(expected((i) => i >= 10 && i <= 20));
    expect(await rows(policy, 'm', { fields, groupBy, descending: true })).toEqual(
      expected(() => true).reverse(),
    );
    expect(await rows(policy, 'm', { fields, groupBy, limitPerSeries: 2 })).toEqual(
      expected((i) => i < 12),
    );
    const one: Predicate = { kind: 'tag', key: 'h', operator: '=', value: 'h3' };
    expect(
      await rows(policy, 'm', { fields, where: one, limitPerSeries: 2, descending: true }),
    ).toEqual(['m,h=h3,z=z1@57 v=57', 'm,h=h3,z=z1@51 v=51']);
  });

  test('scans and aggregates as the embedded engine does', async () => {
    const policy = newPolicy();
    const embedded = await openStorage({
      directory: join(cluster.directory, 'embedded'),
      ingest: { allowUnsigned: true },
      hasBackgroundWork: false,
    });
    try {
      await fill(engine, policy);
      await fill(embedded, policy);

      const answers = async (source: SeriesSource) => [
        ...(await Promise.all(scanRequests(policy).map((one) => scanned(source, one)))),
        ...(await Promise.all(aggregateRequests(policy).map((one) => aggregated(source, one)))),
      ];
      const expected = await answers(embedded.source);
      const actual = await answers(engine.source);

      expect(expected.flat().length).toBeGreaterThan(2000);
      const requests = [...scanRequests(policy), ...aggregateRequests(policy)];
      requests.forEach((request, i) => {
        expect({ request, answer: actual[i] }).toEqual({ request, answer: expected[i] });
      });

      const inPages = await cluster.open({ pageRows: 50 });
      for (const [i, request] of scanRequests(policy).entries()) {
        const answer = await scanned(inPages.source, request);
        expect({ request, answer }).toEqual({ request, answer: expected[i] });
      }
      await inPages.close();
    } finally {
      await embedded.close();
    }
  });

  test('answers look-ups of names over both shards', async () => {
    const policy = newPolicy();
    const { database } = policy;
    await write(policy, [
      ...Array.from({ length: 20 }, (_, i) => `a,h=${i},k\\ 1=x v=1,n=1i ${i}`),
      `b,h=1 v="x" ${WEEK * 9n}`,
      'c v=1 1',
    ]);

    expect(await look({ kind: 'measurements', filter: { database } })).toEqual([
      { kind: 'measurements', names: ['a', 'b', 'c'] },
    ]);
    const recent = { database, timeRange: { start: WEEK * 8n, end: WEEK * 20n } };
    expect(await look({ kind: 'fields', filter: recent })).toEqual([
      { kind: 'fields', measurement: 'b', fields: [{ name: 'v', type: 'string' }] },
    ]);
    expect(await look({ kind: 'tag-keys', filter: { database } })).toEqual([
      { kind: 'tag-keys', measurement: 'a', keys: ['h', 'k 1'] },
      { kind: 'tag-keys', measurement: 'b', keys: ['h'] },
    ]);
    expect(
      await look({
        kind: 'tag-values',
        filter: { database, measurementPattern: '[ab]' },
        keys: { kind: 'in', keys: ['h'] },
        limitPerMeasurement: 2,
      }),
    ).toEqual([
      { kind: 'tag-values', measurement: 'a', key: 'h', values: ['0', '1'] },
      { kind: 'tag-values', measurement: 'b', key: 'h', values: ['1'] },
    ]);
    const { length: count } = Array.from({ length: 20 });
    expect(await look({ kind: 'series-cardinality', filter: { database } })).toEqual([
      { kind: 'series-cardinality', measurement: 'a', count },
      { kind: 'series-cardinality', measurement: 'b', count: 1 },
      { kind: 'series-cardinality', measurement: 'c', count: 1 },
    ]);
    await write(policy, [`a,h=1 v=1 ${WEEK * 9n}`, `a,h=1 v=1 ${WEEK * 20n}`]);
    const middle = { database, timeRange: { start: WEEK * 8n, end: WEEK * 10n } };
    expect(await look({ kind: 'series', filter: middle })).toMatchObject([
      { measurement: 'a', keys: ['a,h=1'] },
      { measurement: 'b' },
    ]);
    const where: Predicate = { kind: 'tag', key: 'h', operator: '=', value: '' };
    expect(await look({ kind: 'series', filter: { database, where } })).toEqual([
      { kind: 'series', measurement: 'c', keys: ['c'] },
    ]);
  });

  test('finds series that came after the question was asked before', async () => {
    const policy = newPolicy();
    const where = { kind: 'tag', key: 'g', operator: '=', value: '1' } as const;
    const ask = () => rows(policy, 'm', { fields: [{ name: 'v', type: 'float' }], where });
    await write(policy, ['m,g=1,h=a v=1 1']);
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual(['m,g=1,h=a@1 v=1']);

    await write(policy, ['m,g=1,h=b v=2 2', 'm,g=2,h=c v=3 3']);
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual(['m,g=1,h=a@1 v=1', 'm,g=1,h=b@2 v=2']);

    await engine.delete({ database: policy.database, where: { ...where, key: 'h', value: 'a' } });
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual(['m,g=1,h=b@2 v=2']);
  });

  test('tells what lies in the way of a scan, and how the cluster is asked', async () => {
    const policy = newPolicy();
    const { database, retentionPolicy } = policy;
    await write(policy, ['m,h=a v=1 1', 'm,h=b v=2,w=3i 1', `m,h=b v=2 ${WEEK * 4n}`]);
    const snapshot = engine.source.snapshot();
    const driver = new Driver({
      supervision: () => undefined,
      monotonicMs: () => clock.monotonicMs(),
    });
    const ask = (fields: readonly string[]) =>
      snapshot.cost?.(
        {
          source: { database, retentionPolicy, measurement: 'm' },
          timeRange: ALL_TIME,
          where: { kind: 'tag', key: 'h', operator: '=', value: 'b' },
          fields,
        },
        { signal: NONE },
      );
    const steps = ask(['v']);
    assert(steps !== undefined, 'a cluster knows its costs');
    const cost = await driver.result(steps);
    snapshot.close();

    expect(cost).toMatchObject({ shards: 2, series: 1, cachedValues: 0 });
    expect(cost.files).toBeGreaterThanOrEqual(2);
    expect(cost.blockBytes).toBeGreaterThan(0);
    expect(cost.statements).toHaveLength(2);
    expect(cost.statements?.[0]).toContain(`tag_values[indexOf(tag_keys, 'h')] = 'b'`);
    expect(cost.statements?.[1]).toMatch(/^SELECT column, series, groupArray.* FINAL /s);
  });

  test('deletes rows, and series that have no others; they can be written again', async () => {
    const policy = newPolicy();
    const { database } = policy;
    const fields = [{ name: 'v', type: 'float' }] as const;
    const filter = { database };
    await write(policy, ['m,h=a v=1 1', 'm,h=a v=2 2', 'm,h=b v=3 1', 'n,h=a v=4 1']);

    await engine.delete({ database, measurements: ['m'], timeRange: { start: 0n, end: 1n } });
    expect(await rows(policy, 'm', { fields })).toEqual(['m,h=a@2 v=2']);
    expect(await look({ kind: 'series', filter })).toEqual([
      { kind: 'series', measurement: 'm', keys: ['m,h=a'] },
      { kind: 'series', measurement: 'n', keys: ['n,h=a'] },
    ]);

    await write(policy, ['m,h=b v=5 1']);
    expect(await rows(policy, 'm', { fields })).toEqual(['m,h=a@2 v=2', 'm,h=b@1 v=5']);

    await engine.dropMeasurement(database, 'm');
    const { dropped } = await write(policy, ['m,h=b v="x" 1']);
    expect(dropped).toBeUndefined();
    expect(await look({ kind: 'fields', filter })).toEqual([
      { kind: 'fields', measurement: 'm', fields: [{ name: 'v', type: 'string' }] },
      { kind: 'fields', measurement: 'n', fields: [{ name: 'v', type: 'float' }] },
    ]);
  });

  test('drops shard groups and policies for good', async () => {
    const policy = newPolicy();
    const other = newPolicy();
    const fields = [{ name: 'v', type: 'float' }] as const;
    await write(policy, ['m v=1 1', `m v=2 ${WEEK * 5n}`]);
    await write(other, ['m v=1 1']);
    const own = async (storage: PointStorage) =>
      (await storage.shards()).filter(({ policyId }) => policyId === policy.id);
    const [first, second] = await own(engine);

    expect(second?.diskBytes).toBeGreaterThan(0);
    expect(await engine.dropShard(first?.id ?? 0)).toBe(true);
    expect(await engine.dropShard(first?.id ?? 0)).toBe(false);
    expect(await rows(policy, 'm', { fields })).toEqual([`m@${WEEK * 5n} v=2`]);
    await engine.dropPolicy(other.id);
    expect(await rows(other, 'm', { fields })).toEqual([]);

    const again = await cluster.open();
    expect((await own(again)).map(({ id }) => id)).toEqual([second?.id]);
    expect(await rows(other, 'm', { fields }, again)).toEqual([]);
    await again.close();
    await write(other, ['m v=7 1']);
    expect(await rows(other, 'm', { fields })).toEqual(['m@1 v=7']);
  });

  test('lets as many new series in as may be, and values of tags, whoever wrote the others', async () => {
    const policy = newPolicy();
    await write(policy, ['m,h=a v=1 1', 'm,h=b v=1 1']);
    const other = await cluster.open();
    const limited = async (limits: Partial<PolicyRef>, line: string) => {
      const { dropped } = await writeLines(other, { ...policy, ...limits }, [line]);
      return dropped?.reason;
    };

    expect(await limited({ maxValuesPerTag: 2 }, 'm,h=c v=1 1')).toBe(
      'max-values-per-tag limit exceeded (2/2): measurement="m" tag="h" value="c"',
    );
    expect(await limited({ maxSeriesPerDatabase: 3 }, 'm,h=a v=2 2')).toBeUndefined();
    expect(await limited({ maxSeriesPerDatabase: 3 }, 'm,h=c v=1 1\nm,h=d v=1 1')).toBe(
      'max-series-per-database limit exceeded: (3)',
    );
    const fields = [{ name: 'v', type: 'float' }] as const;
    expect(await rows(policy, 'm', { fields })).toEqual([
      'm,h=a@1 v=1',
      'm,h=a@2 v=2',
      'm,h=b@1 v=1',
      'm,h=c@1 v=1',
    ]);
    await other.close();
  });

  test('a batch that is sent again is stored once, whichever replica gets it', async () => {
    const policy = newPolicy();
    await write(policy, ['m,h=a v=1 1', 'm,h=b v=1 1', 'm,h=c v=1 1']);
    const direct = await Cluster.open({ ...TEST_SETTINGS, urls: cluster.urls }, clock);
    const table = pointsTable(policy.id);
    const batch = (time: bigint): Uint8Array => {
      const row = new RowWriter();
      for (const id of [1n, 0n, 1n]) row.uint64(id);
      row.int64(time);
      row.uint32(1);
      return row.finish();
    };
    const into = `${direct.table(table)} (column, version, series, time, grp) FORMAT RowBinary`;
    /** Blocks that were stored, also those that are merged by now, on each replica. */
    const stored = (): Promise<readonly number[]> =>
      Promise.all(
        direct.nodes.slice(0, 2).map(async (node) => {
          const answer = await node.rows(
            `SELECT count() FROM system.parts
             WHERE table = '${table}' AND partition = '1' AND level = 0`,
          );
          return Number(new RowReader(answer).uint64());
        }),
      );
    const [before = 0] = await stored();

    for (let i = 0; i < 4; i++) await direct.insert(0, { into, rows: batch(5n) });
    expect(await stored()).toEqual([before + 1, before + 1]);
    await direct.insert(0, { into, rows: batch(6n) });
    expect(await stored()).toEqual([before + 2, before + 2]);
    await direct.close();
  });

  test('a read ends where the cluster has spent the memory that it may', async () => {
    const policy = newPolicy();
    const { database, retentionPolicy } = policy;
    await write(
      policy,
      Array.from({ length: 3000 }, (_, i) => `m,h=h${i % 10} v=${i} ${i}`),
    );
    const snapshot = engine.source.snapshot();
    const request: ScanRequest = {
      source: { database, retentionPolicy, measurement: 'm' },
      timeRange: ALL_TIME,
      descending: false,
      groupBy: [],
      fields: [{ name: 'v', type: 'float' }],
    };
    const read = (memoryLimitBytes: number) =>
      eachBatch(snapshot.scan(request, { signal: NONE, memoryLimitBytes })).next();

    await expect(read(100_000)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^query-memory-limit exceeded on the cluster: .* 97\.66 KiB/,
      ) as string,
      setting: 'coordinator.query-memory-limit',
    });
    expect(await read(1 << 28)).toMatchObject({ done: false });
    snapshot.close();
  });

  test('says what is wrong with the settings', async () => {
    await expect(cluster.open({ urls: [] })).rejects.toThrow(
      'storage.clickhouse-urls names no server',
    );
    await expect(cluster.open({ urls: cluster.urls.slice(0, 1) })).rejects.toThrow(
      'storage.clickhouse-urls names no replica of shard 2 of 2',
    );
    await expect(cluster.open({ cluster: 'other' })).rejects.toThrow('no cluster `other`');
    await expect(cluster.open({ urls: ['http://127.0.0.1:1'] })).rejects.toThrow(
      'cannot be reached',
    );
  });

  test('nothing is left of what was dropped while a replica or a shard was away', async () => {
    const kept = newPolicy();
    const gone = [newPolicy(), newPolicy()];
    const hosts = Array.from({ length: 8 }, (_, i) => `m,h=${i} v=1`);
    await write(
      kept,
      [0n, 5n, 9n].flatMap((week) => hosts.map((line) => `${line} ${WEEK * week}`)),
    );
    for (const policy of gone)
      await write(
        policy,
        hosts.map((line) => `${line} 1`),
      );
    const groups = (await engine.shards()).filter(({ policyId }) => policyId === kept.id);
    const ids = [kept, ...gone].map(({ id }) => id).join('|');
    /** Partitions of the tables, as every replica has them. */
    const held = async (): Promise<readonly string[]> => {
      const body = `SELECT DISTINCT table, partition FROM system.parts WHERE active
        AND match(table, '_(${ids})$') ORDER BY table, partition FORMAT TSV`;
      const answers = cluster.urls.map(async (url) => {
        const answer = await fetch(url, { method: 'POST', body });
        return (await answer.text()).trim();
      });
      return Promise.all(answers);
    };
    const last = [`points_${kept.id}`, `series_${kept.id}`].map((t) => `${t}\t${groups[2]?.id}`);

    // A replica that has just returned needs a while until it counts again.
    const succeeds = (what: string, work: () => Promise<unknown>): Promise<true> =>
      eventually(
        what,
        () =>
          work().then(
            () => true as const,
            () => undefined,
          ),
        60_000,
      );

    for (const [round, away] of [[1], [2, 3]].entries()) {
      for (const node of away) process.kill(cluster.status.nodes[node]?.pid ?? 0, 'SIGKILL');
      await succeeds('the drop of a shard', () => engine.dropShard(groups[round]?.id ?? 0));
      await succeeds('the drop of a policy', () => engine.dropPolicy(gone[round]?.id ?? 0));
      const found = (await engine.shards()).map(({ policyId }) => policyId);
      expect(found.filter((id) => id === kept.id)).toHaveLength(2 - round);
      expect(found).not.toContain(gone[round]?.id);
      await cluster.mend();
    }

    const wanted = cluster.urls.map(() => last.join('\n'));
    await eventually(
      'the drops',
      async () => ((await held()).join() === wanted.join() ? true : undefined),
      60_000,
    );
    expect(await rows(kept, 'm', { fields: [{ name: 'v', type: 'float' }] })).toHaveLength(8);
  }, 180_000);
});
