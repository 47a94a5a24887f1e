// exec: runs a program for each event, with the event as JSON on its standard input.
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { startProgram } from '@tidemark/core/start-program';
import { list, str } from '@tidemark/settings';
import { printEventJson } from '../event.ts';
import { defineHandler } from '../handler.ts';

const OUTPUT_CHARS_MAX = 4096;

export const exec = defineHandler({
  kind: 'exec',
  doc: 'Runs a program for each event; the event is its standard input.',
  options: {
    prog: str('The program.'),
    args: list('Its arguments.'),
  },
  validate: (options, context) => {
    const program = options.prog;
    if (program === '') return 'must provide a program to execute';
    return context.access.refuseProgram(program);
  },
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
    // A program may end without reading its input; that alone is no failure.
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
