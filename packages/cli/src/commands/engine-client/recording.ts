// `tidemark recording …` and `tidemark replay …`: record data and replay it through a task.
import type { Recording, Replay } from '@tidemark/client';
import { parseConfigDuration } from '@tidemark/settings';
import { Command, InvalidArgumentError, Option } from 'commander';

import { ExitStatus, UsageError } from '../../exit.ts';
import { waitWithProgress } from '../../output/progress.ts';
import { formatTable, humanBytes, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient, toArray, typeOption } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';
import { eachIdCommand } from './each-id.ts';

type WaitFlags = ClientFlags & { readonly wait: boolean };

/** Milliseconds of `10s`, `5m`, `1h30m`, `2d`. */
function millisecondsOf(text: string): number {
  const durationMs = parseConfigDuration(text);
  if (durationMs === undefined || durationMs === 0)
    throw new UsageError(`${text} is not a duration; write 10s, 5m, 1h or 2d`);
  return durationMs;
}

/** Adds the options for a time range in the database. */
function rangeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--past <duration>',
        'the range ends now and is this long, for example 1h',
      ).conflicts(['start', 'stop']),
    )
    .addOption(new Option('--start <time>', 'start of the range, RFC 3339').argParser(parseTime))
    .addOption(
      new Option('--stop <time>', 'end of the range, RFC 3339; default now').argParser(parseTime),
    );
}

function parseTime(text: string): string {
  // A date alone means midnight UTC; the engine requires a time.
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return parseTime(`${text}T00:00:00Z`);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text);
  if (isTime && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('Write it as 2024-01-31T15:04:05Z.');
}

const waitOptions = (command: Command, what: string): Command =>
  command
    .option('--id <id>', `id of the ${what}; a random one when left out`)
    .option('--no-wait', 'return at once; by default the command waits for the end')
    .addHelpText(
      'after',
      `
Prints the id of the ${what}, and a progress bar on a terminal. Ctrl-C ends the waiting only: the
${what} goes on (exit status 1). \`tidemark ${what} delete ID\` cancels it.`,
    );

/** `tidemark recording stream|batch|query|list|show|delete`. */
export function recordingCommand(finish: Finish): Command {
  const group = new Command('recording')
    .alias('record')
    .description('Record live data or query results.');
  group.addCommand(
    waitOptions(
      clientCommand('stream', 'Record the live data of a task for a while.')
        .requiredOption('--task <id>', 'the task whose databases and measurements are recorded')
        .requiredOption('--duration <duration>', 'how long, for example 5m'),
      'recording',
    ).action((flags: WaitFlags & { task: string; duration: string; id?: string }) => {
      // The engine measures it by its own clock, which may differ from this machine's.
      const duration = `${millisecondsOf(flags.duration)}ms`;
      return record(flags, finish, 'stream', { task: flags.task, duration, id: flags.id });
    }),
  );
  group.addCommand(
    waitOptions(
      rangeOptions(
        clientCommand(
          'batch',
          "Record the results of a task's queries over a time range.",
        ).requiredOption('--task <id>', 'the task whose queries are run'),
      ),
      'recording',
    ).action(
      (
        flags: WaitFlags & {
          task: string;
          past?: string;
          start?: string;
          stop?: string;
          id?: string;
        },
      ) => record(flags, finish, 'batch', { task: flags.task, ...rangeOf(flags), id: flags.id }),
    ),
  );
  group.addCommand(
    waitOptions(
      clientCommand('query', 'Record the result of a query.')
        .requiredOption('--query <text>', 'one SELECT with a fully qualified measurement')
        .addOption(typeOption('the type of task that it is for').makeOptionMandatory())
        .option('--cluster <name>', 'which configured database; the default one when left out'),
      'recording',
    ).action((flags: WaitFlags & { query: string; type: string; cluster?: string; id?: string }) =>
      record(flags, finish, 'query', {
        query: flags.query,
        type: flags.type,
        cluster: flags.cluster,
        id: flags.id,
      }),
    ),
  );
  group.addCommand(listRecordings());
  group.addCommand(showRecording());
  group.addCommand(
    eachIdCommand(
      'delete',
      'Delete recordings with their data; one that runs is cancelled.',
      finish,
      {
        noun: 'recording',
        list: async (client, pattern) =>
          (await toArray(client.recordings({ pattern }))).map(({ id }) => id),
        act: (client, id) => client.deleteRecording(id),
      },
    ),
  );
  return group;
}

