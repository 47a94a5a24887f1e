// Ingest: bodies of 5,000 lines through scan, series look-up and append, in one thread.
// packages/cli/bin/node --conditions=source tests/bench/kernels/ingest.ts
import { IngestKernel, Kernels, SeriesKeys, RowBuffers } from '@tidemark/kernels';
import type { Batch, IngestHost } from '@tidemark/kernels';
import { parseLines } from '@tidemark/line-protocol';
import { seededRandom } from '@tidemark/testkit';
import { cpuMs, measure, normalFrom } from './measure.ts';

const room = new RowBuffers();
const LINES = 5000;
const START = 1_600_000_000_000_000_000n;
const WHOLE = { id: 1, start: 0n, end: 1n << 62n };
const host: IngestHost = { shardFor: () => WHOLE, fieldTypes: () => [] };
const options = { precision: 'ns', now: START } as const;
const random = seededRandom(7);
const utf8 = new TextEncoder();

const tags = Array.from(
  { length: 100 },
  (_, i) =>
    `hostname=host_${i},region=eu-central-1,datacenter=eu-central-1a,rack=${i % 100},os=Ubuntu16.10,arch=x64,team=SF,service=${i % 20},service_version=${i % 2},service_environment=production`,
);
const fieldNames =
  'usage_user usage_system usage_idle usage_nice usage_iowait usage_irq usage_softirq usage_steal usage_guest usage_guest_nice'.split(
    ' ',
  );

/** TSBS cpu-only: 100 hosts, ten integers that walk between 0 and 100. */
function cpuBody(round: number): Uint8Array {
  const lines: string[] = [];
  for (let i = 0; i < LINES; i++) {
    const fields = fieldNames.map((name) => {
      const value = Math.min(100, Math.max(0, 50 + 20 * normalFrom(random)));
      return `${name}=${Math.floor(value)}i`;
    });
    const time = START + BigInt(Math.floor(i / 100) + round * 50) * 10_000_000_000n;
    lines.push(`cpu,${tags[i % 100]} ${fields.join(',')} ${time}\n`);
  }
  return utf8.encode(lines.join(''));
}

/** TSBS iot: seven floats with all their digits. */
function floatBody(): Uint8Array {
  const lines: string[] = [];
  for (let i = 0; i < LINES; i++) {
    const fields = fieldNames.slice(0, 7).map((name) => `${name}=${random() * 180 - 90}`);
    lines.push(
      `readings,name=truck_${i % 100},fleet=East,model=F-150 ${fields.join(',')} ${START + BigInt(i)}\n`,
    );
  }
  return utf8.encode(lines.join(''));
}

function highcardBody(first: number, time: bigint): Uint8Array {
  const lines: string[] = [];
  for (let i = first; i < first + LINES; i++) {
    const pod = (Math.imul(i, 2654435761) >>> 0).toString(16);
    lines.push(
      `hc,id=${i},dc=dc${i % 7},svc=svc-${i % 211},pod=p${pod} value=${(random() * 1000).toFixed(3)} ${time}\n`,
    );
  }
  return utf8.encode(lines.join(''));
}

/** Blocks of all columns, as for a log record; their size. */
function encode({ tables }: Batch): number {
  let sizeBytes = 0;
  for (const table of tables) {
    const rows = { from: 0, to: table.rowCount };
    sizeBytes += table.encodeSeriesIds(rows).length + table.encodeTimes(rows).length;
    for (const field of table.fields) sizeBytes += table.encodeValues(field).length;
  }
  return sizeBytes;
}

type Work = 'parse' | 'encode' | 'copy';

function run(name: string, bodies: readonly Uint8Array[], work: Work): void {
  const ingest = new IngestKernel({ series: new SeriesKeys(new Kernels()), parseLine: parseLines });
  let next = 0;
  let recordBytes = 0;
  measure(name, { count: LINES, unit: 'rows' }, () => {
    const batch = ingest.parseLines(bodies[next++ % bodies.length]!, options, host);
    if (batch.pointsWritten !== LINES) throw new Error('every line is a point');
    if (work !== 'parse') recordBytes = encode(batch);
    if (work === 'copy') for (const table of batch.tables) table.copyRows(room);
  });
  if (work === 'encode') console.log(`  record: ${(recordBytes / LINES).toFixed(1)} bytes/row`);
}

const cpuBodies = Array.from({ length: 20 }, (_, round) => cpuBody(round));
run('cpu-only, 10 integers', cpuBodies, 'parse');
run('cpu-only with log record', cpuBodies, 'encode');
run('cpu-only with log record and copies', cpuBodies, 'copy');
run('iot, 7 floats of 16-17 digits', [floatBody(), floatBody()], 'parse');

const SERIES = 1_000_000;
const series = new SeriesKeys(new Kernels());
const shared = new IngestKernel({ series, parseLine: parseLines });
const highcard = Array.from({ length: SERIES / LINES }, (_, k) => highcardBody(k * LINES, START));
for (const round of [
  '1 M new series',
  '1 M known series, second round',
  '1 M known series, third round',
]) {
  measureHighcard(round);
}

function measureHighcard(name: string): void {
  const begin = cpuMs();
  for (const body of highcard) shared.parseLines(body, options, host);
  const rate = SERIES / (cpuMs() - begin) / 1000;
  const perSeries = series.memoryBytes / series.nextId;
  console.log(
    `${name.padEnd(44)} ${rate.toFixed(2).padStart(9)} M rows/s, ${perSeries.toFixed(0)} bytes/series`,
  );
}

measureSplit();

/** Keys into tags and their texts into ids: what the columns of the index are filled from. */
function measureSplit(): void {
  const begin = cpuMs();
  for (let first = 0; first < series.nextId;) first += series.split(first, series.nextId).count;
  const rate = SERIES / (cpuMs() - begin) / 1000;
  const perSeries = series.memoryBytes / series.nextId;
  console.log(
    `${'1 M keys split into 4 tags'.padEnd(44)} ${rate.toFixed(2).padStart(9)} M keys/s, ${perSeries.toFixed(0)} bytes/series with texts`,
  );
}
