// The interactive loop: prompt, continuation of unfinished statements, Ctrl-C cancels the running
// one.
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { callbackify } from 'node:util';

import { TIDEMARK_VERSION } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';

import { coloursFor } from '../output/colour.ts';
import { Completer } from './completion.ts';
import { addHistorySearch } from './history-search.ts';
import { addToHistory, historyFile, readHistory } from './history.ts';
import { LineQueue } from './line-queue.ts';
import { isLong, page, pagerOf } from './pager.ts';
import type { Session } from './session.ts';

const PROMPT = '> ';
const CONTINUED = '… ';

/** Runs until the user leaves; returns the exit status. */
export async function runInteractive(session: Session): Promise<number> {
  const version = await session.client().ping();
  process.stdout.write(
    `Connected to ${session.settings.url}, version ${version}. Shell ${TIDEMARK_VERSION}; help explains it.\n`,
  );
  const file = historyFile(process.env);
  const completer = new Completer(session);
  const colours = coloursFor(process.stdout, process.env);
  const pager = pagerOf(process.env);
  let history: readonly string[] = readHistory(file);
  let before = '';
  const readline = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: [...history],
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: callbackify((line: string) => completer.complete(line, before)),
  });
  readline.on('history', (entries) => (history = entries));
  addHistorySearch(readline, () => history, process.stdout);
  const lines = new LineQueue(readline);
  let running: AbortController | undefined;
  readline.on('SIGINT', () => {
    if (running !== undefined) {
      running.abort();
      // Lines typed ahead belong to the cancelled statement.
      const count = lines.clear();
      if (count > 0) process.stdout.write(`\n(${count} typed lines are dropped)\n`);
    } else {
      process.stdout.write('\n(exit or Ctrl-D leaves)\n');
      readline.write(null, { ctrl: true, name: 'u' });
      readline.prompt();
    }
  });
  try {
    for (;;) {
      const statement = await readStatement(lines, (text) => (before = text));
      if (statement === undefined) return 0;
      addToHistory(file, statement);
      if (/^auth\s*$/i.test(statement)) {
        await askCredentials(readline, lines, session);
        continue;
      }
      if (/^history\s*$/i.test(statement)) {
        process.stdout.write(`${readHistory(file).reverse().join('\n')}\n`);
        continue;
      }
      running = new AbortController();
      const outcome = await session.run(statement, running.signal);
      running = undefined;
      if (outcome.kind === 'exit') return 0;
      if (outcome.text === '') continue;
      const isPaged =
        session.settings.hasPager &&
        pager !== '' &&
        isLong(outcome.text, process.stdout) &&
        (await page(outcome.text, pager, readline));
      if (isPaged) continue;
      const text = outcome.kind === 'error' ? colours.error(outcome.text) : outcome.text;
      process.stdout.write(`${text}\n`);
    }
  } finally {
    readline.close();
  }
}

/**
 * A statement of one or more lines; `undefined` at the end of input. An empty line ends an
 * unfinished one.
 */
async function readStatement(
  lines: LineQueue,
  onText: (text: string) => void,
): Promise<string | undefined> {
  let text = '';
  for (;;) {
    onText(text);
    const line = await lines.next(text === '' ? PROMPT : CONTINUED);
    if (line === undefined) return text === '' ? undefined : text;
    if (text !== '' && line.trim() === '') return text;
    text = text === '' ? line : `${text}\n${line}`;
    if (!isUnfinished(text)) return text;
  }
}

/** Whether a statement of the query language is incomplete. */
export function isUnfinished(text: string): boolean {
  if (!/^\s*(select|show|create|alter|drop|delete|grant|revoke|explain|kill|set)\b/i.test(text))
    return false;
  if (text.trimEnd().endsWith(';')) return false;
  return (parseQuery(text).error ?? '').startsWith('found EOF, expected');
}

async function askCredentials(
  readline: Interface,
  lines: LineQueue,
  session: Session,
): Promise<void> {
  session.settings.token = '';
  session.settings.username = (await lines.next('username: ')) ?? '';
  // The terminal echoes input; suppressed while the answer is read.
  const output = readline as unknown as { _writeToOutput?: (text: string) => void };
  const write = output._writeToOutput;
  output._writeToOutput = (text) => {
    if (text.includes('password:')) process.stdout.write('password: ');
  };
  session.settings.password = (await lines.next('password: ')) ?? '';
  if (write === undefined) delete output._writeToOutput;
  else output._writeToOutput = write;
  process.stdout.write('\n');
}
