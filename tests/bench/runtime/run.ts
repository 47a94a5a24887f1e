// Throughput of tasks inside one thread, from the bytes of a write to the last node.
//
//   packages/cli/bin/node --conditions=source tests/bench/runtime/run.ts [--only name,name] [--rows
// N] [--nodes | --compared]
//
// Prints rows per second with parsing, the share of parsing, and how that compares to the existing
// engine. That every node has a case is a test (cases.test.ts).
import { runCase } from './case-runner.ts';
import type { BenchCase } from './cases.ts';
import { COMPARED, NODES } from './cases.ts';

const argument = (name: string): string | undefined => {
  const i = process.argv.indexOf(`--${name}`);
  return i < 0 ? undefined : process.argv[i + 1];
};
const rowCount = Number(argument('rows') ?? 200_000);
const only = argument('only')?.split(',');
const isCompared = process.argv.includes('--compared');
const isNodes = process.argv.includes('--nodes');
const cases = [...(isNodes ? [] : COMPARED), ...(isCompared ? [] : NODES)];

async function line(bench: BenchCase): Promise<string> {
  const { totalMs, parseMs, cpuMicrosPerRow } = await runCase(bench, rowCount);
  const rate = (rowCount / totalMs) * 1000;
  const baseline = bench.baselineRowsPerSecond;
  const factor = baseline === undefined ? '' : `${(rate / baseline).toFixed(1)}x`;
  return [
    bench.name.padEnd(18),
    `${Math.round(rate).toLocaleString('en')} rows/s`.padStart(18),
    `${cpuMicrosPerRow.toFixed(2)} CPU µs/row`.padStart(18),
    `parse ${((parseMs * 1000) / rowCount).toFixed(2)} µs`.padStart(16),
    factor.padStart(8),
  ].join('');
}

for (const bench of cases) {
  if (only !== undefined && !only.includes(bench.name)) continue;
  await runCase(bench, Math.min(rowCount, 50_000));
  console.log(await line(bench));
}
