// `tidemark task …`: define, show, list, enable, disable, reload, delete, output, stats, watch;
// push is in push.ts, test in ../task-test.ts, pipeline in ../task-pipeline.ts.
import { printLossless } from '@tidemark/client';
import type { Task, TaskChange } from '@tidemark/client';
import { Command, InvalidArgumentError } from 'commander';

import { describeFindings, UsageError } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import {
  clientCommand,
  describeWarnings,
  collect,
  engineClient,
  findTask,
  formatDbrps,
  logLevelOption,
  parseDbrp,
  readDocument,
  readText,
  readVars,
  toArray,
  typeOption,
  warnOfFindings,
} from './context.ts';
import type { ClientFlags, Finish } from './context.ts';
import { eachIdCommand } from './each-id.ts';
import { followLog } from './follow-log.ts';
import { pushCommand } from './push.ts';
import { tapCommand } from './tap.ts';
import { taskPipelineCommand } from '../task-pipeline.ts';
import { taskTestCommand } from '../task-test.ts';

type DefineFlags = ClientFlags & {
  readonly script?: string;
  readonly type?: string;
  readonly template?: string;
  readonly vars?: string;
  readonly file?: string;
  readonly dbrp?: readonly string[];
  readonly split?: number;
  readonly reload: boolean;
};

/** The group of commands. */
export function taskCommand(finish: Finish): Command {
  const group = new Command('task').description('Define and control tasks.');
  group.addCommand(defineCommand());
  group.addCommand(listCommand());
  group.addCommand(showCommand());
  for (const [name, text] of [
    ['enable', 'Start tasks.'],
    ['disable', 'Stop tasks.'],
    ['reload', 'Stop and start tasks, so that a changed script takes effect.'],
    ['delete', 'Delete tasks.'],
  ] as const) {
    group.addCommand(changeCommand(name, text, finish));
  }
  group.addCommand(outputCommand());
  group.addCommand(statsCommand());
  group.addCommand(watchCommand());
  group.addCommand(tapCommand());
  group.addCommand(pushCommand(finish));
  group.addCommand(taskTestCommand(finish));
  group.addCommand(taskPipelineCommand());
  return group;
}

function defineCommand(): Command {
  return clientCommand(
    'define',
    'Create a task, or change the given properties; an enabled task is reloaded.',
  )
    .argument('<id>')
    .option('--script <file>', 'file of the script, - for standard input')
    .addOption(typeOption('derived from the script when left out'))
    .option('--template <id>', 'template instead of a script')
    .option('--vars <file>', 'JSON or YAML file of variables: names with type and value')
    .option('--file <file>', 'JSON or YAML file with template-id, dbrps ("db.rp"), vars and split')
    .option(
      '--dbrp <db.rp>',
      'database and retention policy the task may read; repeatable',
      collect,
    )
    .option(
      '--split <n>',
      'number of parts that share its groups, in a cluster; 1 means unsplit, 0 uses the configuration',
      parseParts,
    )
    .option('--no-reload', 'do not reload an enabled task')
    .action(async (id: string, flags: DefineFlags) => {
      const client = engineClient(flags);
      const change = await changeFrom(flags);
      const existing = await findTask(client, id);
      const task =
        existing === undefined
          ? await client.createTask({ id, ...change })
          : await client.changeTask(id, { ...change, restart: flags.reload });
      if (flags.json === true) printJson(task);
      else
        print(
          `${existing === undefined ? 'defined' : 'changed'} ${task.id} (${task.type}, ${task.status})`,
        );
      warnOfFindings(task);
    });
}

async function changeFrom(flags: DefineFlags): Promise<TaskChange> {
  const file: TaskFile = flags.file === undefined ? {} : await readTaskFile(flags.file);
  const dbrps = (flags.dbrp ?? file.dbrps)?.map(parseDbrp);
  const template = flags.template ?? file['template-id'];
  const vars = flags.vars === undefined ? file.vars : await readVars(flags.vars);
  const split = flags.split ?? file.split;
  return {
    ...(flags.script === undefined ? {} : { script: readText(flags.script) }),
    ...(flags.type === undefined ? {} : { type: flags.type }),
    ...(template === undefined ? {} : { 'template-id': template }),
    ...(dbrps === undefined ? {} : { dbrps }),
    ...(vars === undefined ? {} : { vars }),
    ...(split === undefined ? {} : { split }),
  };
}

function parseParts(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('a number of parts, or 0');
  return Number(text);
}

type TaskFile = {
  readonly 'template-id'?: string;
  readonly dbrps?: readonly string[];
  readonly vars?: TaskChange['vars'];
  readonly split?: number;
};

/** The keys allowed in a file of `--file`. A misspelt one must not be ignored. */
const TASK_FILE_KEYS = ['template-id', 'dbrps', 'vars', 'split'];

async function readTaskFile(file: string): Promise<TaskFile> {
  const document = await readDocument(file);
  const unknown = Object.keys(document).find((key) => !TASK_FILE_KEYS.includes(key));
  if (unknown !== undefined)
    throw new UsageError(`${file}: unknown key ${unknown}; known are ${TASK_FILE_KEYS.join(', ')}`);
  const { dbrps } = document;
  const isList = Array.isArray(dbrps) && dbrps.every((one) => typeof one === 'string');
  if (dbrps !== undefined && !isList)
    throw new UsageError(`${file}: dbrps must be a list of db.rp`);
  return document;
}

const LISTED = ['type', 'status', 'executing', 'dbrps', 'error', 'split'];

