// `npm run soak:mutants [-- TEXT]`: removes the guards, one after another (those whose area or
// description contains the text), and fails if the simulation does not find one of them within its
// seeds.
import { MUTANTS } from './mutants.ts';
import { runMutant } from './mutant-run.ts';

const SEEDS = 2000;
/** Without a change, so many seeds pass. */
const SOUND_SEEDS = 200;
/** So many at once. */
const LANES = 3;

const [text = ''] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const chosen = MUTANTS.filter(({ area, guard }) => `${area}: ${guard}`.includes(text));

const sound = await runMutant(undefined, SOUND_SEEDS);
if (sound.seed !== undefined) say(`fails without a change: ${sound.said}`);
let survivors = 0;
const waiting = [...chosen];
const lane = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const { seed, said } = await runMutant(mutant, SEEDS);
    if (seed === undefined) survivors++;
    const found = seed === undefined ? 'NOT FOUND' : `seed ${seed}`;
    const [how = ''] = said.split('\n').filter((line) => line.startsWith('seed '));
    say(`${found}: ${mutant.area}: ${mutant.guard} | ${how.slice(0, 160)}`);
  }
};
await Promise.all(Array.from({ length: LANES }, lane));
say(`${chosen.length - survivors} of ${chosen.length} found`);
process.exitCode = survivors === 0 && sound.seed === undefined ? 0 : 1;
