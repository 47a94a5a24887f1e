// How fast points get to a cluster through the service, beside the same rows in plain inserts by as
// many clients, in turns. BENCH_ROWS (1,000,000), BENCH_CLIENTS (4), BENCH_ROUNDS (3).
import { costOf, idOf, middle, post, sql, withCluster } from './cluster-service.ts';
import type { ClusterService, Cost } from './cluster-service.ts';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SERIES = 1000;
const ROWS_PER_REQUEST = 10_000;
const STEP_SECONDS = 10;
const START_SECONDS = 1_700_000_000;
const ROW_BYTES = 57;

const valueOf = (row: number): number => ((row * 7919) % 100_000) / 16;
const timeOf = (row: number): number => START_SECONDS + Math.floor(row / SERIES) * STEP_SECONDS;
const tagsOf = (row: number): string => `dc=d${row % 10},host=h${row % SERIES}`;

function linesOf(first: number, measurement: string): Buffer {
  const lines: string[] = [];
  for (let row = first; row < Math.min(first + ROWS_PER_REQUEST, ROWS); row++)
    lines.push(`${measurement},${tagsOf(row)} usage=${valueOf(row)} ${timeOf(row)}`);
  return Buffer.from(lines.join('\n'));
}

/**
 * column, hour, series, time, f, i, s, batch, grp: the rows that the service makes of the lines.
 */
function binaryOf(
  first: number,
  { measurement, ids, shard }: { measurement: string; ids: readonly bigint[]; shard: number },
): Buffer {
  const rows: Buffer[] = [];
  const column = idOf(`${measurement}\0usage\0float`);
  for (let at = first; at < Math.min(first + ROWS_PER_REQUEST, ROWS); at++) {
    const series = ids[at % SERIES]!;
    if (series % 2n !== BigInt(shard)) continue;
    const row = Buffer.alloc(ROW_BYTES);
    row.writeBigUInt64LE(column, 0);
    row.writeInt32LE(Math.floor(timeOf(at) / 3600), 8);
    row.writeBigUInt64LE(series, 12);
    row.writeBigInt64LE(BigInt(timeOf(at)) * 1_000_000_000n, 20);
    row.writeDoubleLE(valueOf(at), 28);
    row.writeBigUInt64LE(BigInt(first), 45);
    row.writeUInt32LE(1, 53);
    rows.push(row);
  }
  return Buffer.concat(rows);
}

/** Points, and what the service and the servers need for all of them. */
type Rate = { readonly perSecond: number } & Pick<Cost, 'processorMs'>;

/** So many clients, each with one request after the other; the bodies are there before. */
async function load<T>(
  service: ClusterService,
  bodies: readonly T[],
  send: (body: T) => Promise<unknown>,
): Promise<Rate> {
  let next = 0;
  const clients = async (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < bodies.length) await send(bodies[next++]!);
      }),
    );
  const { ms, processorMs } = await costOf(service, clients);
  return { perSecond: ROWS / (ms / 1000), processorMs };
}

const firsts = Array.from(
  { length: Math.ceil(ROWS / ROWS_PER_REQUEST) },
  (_, i) => i * ROWS_PER_REQUEST,
);

async function plainLoad(service: ClusterService, measurement: string): Promise<Rate> {
  const { shards } = service;
  const ids = Array.from({ length: SERIES }, (_, i) => idOf(`${measurement},${tagsOf(i)}`));
  const bodies = firsts.map((first) =>
    shards.map((_, shard) => binaryOf(first, { measurement, ids, shard })),
  );
  const table = `plain_${measurement}`;
  for (const url of shards) {
    await sql(
      url,
      `CREATE TABLE ${table} (column UInt64, hour Int32, series UInt64, time Int64, f Float64,
         i Int64, s String, batch UInt64, grp UInt32)
       ENGINE = ReplicatedReplacingMergeTree('/${table}/{shard}', '{replica}')
       PARTITION BY grp ORDER BY (column, hour, series, time)`,
    );
  }
  const insert = encodeURIComponent(`INSERT INTO ${table} FORMAT RowBinary`);
  const rate = await load(service, bodies, (body) =>
    Promise.all(
      shards.map((url, i) => post(`${url}/?database=tidemark&query=${insert}`, body[i]!)),
    ),
  );
  for (const url of shards) await sql(url, `DROP TABLE ${table}`);
  return rate;
}

function ownLoad(service: ClusterService, measurement: string): Promise<Rate> {
  const bodies = firsts.map((first) => linesOf(first, measurement));
  return load(service, bodies, (body) => post(`${service.tsdb}/write?db=d&precision=s`, body));
}

function report(own: readonly Rate[], plain: readonly Rate[]): string {
  const [mine, theirs] = [middle(own, 'perSecond'), middle(plain, 'perSecond')];
  const [cost, theirCost] = [middle(own, 'processorMs'), middle(plain, 'processorMs')];
  return (
    `${Math.round(mine)} points/s, plain inserts ${Math.round(theirs)} rows/s ` +
    `(${Math.round((mine / theirs) * 100)} %); processors ${cost} and ${theirCost} ms`
  );
}

await withCluster(async (service) => {
  const own: Rate[] = [];
  const plain: Rate[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    own.push(await ownLoad(service, `m${round}`));
    plain.push(await plainLoad(service, `m${round}`));
    console.log(report(own.slice(-1), plain.slice(-1)));
  }
  // The first round has found the way.
  for (const rates of [own, plain]) rates.shift();
  console.log(`in the middle: ${report(own, plain)}`);
});