function listCommand(): Command {
  return clientCommand('list', 'List tasks.')
    .argument('[pattern...]', 'shell globs on ids')
    .action(async (patterns: readonly string[], flags: ClientFlags) => {
      const client = engineClient(flags);
      const tasks: Task[] = [];
      for (const pattern of patterns.length === 0 ? [''] : patterns) {
        tasks.push(...(await toArray(client.tasks({ pattern, fields: LISTED }))));
      }
      if (flags.json === true) {
        printJson(tasks);
        return;
      }
      print(
        formatTable(
          [
            { title: 'ID', value: (task) => task.id },
            { title: 'Type', value: (task) => task.type },
            { title: 'Status', value: (task) => task.status },
            { title: 'Executing', value: (task) => task.executing },
            { title: 'Databases and Retention Policies', value: (task) => formatDbrps(task.dbrps) },
            // Shown only if some task has it, as in the API's answers.
            ...(tasks.some(({ split }) => split !== undefined)
              ? [{ title: 'Split', value: (task: Task) => task.split ?? '' }]
              : []),
          ],
          tasks,
        ),
      );
    });
}

function showCommand(): Command {
  return clientCommand('show', 'Show a task.')
    .argument('<id>')
    .option('--replay <id>', 'in the context of a running replay')
    .action(async (id: string, flags: ClientFlags & { readonly replay?: string }) => {
      const task = await engineClient(flags).task(id, { replayId: flags.replay });
      if (flags.json === true) printJson(task);
      else print(describeTask(task));
    });
}

function warningsOf({ warnings = [] }: Task): readonly string[] {
  return describeWarnings(warnings).map(
    ({ what, text }) => `${what.charAt(0).toUpperCase()}${what.slice(1)}:${text}`,
  );
}

function describeTask(task: Task): string {
  const vars = Object.entries(task.vars ?? {});
  const lines = [
    `ID: ${task.id}`,
    `Error: ${task.error}${describeFindings(task.diagnostics ?? [], task.error)}`,
    ...warningsOf(task),
    `Template: ${task['template-id'] ?? ''}`,
    `Type: ${task.type}`,
    `Status: ${task.status}`,
    `Executing: ${task.executing}`,
    `Created: ${task.created}`,
    `Modified: ${task.modified}`,
    `LastEnabled: ${task['last-enabled'] ?? ''}`,
    ...(task.split === undefined ? [] : [`Split: ${task.split}`]),
    `Databases Retention Policies: ${formatDbrps(task.dbrps)}`,
    'TICKscript:',
    task.script,
  ];
  if (vars.length > 0) {
    lines.push(
      'Vars:',
      formatTable(
        [
          { title: 'Name', value: ([name]) => name },
          { title: 'Type', value: ([, variable]) => variable.type },
          { title: 'Value', value: ([, variable]) => printLossless(variable.value) },
        ],
        vars,
      ),
    );
  }
  return [...lines, 'DOT:', task.dot].join('\n');
}

function changeCommand(
  name: 'enable' | 'disable' | 'reload' | 'delete',
  description: string,
  finish: Finish,
): Command {
  return eachIdCommand(name, description, finish, {
    noun: 'task',
    list: async (client, pattern) =>
      (await toArray(client.tasks({ pattern, fields: ['status'] }))).map(({ id }) => id),
    act: async (client, id) => {
      if (name === 'delete') await client.deleteTask(id);
      if (name === 'disable' || name === 'reload')
        await client.changeTask(id, { status: 'disabled' });
      if (name === 'enable' || name === 'reload')
        await client.changeTask(id, { status: 'enabled' });
    },
  });
}

function outputCommand(): Command {
  return clientCommand('output', 'Print the content of an httpOut node of a task.')
    .argument('<id>')
    .argument('<endpoint>')
    .action(async (id: string, endpoint: string, flags: ClientFlags) => {
      if (endpoint === '') throw new UsageError('the endpoint is empty');
      printJson(
        await engineClient(flags).http.json(
          `/engine/v1/tasks/${encodeURIComponent(id)}/${encodeURIComponent(endpoint)}`,
        ),
      );
    });
}

type TaskStats = {
  readonly 'task-stats': Readonly<Record<string, number>>;
  readonly 'node-stats': Readonly<Record<string, Readonly<Record<string, number>>>>;
};

function statsCommand(): Command {
  return clientCommand('stats', 'Show the counters of a running task and of each of its nodes.')
    .argument('<id>')
    .action(async (id: string, flags: ClientFlags) => {
      const task = await engineClient(flags).task(id);
      const stats = (task.stats ?? {}) as Partial<TaskStats>;
      if (flags.json === true) {
        printJson(stats);
        return;
      }
      const rows = [
        ...Object.entries(stats['task-stats'] ?? {}).map(([name, value]) => ['', name, value]),
        ...Object.entries(stats['node-stats'] ?? {}).flatMap(([node, counters]) =>
          Object.entries(counters).map(([name, value]) => [node, name, value]),
        ),
      ];
      print(
        formatTable(
          [
            { title: 'Node', value: ([node]) => node ?? '' },
            { title: 'Counter', value: ([, name]) => name ?? '' },
            { title: 'Value', value: ([, , value]) => value ?? 0, isRightAligned: true },
          ],
          rows,
        ),
      );
    });
}

function watchCommand(): Command {
  return clientCommand('watch', 'Follow the log of a task.')
    .argument('<id>')
    .argument('[filter...]', 'further tags that must be equal, for example node=log2')
    .addOption(logLevelOption())
    .option('--lines <count>', 'stop after this many lines')
    .action(
      async (
        id: string,
        filters: readonly string[],
        flags: ClientFlags & { readonly level?: string; readonly lines?: string },
      ) => {
        const client = engineClient(flags);
        // A task that does not exist never logs: report that instead of waiting.
        await client.task(id, { scriptFormat: 'raw' });
        await followLog(client, [`task=${id}`, ...filters], flags);
      },
    );
}
