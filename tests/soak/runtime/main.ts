// npm run soak:runtime [days] [tasks] [seed]: a month of virtual time with 200 tasks whose groups
// appear and expire, the memory of every day, then 24 hours recorded and replayed by an engine.
// Exits with status 1 on failure.
import { runMonth } from './month.ts';
import type { MonthResult } from './month.ts';
import { replayDay } from './replay.ts';

const days = Number(process.argv[2] ?? 30);
const taskCount = Number(process.argv[3] ?? 200);
const seed = Number(process.argv[4] ?? 1);

/** Days until windows of a day, alert histories and caches of code are as full as they will be. */
const WARM_DAYS = 5;
const GROWTH_MAX = 1.1;
/** Allowed growth of the heap besides that: it is never collected to the last byte. */
const GROWTH_MIB = 8;
const REPLAY_CPU_SECONDS_MAX = 30;
const STEP_SECONDS = 1800;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function problemsOf(result: MonthResult): readonly string[] {
  const { heapMiB, groupCounts, heldCounts, errors, silent } = result;
  const problems = [...errors, ...silent.map((script) => `nothing came out of ${script}`)];
  const isFlat = (values: readonly number[], slack: number): boolean => {
    const warm = values.slice(WARM_DAYS, WARM_DAYS + 8);
    return median(values.slice(-8)) <= median(warm) * GROWTH_MAX + slack;
  };
  if (heapMiB.length < WARM_DAYS + 8) return problems;
  if (!isFlat(heapMiB, GROWTH_MIB))
    problems.push(`memory grows: ${heapMiB.map(Math.round).join(' ')} MiB`);
  if (!isFlat(groupCounts, 0)) problems.push(`groups grow: ${groupCounts.join(' ')}`);
  if (!isFlat(heldCounts, 0)) problems.push(`held points grow: ${heldCounts.join(' ')}`);
  return problems;
}

const month = await runMonth({
  days,
  taskCount,
  stepSeconds: STEP_SECONDS,
  seed,
  onDay: (day, heapMiB, groupCount) => {
    process.stderr.write(`day ${day}: ${heapMiB.toFixed(1)} MiB, ${groupCount} groups\n`);
  },
});
const replay = await replayDay();

const problems = [...problemsOf(month)];
if (replay.replayedCount !== replay.pointCount) {
  problems.push(`replayed ${replay.replayedCount} of ${replay.pointCount} points`);
}
if (replay.replayCpuSeconds > REPLAY_CPU_SECONDS_MAX) {
  problems.push(`the replay of a day took ${Math.round(replay.replayCpuSeconds)} s of CPU`);
}
const { heapMiB, groupCounts, heldCounts, errors: _, silent: __, ...numbers } = month;
const summary = {
  days,
  taskCount,
  seed,
  ...numbers,
  heapMiB: { warm: heapMiB[WARM_DAYS], last: heapMiB.at(-1), highest: Math.max(...heapMiB) },
  groups: { warm: groupCounts[WARM_DAYS], last: groupCounts.at(-1) },
  held: { warm: heldCounts[WARM_DAYS], last: heldCounts.at(-1) },
  replay,
};
process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
for (const problem of problems) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
