// The interactive loop: prompt, continuation of unfinished statements, Ctrl-C cancels what runs.
import { createInterface } from 'node:readline/promises';
import type { Interface } from 'node:readline/promises';

import { TIDEMARK_VERSION } from '@tidemark/core';
import { parseQuery } from '@tidemark/influxql';

import { Completer } from './completion.ts';
import { addToHistory, historyFile, readHistory } from './history.ts';
import type { Session } from './session.ts';

const PROMPT = '> ';
const CONTINUED = '… ';

/** Runs until the user leaves; the exit status. */
export async function runInteractive(session: Session): Promise<number> {
  const version = await session.client().ping();
  process.stdout.write(
    `Connected to ${session.settings.url}, version ${version}. Shell ${TIDEMARK_VERSION}; help explains it.\n`,
  );
  const file = historyFile(process.env);
  const completer = new Completer(session);
  const readline = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: readHistory(file),
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string) => completer.complete(line),
  });
  let running: AbortController | undefined;
  readline.on('SIGINT', () => {
    if (running !== undefined) running.abort();
    else {
      process.stdout.write('\n(exit or Ctrl-D leaves)\n');
      readline.write(null, { ctrl: true, name: 'u' });
      readline.prompt();
    }
  });
  try {
    for (;;) {
      const statement = await readStatement(readline);
      if (statement === undefined) return 0;
      addToHistory(file, statement);
      if (/^auth\s*$/i.test(statement)) {
        await askCredentials(readline, session);
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
      if (outcome.text !== '') process.stdout.write(`${outcome.text}\n`);
    }
  } finally {
    readline.close();
  }
}

/** A statement of one or more lines; `undefined` at the end of input. An empty line ends an unfinished one. */
async function readStatement(readline: Interface): Promise<string | undefined> {
  let text = '';
  for (;;) {
    const line = await question(readline, text === '' ? PROMPT : CONTINUED);
    if (line === undefined) return text === '' ? undefined : text;
    if (text !== '' && line.trim() === '') return text;
    text = text === '' ? line : `${text}\n${line}`;
    if (!isUnfinished(text)) return text;
  }
}

/** Whether a statement of the query language stops where more is needed. */
export function isUnfinished(text: string): boolean {
  if (!/^\s*(select|show|create|alter|drop|delete|grant|revoke|explain|kill|set)\b/i.test(text))
    return false;
  if (text.trimEnd().endsWith(';')) return false;
  return (parseQuery(text).error ?? '').startsWith('found EOF, expected');
}

async function askCredentials(readline: Interface, session: Session): Promise<void> {
  session.settings.username = (await question(readline, 'username: ')) ?? '';
  // The terminal shows what is typed; hide it by writing nothing while the answer is read.
  const output = readline as unknown as { _writeToOutput?: (text: string) => void };
  const write = output._writeToOutput;
  output._writeToOutput = (text) => {
    if (text.includes('password:')) process.stdout.write('password: ');
  };
  session.settings.password = (await question(readline, 'password: ')) ?? '';
  if (write === undefined) delete output._writeToOutput;
  else output._writeToOutput = write;
  process.stdout.write('\n');
}

function question(readline: Interface, prompt: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(undefined);
    readline.once('close', onClose);
    readline.question(prompt).then(
      (line) => {
        readline.off('close', onClose);
        resolve(line);
      },
      () => resolve(undefined),
    );
  });
}