function rangeOf(flags: {
  readonly past?: string;
  readonly start?: string;
  readonly stop?: string;
}): { readonly start: string; readonly stop?: string | undefined } {
  if (flags.past === undefined) {
    if (flags.start === undefined) throw new UsageError('give either --past or --start');
    return { start: flags.start, stop: flags.stop };
  }
  const now = Date.now();
  return {
    start: new Date(now - millisecondsOf(flags.past)).toISOString(),
    stop: new Date(now).toISOString(),
  };
}

async function record(
  flags: WaitFlags,
  finish: Finish,
  kind: 'stream' | 'batch' | 'query',
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  const client = engineClient(flags);
  const started = await client.record(kind, body);
  await finishRun(flags, finish, {
    label: 'recording',
    started,
    poll: () => client.recording(started.id),
  });
}

type ReplayFlags = WaitFlags & {
  readonly task: string;
  readonly realClock?: boolean;
  readonly recTime?: boolean;
  readonly id?: string;
};

/** `tidemark replay recording|batch|query|list|show|delete`. */
export function replayCommand(finish: Finish): Command {
  const group = new Command('replay').description('Run recorded or fetched data through a task.');
  group.addCommand(
    replayOptions(
      clientCommand('recording', 'Replay a recording.').requiredOption(
        '--recording <id>',
        'the recording',
      ),
    ).action((flags: ReplayFlags & { recording: string }) =>
      replay(flags, finish, '', { ...replayBody(flags), recording: flags.recording }),
    ),
  );
  for (const command of liveReplays(finish)) group.addCommand(command);
  group.addCommand(listReplays());
  group.addCommand(showReplay());
  group.addCommand(
    eachIdCommand('delete', 'Delete replays; one that runs is cancelled.', finish, {
      noun: 'replay',
      list: async (client, pattern) =>
        (await toArray(client.replays({ pattern }))).map(({ id }) => id),
      act: (client, id) => client.deleteReplay(id),
    }),
  );
  return group;
}

/** `tidemark replay-live batch|query`: replays data of the database, fetched now and not stored. */
export function replayLiveCommand(finish: Finish): Command {
  const group = new Command('replay-live').description(
    'Run data of the database through a task without recording it.',
  );
  for (const command of liveReplays(finish)) group.addCommand(command);
  return group;
}

function replayOptions(command: Command): Command {
  return waitOptions(
    command
      .requiredOption('--task <id>', 'the task; it may be disabled')
      .option('--real-clock', 'wait between points as long as it took when they were recorded')
      .option('--rec-time', 'keep the recorded times instead of shifting them to now'),
    'replay',
  );
}

function replayBody(flags: ReplayFlags): Readonly<Record<string, unknown>> {
  return {
    task: flags.task,
    id: flags.id,
    clock: flags.realClock === true ? 'real' : 'fast',
    'recording-time': flags.recTime === true,
  };
}

function liveReplays(finish: Finish): readonly Command[] {
  return [
    rangeOptions(
      replayOptions(clientCommand('batch', 'Run a batch task over a past time range.')),
    ).action((flags: ReplayFlags & { past?: string; start?: string; stop?: string }) =>
      replay(flags, finish, 'batch', { ...replayBody(flags), ...rangeOf(flags) }),
    ),
    replayOptions(
      clientCommand('query', 'Run the result of a query through a task.').requiredOption(
        '--query <text>',
        'one SELECT with a fully qualified measurement',
      ),
    )
      .option('--cluster <name>', 'which configured database')
      .action((flags: ReplayFlags & { query: string; cluster?: string }) =>
        replay(flags, finish, 'query', {
          ...replayBody(flags),
          query: flags.query,
          cluster: flags.cluster,
        }),
      ),
  ];
}

