// Many new series: what a body of 5,000 lines costs on average and at most, taking its keys apart
// included. The most is a body in which tables grow. CPU milliseconds, without the first bodies,
// whose code is not compiled yet. packages/cli/bin/node --conditions=source
// tests/bench/kernels/growth.ts [series]
import { IngestKernel, Kernels, SeriesKeys } from '@tidemark/kernels';
import type { IngestHost } from '@tidemark/kernels';
import { parseLines } from '@tidemark/line-protocol';

import { cpuMs } from './measure.ts';

const SERIES = Number(process.argv[2] ?? 1_000_000);
const LINES = 5000;
const START = 1_600_000_000_000_000_000n;
const UNCOUNTED_BODIES = 20;
const host: IngestHost = {
  shardFor: () => ({ id: 1, start: 0n, end: 1n << 62n }),
  fieldTypes: () => [],
};
const options = { precision: 'ns', now: START } as const;
const utf8 = new TextEncoder();

function body(first: number): Uint8Array {
  const lines: string[] = [];
  for (let i = first; i < first + LINES; i++) {
    const pod = (Math.imul(i, 2654435761) >>> 0).toString(16);
    lines.push(`hc,id=${i},dc=dc${i % 7},svc=svc-${i % 211},pod=p${pod} value=1 ${START}\n`);
  }
  return utf8.encode(lines.join(''));
}

const series = new SeriesKeys(new Kernels());
const ingest = new IngestKernel({ series, parseLine: parseLines });
const costs: number[] = [];
for (let first = 0; first < SERIES; first += LINES) {
  const bytes = body(first);
  const begin = cpuMs();
  ingest.parseLines(bytes, options, host);
  for (let next = first; next < series.nextId;) next += series.split(next, series.nextId).count;
  costs.push(cpuMs() - begin);
}

const counted = costs.slice(UNCOUNTED_BODIES).sort((a, b) => a - b);
const sum = costs.reduce((all, cost) => all + cost, 0);
const at = (share: number): string => counted[Math.floor((counted.length - 1) * share)]!.toFixed(1);
console.log(
  `${series.nextId} series: ${sum.toFixed(0)} ms; per body: median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`,
);
