// `tidemark service-test …`, and `tidemark engine config|backup|logs|level|stats`.
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

import { messageOf } from '@tidemark/core';
import { PRIVATE_FILE } from '@tidemark/process';
import { Argument, Command } from 'commander';

import { ExitStatus, UsageError } from '../../exit.ts';
import { formatTable, humanBytes, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient, LOG_LEVELS, logLevelOption } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';
import { forEachId, reportIds } from './each-id.ts';
import { followLog } from './follow-log.ts';

/** `tidemark service-test list|run`. */
export function serviceTestCommand(finish: Finish): Command {
  const group = new Command('service-test').description(
    'Test the connections of the engine to other services.',
  );
  group.addCommand(
    clientCommand('list', 'List the available tests.')
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
      .argument('<name...>', 'names or shell globs')
      .option('--options <json>', 'options of the test as a JSON object', '{}')
      .action(async (given: readonly string[], flags: ClientFlags & { options: string }) => {
        const client = engineClient(flags);
        const options = parseOptions(flags.options);
        const rows: { name: string; success: boolean; message: string }[] = [];
        const names = await forEachId(given, {
          list: async (pattern) => (await client.serviceTests(pattern)).map(({ name }) => name),
          act: async (name) => {
            rows.push({ name, ...(await client.testService(name, options)) });
          },
        });
        if (names.length === 0) {
          reportIds(names, { given, noun: 'service test', flags, finish });
          return;
        }
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
  let options: unknown;
  try {
    options = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--options is not JSON: ${messageOf(error)}`);
  }
  if (typeof options === 'object' && options !== null && !Array.isArray(options))
    return options as Readonly<Record<string, unknown>>;
  throw new UsageError('--options must be a JSON object');
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
    .argument('[section]', 'for example smtp; all of them when left out')
    .argument('[element]', 'for example the name of a cluster')
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
      const out = createWriteStream(temporary, { flush: true, mode: PRIVATE_FILE });
      await pipeline(Readable.fromWeb(response.body as ReadableStream), out);
      await rename(temporary, file);
      if (flags.json === true) printJson({ file, bytes: out.bytesWritten });
      else print(`${file}: ${humanBytes(out.bytesWritten)}`);
    });
}

function logs(): Command {
  return clientCommand('logs', 'Follow the log of a running engine.')
    .argument('[filter...]', 'tags that must be equal, for example service=http task=cpu')
    .addOption(logLevelOption())
    .option('--lines <count>', 'stop after this many lines')
    .action((filters: readonly string[], flags: ClientFlags & { level?: string; lines?: string }) =>
      followLog(engineClient(flags), filters, flags),
    );
}

function level(): Command {
  return clientCommand('level', 'Change the log level of a running engine.')
    .addArgument(
      new Argument('<level>', 'the minimum level from now on').choices([...LOG_LEVELS, 'off']),
    )
    .action(async (name: string, flags: ClientFlags) => {
      await engineClient(flags).setLogLevel(name);
      if (flags.json === true) printJson({ level: name });
    });
}

type Statistic = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

function stats(): Command {
  return clientCommand('stats', 'Show counters of a running engine.')
    .addArgument(
      new Argument('[what]', 'of the engine as a whole, or points by where they were written to')
        .choices(['general', 'ingress'])
        .default('general'),
    )
    .action(async (what: 'general' | 'ingress', flags: ClientFlags) => {
      const vars = await engineClient(flags).debugVars();
      if (what === 'ingress') printIngress(vars, flags);
      else if (flags.json === true) printJson(vars);
      else {
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
      }
    });
}

function printIngress(vars: Readonly<Record<string, unknown>>, flags: ClientFlags): void {
  const statistics = (vars[String(vars['product'])] ?? {}) as Readonly<Record<string, Statistic>>;
  const rows = Object.values(statistics)
    .filter(({ name }) => name === 'ingress')
    .map(({ tags, values }) => ({
      database: tags['database'] ?? '',
      retentionPolicy: tags['retention_policy'] ?? '',
      measurement: tags['measurement'] ?? '',
      pointsReceived: Number(values['points_received']),
    }));
  if (flags.json === true) printJson(rows);
  else
    print(
      formatTable(
        [
          { title: 'Database', value: (row) => row.database },
          { title: 'Retention Policy', value: (row) => row.retentionPolicy },
          { title: 'Measurement', value: (row) => row.measurement },
          { title: 'Points Received', value: (row) => row.pointsReceived, isRightAligned: true },
        ],
        rows,
      ),
    );
}
