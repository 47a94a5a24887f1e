// `tidemark service-test …`, and `tidemark engine config|backup|logs|level|stats`.
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

import { Command } from 'commander';

import { ExitStatus, UsageError } from '../../exit.ts';
import { formatTable, humanBytes, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient } from './context.ts';
import type { ClientFlags } from './context.ts';
import { followLog } from './follow-log.ts';

/** `tidemark service-test list|run`. */
export function serviceTestCommand(finish: (status: number) => void): Command {
  const group = new Command('service-test').description(
    'Test the connections of the engine to other services.',
  );
  group.addCommand(
    clientCommand('list', 'List what can be tested.')
      .argument('[pattern]', 'shell glob on names')
      .action(async (pattern: string | undefined, flags: ClientFlags) => {
        const services = await engineClient(flags).serviceTests(pattern);
        if (flags.json === true) printJson(services);
        else
          print(
            formatTable([{ title: 'Service Name', value: (service) => service.name }], services),
          );
      }),
  );
  group.addCommand(
    clientCommand('run', 'Test services; exit status 1 when one fails.')
      .argument('<name...>')
      .option('--options <json>', 'options of the test as a JSON object', '{}')
      .action(async (names: readonly string[], flags: ClientFlags & { options: string }) => {
        const client = engineClient(flags);
        const options = parseOptions(flags.options);
        const rows: { name: string; success: boolean; message: string }[] = [];
        for (const name of names) rows.push({ name, ...(await client.testService(name, options)) });
        if (flags.json === true) printJson(rows);
        else
          print(
            formatTable(
              [
                { title: 'Service', value: (row) => row.name },
                { title: 'Success', value: (row) => row.success },
                { title: 'Message', value: (row) => row.message },
              ],
              rows,
            ),
          );
        finish(rows.every((row) => row.success) ? ExitStatus.Ok : ExitStatus.Failed);
      }),
  );
  return group;
}

function parseOptions(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(
      `--options is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Subcommands of `tidemark engine` that talk to a running engine. */
export function engineClientCommands(): readonly Command[] {
  return [configShow(), backup(), logs(), level(), stats()];
}

function configShow(): Command {
  return clientCommand(
    'config',
    'Show the effective configuration of a running engine, without secrets.',
  )
    .argument('[section]')
    .argument('[element]')
    .action(
      async (section: string | undefined, element: string | undefined, flags: ClientFlags) => {
        printJson(await engineClient(flags).config(section, element));
      },
    );
}

function backup(): Command {
  return clientCommand(
    'backup',
    'Save tasks, templates, topics and configuration overrides in one file.',
  )
    .argument('<file>')
    .action(async (file: string, flags: ClientFlags) => {
      const response = await engineClient(flags).backup(AbortSignal.timeout(600_000));
      if (response.body === null) throw new Error('the engine sent no backup');
      const temporary = `${file}.part`;
      const out = createWriteStream(temporary, { flush: true });
      await pipeline(Readable.fromWeb(response.body as ReadableStream), out);
      await rename(temporary, file);
      if (flags.json === true) printJson({ file, bytes: out.bytesWritten });
      else print(`${file}: ${humanBytes(out.bytesWritten)}`);
    });
}

function logs(): Command {
  return clientCommand('logs', 'Follow the log of a running engine.')
    .argument('[filter...]', 'tags that must be equal, for example service=http task=cpu')
    .option('--level <level>', 'least important level: debug, info, warn, error')
    .option('--lines <count>', 'leave after so many lines')
    .action((filters: readonly string[], flags: ClientFlags & { level?: string; lines?: string }) =>
      followLog(engineClient(flags), filters, flags),
    );
}

function level(): Command {
  return clientCommand('level', 'Change the log level of a running engine.')
    .argument('<level>', 'debug, info, warn, error or off')
    .action(async (name: string, flags: ClientFlags) => engineClient(flags).setLogLevel(name));
}

function stats(): Command {
  return clientCommand('stats', 'Show counters of a running engine.').action(
    async (flags: ClientFlags) => {
      const vars = await engineClient(flags).debugVars();
      if (flags.json === true) {
        printJson(vars);
        return;
      }
      const plain = Object.entries(vars).filter(
        ([, value]) => typeof value === 'number' || typeof value === 'string',
      );
      print(
        formatTable(
          [
            { title: 'Name', value: ([name]) => name },
            { title: 'Value', value: ([, value]) => String(value) },
          ],
          plain,
        ),
      );
    },
  );
}
