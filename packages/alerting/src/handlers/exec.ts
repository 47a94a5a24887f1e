// exec: runs a program for each event, with the event as JSON on its standard input.
import { execHandler } from '@tidemark/pipeline';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { printEventJson } from '../event.ts';
import { deliver } from '../handler.ts';
import { startProgram } from '@tidemark/process';

const OUTPUT_CHARS_MAX = 4096;

export const exec = deliver(execHandler, {
  validate: ({ prog }) => (prog === '' ? 'must provide a program to execute' : undefined),
  send: (event, options, context) =>
    run(options.prog, options.args ?? [], {
      input: `${printEventJson(event)}\n`,
      signal: context.signal,
    }),
});

function run(
  program: string,
  programArguments: readonly string[],
  options: { readonly input: string; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = startProgram(program, programArguments, { signal: options.signal });
    let output = '';
    const keep = (chunk: Buffer): void => {
      if (output.length < OUTPUT_CHARS_MAX) output += chunk.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    // A program may end without reading its input, which is no failure.
    child.stdin.on('error', () => undefined);
    child.on('error', (cause) => {
      const isMissing = 'code' in cause && cause.code === 'ENOENT';
      const message = `cannot run program: ${cause.message}`;
      reject(
        isMissing ? new InvalidRequest(message, { cause }) : new Unavailable(message, { cause }),
      );
    });
    child.on('close', (code, signalName) => {
      if (code === 0) {
        resolve();
        return;
      }
      const how = code === null ? `ended by ${signalName}` : `exit status ${code}`;
      reject(new InvalidRequest(`${program}: ${how}: ${output.trim()}`));
    });
    child.stdin.end(options.input);
  });
}
