// `npm run soak:engine-simulation [FIRST [COUNT]]`: many seeds of the simulated cluster. With
// `FIRST COUNT CHECKER` the first seed that fails by that checker is told as it is, not made
// shorter. With `mutants [SEEDS [TEXT]]` guards are taken out of the source, those with the text in
// what happens then.
import { fileURLToPath } from 'node:url';
import { findMutants } from '../mutants/find-mutants.ts';
import { explore } from './explore.ts';
import { exploreInProcesses, PROCESS_SEEDS } from './explore-in-processes.ts';
import { MUTANTS } from './mutants.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const [first = '1', count, mode = ''] = process.argv.slice(2);
if (first === 'mutants') process.exitCode = await exploreMutants(count ?? '2000', mode);
else process.exitCode = await exploreSeeds(Number(first), Number(count ?? 100_000));

async function exploreMutants(seeds: string, text: string): Promise<number> {
  const program = [fileURLToPath(import.meta.url), '1', seeds];
  const mutants = MUTANTS.filter(({ what }) => what.includes(text));
  const survived = await findMutants(mutants, program, say);
  say(`${mutants.length} mutants, ${survived} not found`);
  return survived === 0 ? 0 : 1;
}

async function exploreSeeds(begin: number, seeds: number): Promise<number> {
  if (mode === '' && seeds > PROCESS_SEEDS) {
    const program = fileURLToPath(import.meta.url);
    return exploreInProcesses({ first: begin, count: seeds }, program, say);
  }
  const numbers = function* (): Iterable<number> {
    for (let seed = begin; seed < begin + seeds; seed++) {
      if (seed % 1000 === 0) say(`seed ${seed}`);
      yield seed;
    }
  };
  const { found, marks } = await explore(numbers(), mode === '' ? {} : { checker: mode });
  for (const [mark, times] of [...marks].sort()) say(`${mark}: ${times}`);
  if (found === undefined) return 0;
  say(found.history.join('\n'));
  say(`seed ${found.seed} fails: ${found.failure}`);
  return 1;
}
