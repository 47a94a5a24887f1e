// `tidemark task push DIR`: defines everything in a load directory through the API of a running
// engine. The layout is that of the engine's own load directory: templates/, tasks/ and handlers/.
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

import type { EngineClient, Handler, TaskChange } from '@tidemark/client';
import type { Command } from 'commander';

import { describeError, ExitStatus, UsageError } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import {
  clientCommand,
  engineClient,
  findTask,
  parseDbrp,
  readDocument,
  readText,
  warnOfFindings,
} from './context.ts';
import type { ClientFlags } from './context.ts';
import { defineTemplate } from './template.ts';
import { defineHandler } from './topic.ts';

type PushFlags = ClientFlags & { readonly enable?: boolean };

type Pushed = {
  readonly kind: 'template' | 'task' | 'handler';
  readonly id: string;
  readonly change: 'defined' | 'changed';
};

/** Folders in order of dependency, with their file name extensions. */
const FOLDERS = [
  { name: 'templates', extensions: ['.tick'] },
  { name: 'tasks', extensions: ['.tick', '.json', '.yaml', '.yml'] },
  { name: 'handlers', extensions: ['.json', '.yaml', '.yml'] },
] as const;

/** The subcommand. One invalid file does not stop the others; the exit status tells. */
export function pushCommand(finish: (status: number) => void): Command {
  return clientCommand(
    'push',
    'Define the templates, tasks and handlers of a directory (templates/*.tick, tasks/*.tick|json|yaml, handlers/*.json|yaml).',
  )
    .argument('<dir>')
    .option('--enable', 'enable the tasks')
    .action(async (directory: string, flags: PushFlags) => {
      const client = engineClient(flags);
      const pushed: Pushed[] = [];
      let failures = 0;
      for (const file of filesOf(directory)) {
        try {
          pushed.push(await pushFile(client, file, flags));
        } catch (error) {
          // The other files are independent of this one.
          failures++;
          process.stderr.write(`tidemark: ${file.path}: ${describeError(error)}\n`);
        }
      }
      if (flags.json === true) printJson(pushed);
      else
        print(
          formatTable(
            [
              { title: 'Change', value: (one) => one.change },
              { title: 'Kind', value: (one) => one.kind },
              { title: 'ID', value: (one) => one.id },
            ],
            pushed,
          ),
        );
      if (failures > 0) finish(ExitStatus.Failed);
    });
}

type File = {
  readonly folder: (typeof FOLDERS)[number]['name'];
  readonly path: string;
  readonly id: string;
};

function filesOf(directory: string): readonly File[] {
  const files = FOLDERS.flatMap(({ name: folder, extensions }): File[] =>
    namesIn(join(directory, folder))
      .filter((name) => extensions.some((extension) => extension === extname(name)))
      .map((name) => ({
        folder,
        path: join(directory, folder, name),
        id: basename(name, extname(name)),
      })),
  );
  if (files.length === 0)
    throw new UsageError(`${directory} has no files in templates/, tasks/ or handlers/`);
  return files;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    // Any of the folders may be missing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function pushFile(
  client: EngineClient,
  { folder, path, id }: File,
  flags: PushFlags,
): Promise<Pushed> {
  switch (folder) {
    case 'templates': {
      const { isNew } = await defineTemplate(client, id, { script: readText(path) });
      return { kind: 'template', id, change: isNew ? 'defined' : 'changed' };
    }
    case 'tasks':
      return pushTask(client, { id, ...(await taskOf(path)) }, flags);
    case 'handlers': {
      const { topic, ...document } = await readDocument(path);
      if (typeof topic !== 'string') throw new UsageError('must name a topic');
      const handler: Handler = { id, ...document };
      const { isNew } = await defineHandler(client, topic, handler);
      return { kind: 'handler', id: handler.id, change: isNew ? 'defined' : 'changed' };
    }
  }
}

async function taskOf(path: string): Promise<TaskChange> {
  if (extname(path) === '.tick') return { script: readText(path) };
  const { dbrps, ...document } = (await readDocument(path)) as Omit<TaskChange, 'dbrps'> & {
    readonly dbrps?: readonly string[];
  };
  return { ...document, ...(dbrps === undefined ? {} : { dbrps: dbrps.map(parseDbrp) }) };
}

async function pushTask(
  client: EngineClient,
  { id = '', ...change }: TaskChange,
  flags: PushFlags,
): Promise<Pushed> {
  const existing = await findTask(client, id);
  const wanted = flags.enable === true ? { ...change, status: 'enabled' as const } : change;
  const task =
    existing === undefined
      ? await client.createTask({ id, ...wanted })
      : await client.changeTask(id, { ...wanted, restart: true });
  warnOfFindings(task);
  return { kind: 'task', id, change: existing === undefined ? 'defined' : 'changed' };
}
