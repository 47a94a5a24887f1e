// npm run soak:api [seconds] [seed]: mixed requests to the executable, compared with a model of the
// specification's tables. Episodes of some hundreds of steps, each on a new engine that is stopped
// and killed in between. A difference ends the run: the steps up to it are made fewer and printed.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../query-fuzz/random.ts';
import { runEpisode } from './episode.ts';
import { shrinkSteps } from './shrink.ts';
import { makeStep } from './steps.ts';
import type { Step } from './steps.ts';
import { startExecutable, startInProcess } from './subject.ts';
import type { Subject } from './subject.ts';

const seconds = Number(process.argv[2] ?? 7200);
const seed = Number(process.argv[3] ?? 1);
/**
 * Pause after a step, as a multiple of what the step took: the run leaves the machine to others.
 */
const PAUSE = Number(process.env['SOAK_PAUSE'] ?? 2);
const EPISODE_STEPS = [200, 600, 2000] as const;
const SHRINK_SETTLE_MS = 5000;
const SHRINK_ATTEMPTS = Number(process.env['SOAK_SHRINK'] ?? 100);

const begin = performance.now();
const isOver = (): boolean => performance.now() - begin > seconds * 1000;
const total = { episodes: 0, steps: 0, requests: 0, restarts: 0, residentMax: 0 };
const seen = new Map<string, number>();

let stepBegan = performance.now();
async function pause(subject: Subject): Promise<void> {
  const took = performance.now() - stepBegan;
  total.residentMax = Math.max(total.residentMax, await residentOf(subject.processId()));
  if (PAUSE > 0) await sleep(took * PAUSE);
  stepBegan = performance.now();
}

async function residentOf(processId: number | undefined): Promise<number> {
  if (processId === undefined) return 0;
  const status = await readFile(`/proc/${processId}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

function report(): void {
  const summary = { seed, seconds: Math.round((performance.now() - begin) / 1000), ...total };
  process.stdout.write(
    `${JSON.stringify({ ...summary, residentMax: Math.round(total.residentMax) })}\n`,
  );
}

for (let episode = 0; !isOver() && process.exitCode === undefined; episode++) {
  const random = new Random(seed + episode * 1_000_003);
  const length = random.pick(EPISODE_STEPS);
  const taken: Step[] = [];
  function* steps(): Iterable<Step> {
    while (taken.length < length && !isOver()) {
      const step = makeStep(random);
      taken.push(step);
      yield step;
    }
  }
  const result = await runEpisode(steps(), { start: startExecutable, pause });
  total.episodes++;
  total.steps += result.steps;
  total.requests += result.requests;
  total.restarts += result.restarts;
  for (const [row, count] of result.seen) seen.set(row, (seen.get(row) ?? 0) + count);
  report();
  if (result.failure === undefined) continue;
  process.exitCode = 1;
  process.stdout.write(`episode ${episode}: ${JSON.stringify(result.failure, undefined, 2)}\n`);
  // In this process an attempt is quick; what only the executable shows is printed as it is.
  const run = (tried: readonly Step[]): ReturnType<typeof runEpisode> =>
    runEpisode(tried, { start: startInProcess, settleMs: SHRINK_SETTLE_MS });
  const fewer = await shrinkSteps(taken, { run, attemptsMax: SHRINK_ATTEMPTS });
  const { failure } = await run(fewer);
  const isStable = failure !== undefined;
  process.stdout.write(
    `${isStable ? 'steps that show it' : 'not seen again in one process'}: ${JSON.stringify(fewer, undefined, 2)}\n`,
  );
  if (isStable) process.stdout.write(`${JSON.stringify(failure, undefined, 2)}\n`);
}
const rows = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
process.stdout.write(`${rows.map(([row, count]) => `${count}\t${row}`).join('\n')}\n`);
report();
