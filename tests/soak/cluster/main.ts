// `npm run soak:cluster [-- rounds [seed]]`: fails if acknowledged rows are lost or doubled, an
// error does not name what is unreachable, or replicas differ in the end.
import { soakCluster } from './soak.ts';

const [rounds = 25, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`rounds ${rounds}, seed ${seed}`);
const result = await soakCluster({ rounds, seed, say });
say(JSON.stringify(result, undefined, 2));
if (result.problems.length > 0) process.exitCode = 1;
