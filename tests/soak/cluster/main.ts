// `npm run soak:cluster [-- rounds [seed [seconds]]]`: ZooKeeper hangs for so long each time. Fails
// if acknowledged rows are lost or doubled, an error does not name what is unreachable, or replicas
// differ in the end.
import { soakCluster } from './soak.ts';

const [rounds = 25, seed = Date.now() % 2 ** 31, pausedSeconds] = process.argv.slice(2).map(Number);
const pausedMs = pausedSeconds === undefined ? undefined : pausedSeconds * 1000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`rounds ${rounds}, seed ${seed}`);
const result = await soakCluster({ rounds, seed, pausedMs, say });
say(JSON.stringify(result, undefined, 2));
if (result.problems.length > 0) process.exitCode = 1;
