// `npm run soak:engine-cluster [-- rounds [tasks [points per second [seed]]]]`: fails when a point
// or an event is lost, or nothing is acknowledged for longer than ten seconds.
import { soakCluster } from './soak.ts';

const GAP_MS_MAX = 10_000;

const [rounds = 50, tasks = 200, pointsPerSecond = 20_000, seed = Date.now() % 2 ** 31] =
  process.argv.slice(2).map(Number);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`rounds ${rounds}, tasks ${tasks}, points per second ${pointsPerSecond}, seed ${seed}`);
const result = await soakCluster({ rounds, tasks, pointsPerSecond, seed, say });
say(JSON.stringify(result, undefined, 2));
const slow = Object.entries(result.gapMsMax).filter(([, gap]) => gap > GAP_MS_MAX);
for (const [action, gap] of slow) say(`${action}: ${gap} ms without an acknowledgement`);
if (result.problems.length > 0 || slow.length > 0) process.exitCode = 1;
