// How fast points get to a cluster through the service, beside the same rows in plain inserts by as
// many clients, slice by slice in turns, into tables that grow alike. With BENCH_DIR it goes on
// where it was ended, and `cluster/queries` finds the rows there. BENCH_ROWS (4,000,000),
// BENCH_CLIENTS (4), BENCH_REPLICAS (1).
import { costOf, middle, post, sql, withCluster } from './cluster-service.ts';
import type { ClusterService, Cost } from './cluster-service.ts';
import { noteSlice, slicesOf } from './progress.ts';
import type { Slice } from './progress.ts';
import { binaryOf, linesOf, ROWS, SLICES } from './rows.ts';
import { CLIENTS, loadSlice } from './own-load.ts';

const PLAIN = 'plain';

async function makePlainTable({ nodes }: ClusterService): Promise<void> {
  for (const url of nodes) {
    await sql(
      url,
      `CREATE TABLE IF NOT EXISTS ${PLAIN} (column UInt64, hour Int32, series UInt64, time Int64,
         f Float64, i Int64, s String, version UInt64, grp UInt32)
       ENGINE = ReplicatedReplacingMergeTree('/${PLAIN}/{shard}', '{replica}')
       PARTITION BY grp ORDER BY (column, hour, series, time)`,
    );
  }
}

/** Waits for no quorum: 18.16 lets only one client insert then. */
async function plainLoad(service: ClusterService, slice: number): Promise<Cost> {
  const { shards } = service;
  const bodies = binaryOf(slice, shards.length);
  const insert = encodeURIComponent(`INSERT INTO ${PLAIN} FORMAT RowBinary`);
  let next = 0;
  return costOf(service, () =>
    Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < bodies.length) {
          const body = bodies[next++]!;
          await Promise.all(
            shards.map((url, i) => post(`${url}/?database=tidemark&query=${insert}`, body[i]!)),
          );
        }
      }),
    ),
  );
}

async function compare(service: ClusterService, slice: number): Promise<Slice> {
  const lines = linesOf(slice);
  const own = (): Promise<Cost> => loadSlice(service, lines);
  const plain = (): Promise<Cost> => plainLoad(service, slice);
  if (slice % 2 === 0) return { own: await own(), plain: await plain() };
  const first = await plain();
  return { own: await own(), plain: first };
}

function report(name: string, slices: readonly Slice[], rows: number): void {
  const own = slices.map((slice) => slice.own);
  const plain = slices.map((slice) => slice.plain);
  const speed = (all: readonly Cost[]): number => Math.round(rows / (middle(all, 'ms') / 1000));
  const share = (mine: number, theirs: number): string => `${Math.round((mine / theirs) * 100)} %`;
  const processors = (all: readonly Cost[]): string =>
    `${middle(all, 'processorMs')} ms (service ${middle(all, 'serviceMs')} ms)`;
  console.log(
    `${name}: ${speed(own)} points/s, plain inserts ${speed(plain)} rows/s ` +
      `(${share(speed(own), speed(plain))}); processors ${processors(own)} and ` +
      `${processors(plain)} (${share(middle(plain, 'processorMs'), middle(own, 'processorMs'))})`,
  );
}

await withCluster(async (service) => {
  await makePlainTable(service);
  const rows = ROWS / SLICES;
  for (let slice = slicesOf(service.directory).length; slice < SLICES; slice++) {
    const compared = await compare(service, slice);
    noteSlice(service.directory, compared);
    report(`slice ${slice + 1} of ${SLICES}`, [compared], rows);
  }
  for (const url of service.nodes) await sql(url, `DROP TABLE IF EXISTS ${PLAIN}`);
  // The first slice has found the way.
  const slices = slicesOf(service.directory).slice(SLICES > 1 ? 1 : 0);
  report('in the middle', slices, rows);
});
