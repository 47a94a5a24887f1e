// Questions on the terminal. Standard output is reserved for a command's output.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks on the terminal; the answer is not echoed when `isHidden`. */
export async function ask(prompt: string, isHidden: boolean): Promise<string> {
  // Readline redraws the line with what was typed: for a password nothing may be written.
  const output = isHidden
    ? new Writable({ write: (_chunk, _encoding, done) => done() })
    : process.stderr;
  if (isHidden) process.stderr.write(prompt);
  const readline = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await readline.question(isHidden ? '' : prompt);
  } finally {
    readline.close();
    if (isHidden) process.stderr.write('\n');
  }
}
