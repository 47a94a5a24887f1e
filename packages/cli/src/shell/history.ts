// Statements of earlier sessions, in a file in the user's home. Passwords are never stored.
import { appendFileSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { redactPasswords } from '@tidemark/influxql';
import { makeDirectory } from '@tidemark/process';

const LINES_KEPT = 1000;

/**
 * Path of the history: `TIDEMARK_HISTORY_FILE`, or a file in the user's home. Empty for no history.
 */
export function historyFile(environment: Readonly<Record<string, string | undefined>>): string {
  return (
    environment['TIDEMARK_HISTORY_FILE'] ??
    join(homedir(), '.local', 'state', 'tidemark', 'history')
  );
}

/** Newest first, as `node:readline` expects it. An unreadable file is an empty history. */
export function readHistory(file: string): string[] {
  if (file === '') return [];
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .slice(-LINES_KEPT)
      .reverse();
  } catch {
    // The first session, or an unreadable home: neither needs a message.
    return [];
  }
}

/** Appends a statement; lines of multi-line statements are joined. */
export function addToHistory(file: string, statement: string): void {
  if (file === '' || /\bpassword\b/i.test(statement) || /^auth\b/i.test(statement)) return;
  try {
    makeDirectory(dirname(file), { mode: 0o700 });
    appendFileSync(file, `${redactPasswords(statement).replaceAll('\n', ' ')}\n`, { mode: 0o600 });
  } catch {
    // A read-only home must not end the session; only the history is lost.
  }
}