async function replay(
  flags: WaitFlags,
  finish: Finish,
  kind: '' | 'batch' | 'query',
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  const client = engineClient(flags);
  const started = await client.startReplay(kind, body);
  await finishRun(flags, finish, {
    label: 'replay',
    started,
    poll: () => client.replay(started.id),
  });
}

async function finishRun<T extends Recording | Replay>(
  flags: WaitFlags,
  finish: Finish,
  run: { readonly label: string; readonly started: T; readonly poll: () => Promise<T> },
): Promise<void> {
  const state = flags.wait ? await waitWithProgress(run.label, run.poll) : run.started;
  if (flags.json === true) printJson(state);
  else print(state.id);
  if (flags.wait && state.status === 'running') {
    process.stderr.write(
      `tidemark: not waited for: the ${run.label} goes on; \`tidemark ${run.label} delete ${state.id}\` cancels it\n`,
    );
    finish(ExitStatus.Failed);
  }
  if (state.status === 'failed') {
    process.stderr.write(`tidemark: the ${run.label} failed: ${state.error}\n`);
    finish(ExitStatus.Failed);
  }
}

function listRecordings(): Command {
  return clientCommand('list', 'List recordings, newest first.')
    .argument('[pattern]', 'shell glob on ids')
    .action(async (pattern: string | undefined, flags: ClientFlags) => {
      const recordings = await toArray(engineClient(flags).recordings({ pattern }));
      if (flags.json === true) {
        printJson(recordings);
        return;
      }
      print(
        formatTable(
          [
            { title: 'ID', value: (recording) => recording.id },
            { title: 'Type', value: (recording) => recording.type },
            { title: 'Status', value: (recording) => recording.status },
            {
              title: 'Size',
              value: (recording) => humanBytes(recording.size),
              isRightAligned: true,
            },
            { title: 'Date', value: (recording) => recording.date },
          ],
          recordings,
        ),
      );
    });
}

function showRecording(): Command {
  return clientCommand('show', 'Show a recording and how far it is.')
    .argument('<id>')
    .action(async (id: string, flags: ClientFlags) => {
      const recording = await engineClient(flags).recording(id);
      if (flags.json === true) {
        printJson(recording);
        return;
      }
      const { type, status, progress, error, size, date } = recording;
      print(
        `ID: ${id}\nType: ${type}\nStatus: ${status}\nProgress: ${percent(progress)}\nError: ${error}\nSize: ${humanBytes(size)}\nDate: ${date}`,
      );
    });
}

function showReplay(): Command {
  return clientCommand('show', 'Show a replay and how far it is.')
    .argument('<id>')
    .action(async (id: string, flags: ClientFlags) => {
      const replay = await engineClient(flags).replay(id);
      if (flags.json === true) {
        printJson(replay);
        return;
      }
      const { task, recording, status, progress, error, clock, date = '' } = replay;
      print(
        `ID: ${id}\nTask: ${task}\nRecording: ${recording}\nStatus: ${status}\nProgress: ${percent(progress)}\nError: ${error}\nClock: ${clock}\nRecording time: ${replay['recording-time']}\nDate: ${date}`,
      );
    });
}

const percent = (part: number): string => `${Math.round(part * 100)} %`;

function listReplays(): Command {
  return clientCommand('list', 'List replays, newest first.')
    .argument('[pattern]', 'shell glob on ids')
    .action(async (pattern: string | undefined, flags: ClientFlags) => {
      const replays = await toArray(engineClient(flags).replays({ pattern }));
      if (flags.json === true) {
        printJson(replays);
        return;
      }
      print(
        formatTable(
          [
            { title: 'ID', value: (one) => one.id },
            { title: 'Task', value: (one) => one.task },
            { title: 'Recording', value: (one) => one.recording },
            { title: 'Status', value: (one) => one.status },
            { title: 'Clock', value: (one) => one.clock },
            { title: 'Date', value: (one) => one.date ?? '' },
          ],
          replays,
        ),
      );
    });
}
