// Asks whether programs, files and secrets found in scripts may be used: on a terminal with one
// question for each kind, otherwise according to `--allow-found`.
import type { Decide } from '../config/allowed-lists.ts';
import { ask } from './ask.ts';

/** Yes to everything if requested; without a terminal to ask on, no. */
export function decideBy(allowFound: boolean | undefined): Decide {
  return async ({ title, found }) => {
    if (allowFound === true) return true;
    if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
    const lines = [...found].map(([path, users]) => `  ${path}  (${users.join(', ')})\n`);
    process.stderr.write(`${title}:\n${lines.join('')}`);
    return /^y(es)?$/i.test((await ask('allow all of them? [y/N] ', false)).trim());
  };
}
