// Removes the guards of storage on ClickHouse one at a time; the test that protects each has to
// fail.
import { fileURLToPath } from 'node:url';

import { failedTest } from '../mutants/failed-test.ts';
import { MUTANTS } from './mutants.ts';

const CONFIG = fileURLToPath(new URL('./mutants.config.ts', import.meta.url));

/** Tries the guards whose description contains the text; returns how many were not found. */
export async function findGuardMutants(text: string, say: (line: string) => void): Promise<number> {
  let survived = 0;
  for (const { what, edits, foundBy } of MUTANTS.filter((one) => one.what.includes(text))) {
    const [file, title] = foundBy;
    const args = [`packages/clickhouse/src/${file}`, '-t', title];
    const found = await failedTest(CONFIG, edits, args);
    if (found === undefined) survived++;
    say(`${found === undefined ? 'SURVIVES' : 'found'}: ${what} (${found ?? title})`);
  }
  return survived;
}
