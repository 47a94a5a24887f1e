// Streams the output of a node of a running task or replay: one JSON object per line.
import { PassThrough } from 'node:stream';
import { InvalidRequest, LimitExceeded, NotFound, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { TapMessage } from '@tidemark/runtime';
import type { Executor } from '../tasks/executor.ts';
import type { Executing } from '../tasks/unit.ts';
import { TAP_READERS, TAP_WAITING_BYTES } from '../limits.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';
import { printTapMessage } from '../try-out/tap-message.ts';

export type TapRoutesOptions = {
  readonly executor: Executor;
  /** The task of a replay, by the replay's id. Throws when there is none for that task. */
  readonly replayOf: (replayId: string, taskId: string) => Executing;
  readonly clock: Clock;
};

/** Interval of checking whether the task still runs. */
const END_CHECK_MS = 500;

export function addTapRoutes(api: Api, options: TapRoutesOptions): void {
  let readerCount = 0;
  api.on('GET', '/taps/:id/:node', async (request): Promise<ApiResponse> => {
    const id = request.params['id'] ?? '';
    const executing = executingOf(id, request, options);
    await request.data.requireRead(executing.databases);
    const nodeName = request.params['node'] ?? '';
    checkNode(executing, nodeName);
    if (readerCount >= TAP_READERS.value) {
      throw new LimitExceeded(`too many open taps: at most ${TAP_READERS.value} are allowed`);
    }
    readerCount++;
    const stream = new PassThrough({ highWaterMark: TAP_WAITING_BYTES.value });
    stream.on('close', () => readerCount--);
    watch(executing, { nodeName, request, stream, options });
    return {
      status: 200,
      stream,
      contentType: 'application/x-ndjson',
      headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
    };
  });
}

function executingOf(id: string, request: ApiRequest, options: TapRoutesOptions): Executing {
  const replayId = request.query.get('replay-id');
  const executing = replayId === '' ? options.executor.running(id) : options.replayOf(replayId, id);
  if (executing === undefined) throw new NotFound(`task ${JSON.stringify(id)} is not running`);
  return executing;
}

function checkNode(executing: Executing, nodeName: string): void {
  const names = executing.pipeline.nodes.map(({ name }) => name);
  if (names.includes(nodeName)) return;
  throw new InvalidRequest(`no node ${JSON.stringify(nodeName)}; the task has ${names.join(', ')}`);
}

function watch(
  executing: Executing,
  {
    nodeName,
    request,
    stream,
    options,
  }: {
    readonly nodeName: string;
    readonly request: ApiRequest;
    readonly stream: PassThrough;
    readonly options: TapRoutesOptions;
  },
): void {
  let missingCount = 0;
  const write = (message: TapMessage): void => {
    if (stream.writableLength >= TAP_WAITING_BYTES.value) {
      missingCount += message.kind === 'dropped' ? message.count : 1;
      return;
    }
    if (missingCount > 0) {
      const dropped = { kind: 'dropped', edge: nodeName, count: missingCount } as const;
      stream.write(`${printTapMessage(dropped)}\n`);
    }
    missingCount = 0;
    stream.write(`${printTapMessage(message)}\n`);
  };
  const stop = executing.task.tap(nodeName, write, {
    group: request.query.get('group') || undefined,
    isExplaining: request.query.get('explain') !== 'false',
  });
  const ended = new AbortController();
  stream.on('close', () => {
    ended.abort();
    stop();
  });
  const limit = AbortSignal.any([request.signal, ended.signal]);
  endWithTask(executing, { limit, options, request }).then(
    () => stream.end(),
    (cause: unknown) => stream.destroy(cause instanceof Error ? cause : undefined),
  );
}

/** Resolves when the task has ended, the client has gone, or it may no longer read. */
async function endWithTask(
  executing: Executing,
  {
    limit,
    options,
    request,
  }: {
    readonly limit: AbortSignal;
    readonly options: TapRoutesOptions;
    readonly request: ApiRequest;
  },
): Promise<void> {
  const isReplay = request.query.get('replay-id') !== '';
  while (!limit.aborted) {
    const { task, id } = executing;
    if (task.error !== undefined || executing.hasEnded === true) return;
    if (!isReplay && options.executor.entry(id)?.task !== task) return;
    if (!(await stillMayRead(request, executing))) return;
    await options.clock.sleep(END_CHECK_MS, limit).catch(() => undefined);
  }
}

/** An unreachable database revokes no rights. */
async function stillMayRead(request: ApiRequest, { databases }: Executing): Promise<boolean> {
  try {
    return await request.data.mayRead(() => databases);
  } catch (error) {
    return error instanceof Unavailable;
  }
}
