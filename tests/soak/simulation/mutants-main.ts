// `npm run soak:mutants [-- [--ordinary] TEXT]`: takes the guards out, one after the other (those
// whose area or sentence has the text). Each has to be missed by the simulation within so many
// seeds; with `--ordinary`, it must not be missed by a test that does one thing at a time.
import { MUTANTS, SEEDS_MAX } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import { ordinaryFailure, simulateMutant } from './mutant-run.ts';

/** Without a change, so many seeds pass. */
const SOUND_SEEDS = 200;
/** So many at once. */
const LANES = 2;

type Verdict = { readonly isAsWanted: boolean; readonly said: string };

const args = process.argv.slice(2);
const isOrdinary = args.includes('--ordinary');
const text = args.find((one) => !one.startsWith('--')) ?? '';
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function judge(mutant: Mutant | undefined): Promise<Verdict> {
  if (isOrdinary) {
    const failure = await ordinaryFailure(mutant);
    return { isAsWanted: failure === undefined, said: failure ?? 'caught by none' };
  }
  const count = mutant === undefined ? SOUND_SEEDS : SEEDS_MAX;
  const { seed } = await simulateMutant(mutant, { first: 1, count });
  const isAsWanted = (seed === undefined) === (mutant === undefined);
  return { isAsWanted, said: seed === undefined ? 'NOT FOUND' : `seed ${seed}` };
}

const sound = await judge(undefined);
if (!sound.isAsWanted) say(`fails without a change: ${sound.said}`);
const chosen = MUTANTS.filter(({ area, guard }) => `${area}: ${guard}`.includes(text));
let unwanted = 0;
const waiting = [...chosen];
const lane = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const { isAsWanted, said } = await judge(mutant);
    if (!isAsWanted) unwanted++;
    say(`${said}: ${mutant.area}: ${mutant.guard}`);
  }
};
await Promise.all(Array.from({ length: LANES }, lane));
say(`${chosen.length - unwanted} of ${chosen.length} ${isOrdinary ? 'caught by none' : 'found'}`);
process.exitCode = unwanted === 0 && sound.isAsWanted ? 0 : 1;
