// `npm run soak:catalog-mutants [-- TEXT]`: takes the guards of the catalog out, one after the
// other (those whose description has the text); the simulation has to miss each.
import { fileURLToPath } from 'node:url';

import { findMutants } from '../mutants/find-mutants.ts';
import { MUTANTS } from './mutants.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const SEEDS = 1500;

const text = process.argv[2] ?? '';
const chosen = MUTANTS.filter(({ what }) => what.includes(text));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const survived = await findMutants(chosen, [MAIN, String(SEEDS), '1'], say);
say(`${chosen.length - survived} of ${chosen.length} found`);
process.exitCode = survived === 0 ? 0 : 1;
