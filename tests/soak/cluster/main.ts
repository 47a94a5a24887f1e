// `npm run soak:cluster [-- rounds [seed [seconds]]]`: ZooKeeper hangs for so long each time. Fails
// if acknowledged rows are lost or doubled, an error does not name what is unreachable, or replicas
// differ in the end. With `mutants [TEXT]` guards are removed from the source instead, those with
// the text in what happens then.
import { findGuardMutants } from './find-mutants.ts';
import { soakCluster } from './soak.ts';

const args = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
if (args[0] === 'mutants') {
  if ((await findGuardMutants(args[1] ?? '', say)) > 0) process.exitCode = 1;
} else {
  const [rounds = 25, seed = Date.now() % 2 ** 31, pausedSeconds] = args.map(Number);
  const pausedMs = pausedSeconds === undefined ? undefined : pausedSeconds * 1000;
  say(`rounds ${rounds}, seed ${seed}`);
  const result = await soakCluster({ rounds, seed, pausedMs, say });
  say(JSON.stringify(result, undefined, 2));
  if (result.problems.length > 0) process.exitCode = 1;
}
