// `tidemark recording …` and `tidemark replay …`: keep data and run it again through a task.
import type { EngineClient, Recording, Replay } from '@tidemark/client';
import { parseConfigDuration } from '@tidemark/core';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../../exit.ts';
import { waitWithProgress } from '../../output/progress.ts';
import { formatTable, humanBytes, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient, forEachId, toArray } from './context.ts';
import type { ClientFlags } from './context.ts';

type Finish = (status: number) => void;
type WaitFlags = ClientFlags & { readonly wait: boolean };

/** Milliseconds of `10s`, `5m`, `1h30m`, `2d`. */
function millisecondsOf(text: string): number {
  const durationMs = parseConfigDuration(text);
  if (durationMs === undefined || durationMs === 0)
    throw new UsageError(`${text} is not a duration; write 10s, 5m, 1h or 2d`);
  return durationMs;
}

/** `tidemark recording stream|batch|query|list|delete`. */
export function recordingCommand(finish: Finish): Command {
  const group = new Command('recording')
    .alias('record')
    .description('Record live data or query results.');
  group.addCommand(
    clientCommand('stream', 'Record the live data of a task for a while.')
      .requiredOption('--task <id>', 'whose databases and measurements are recorded')
      .requiredOption('--duration <duration>', 'how long, for example 5m')
      .option('--id <id>', 'id of the recording')
      .option('--no-wait', 'return at once')
      .action((flags: WaitFlags & { task: string; duration: string; id?: string }) => {
        const stop = new Date(Date.now() + millisecondsOf(flags.duration)).toISOString();
        return record(flags, finish, 'stream', { task: flags.task, stop, id: flags.id });
      }),
  );
  group.addCommand(
    clientCommand('batch', "Record the results of a task's queries over a time range.")
      .requiredOption('--task <id>', 'whose queries are run')
      .option('--past <duration>', 'the range ends now and is this long')
      .option('--start <time>', 'start of the range, RFC 3339')
      .option('--stop <time>', 'end of the range, RFC 3339; default now')
      .option('--id <id>', 'id of the recording')
      .option('--no-wait', 'return at once')
      .action(
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
    clientCommand('query', 'Record the result of a query.')
      .requiredOption('--query <text>', 'one SELECT with a fully qualified measurement')
      .requiredOption('--type <type>', 'stream or batch')
      .option('--cluster <name>', 'which configured database')
      .option('--id <id>', 'id of the recording')
      .option('--no-wait', 'return at once')
      .action((flags: WaitFlags & { query: string; type: string; cluster?: string; id?: string }) =>
        record(flags, finish, 'query', {
          query: flags.query,
          type: flags.type,
          cluster: flags.cluster,
          id: flags.id,
        }),
      ),
  );
  group.addCommand(listRecordings());
  group.addCommand(
    deleteCommand('Delete recordings with their data.', finish, {
      list: async (client, pattern) =>
        (await toArray(client.recordings({ pattern }))).map(({ id }) => id),
      remove: (client, id) => client.deleteRecording(id),
    }),
  );
  return group;
}

function rangeOf(flags: {
  readonly past?: string;
  readonly start?: string;
  readonly stop?: string;
}): { readonly start: string; readonly stop?: string | undefined } {
  if ((flags.past === undefined) === (flags.start === undefined))
    throw new UsageError('give either --past or --start');
  if (flags.past === undefined) return { start: flags.start ?? '', stop: flags.stop };
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

/** `tidemark replay recording|batch|query|list|delete`. */
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
  group.addCommand(
    deleteCommand('Cancel or delete replays.', finish, {
      list: async (client, pattern) =>
        (await toArray(client.replays({ pattern }))).map(({ id }) => id),
      remove: (client, id) => client.deleteReplay(id),
    }),
  );
  return group;
}

/** `tidemark replay-live batch|query`: data of the database, fetched now and not kept. */
export function replayLiveCommand(finish: Finish): Command {
  const group = new Command('replay-live').description(
    'Run data of the database through a task without recording it.',
  );
  for (const command of liveReplays(finish)) group.addCommand(command);
  return group;
}

function replayOptions(command: Command): Command {
  return command
    .requiredOption('--task <id>', 'the task')
    .option('--real-clock', 'wait between points as long as it took when they were recorded')
    .option('--rec-time', 'keep the recorded times instead of shifting them to now')
    .option('--id <id>', 'id of the replay')
    .option('--no-wait', 'return at once');
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
    replayOptions(clientCommand('batch', 'Run a batch task over a past time range.'))
      .option('--past <duration>', 'the range ends now and is this long')
      .option('--start <time>', 'start of the range, RFC 3339')
      .option('--stop <time>', 'end of the range, RFC 3339; default now')
      .action((flags: ReplayFlags & { past?: string; start?: string; stop?: string }) =>
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

type Removable = {
  readonly list: (client: EngineClient, pattern: string) => Promise<readonly string[]>;
  readonly remove: (client: EngineClient, id: string) => Promise<void>;
};

function deleteCommand(description: string, finish: Finish, what: Removable): Command {
  return clientCommand('delete', description)
    .argument('<id...>', 'ids or shell globs')
    .action(async (ids: readonly string[], flags: ClientFlags) => {
      const client = engineClient(flags);
      const count = await forEachId(
        ids,
        (pattern) => what.list(client, pattern),
        (id) => what.remove(client, id),
      );
      finish(count === 0 ? ExitStatus.Failed : ExitStatus.Ok);
    });
}
