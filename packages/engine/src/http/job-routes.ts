// Endpoints of recordings and replays.
import { InvalidRequest, parseRfc3339 } from '@tidemark/core';
import { parseConfigDuration } from '@tidemark/settings';
import type { Clock, Timestamp } from '@tidemark/core';
import { UNKNOWN_DATABASE } from '../access/data-access.ts';
import type { Recordings, StreamEnd } from '../jobs/recordings.ts';
import type { ReplayInput, Replays } from '../jobs/replays.ts';
import type { RecordingRecord, ReplayRecord } from '../store/records.ts';
import { asObject, parseJson } from '../formats/json.ts';
import { optionalChoice, optionalFlag, optionalText } from './members.ts';
import type { Document } from './members.ts';
import { pickFields, readFields, readPage } from '../formats/params.ts';
import { pathTo } from './routes.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';
import { takePage } from './task-routes.ts';

const RECORDING_FIELDS = ['type', 'size', 'date', 'error', 'status', 'progress'];
const REPLAY_FIELDS = [
  'task',
  'recording',
  'recording-time',
  'clock',
  'date',
  'error',
  'status',
  'progress',
  'stats',
];

export type JobRoutesOptions = {
  readonly recordings: Recordings;
  readonly replays: Replays;
  readonly clock: Clock;
};

export function addJobRoutes(api: Api, { recordings, replays, clock }: JobRoutesOptions): void {
  addRecordingRoutes(api, recordings, clock);
  addReplayRoutes(api, replays, clock);
}

function addRecordingRoutes(api: Api, recordings: Recordings, clock: Clock): void {
  const created = (request: ApiRequest, record: RecordingRecord): ApiResponse => ({
    status: 201,
    json: recordingView(request, record),
  });
  api.on('POST', '/recordings/stream', async (request) => {
    const body = readBody(request);
    const record = await recordings.recordStream({
      id: text(body, 'id'),
      task: text(body, 'task'),
      end: endOfStream(body),
    });
    return created(request, record);
  });
  api.on('POST', '/recordings/batch', async (request) => {
    const body = readBody(request);
    const start = time(body, 'start');
    if (start === undefined) throw new InvalidRequest('must provide start time');
    const stop = stopOf(body, clock);
    const input = { id: text(body, 'id'), task: text(body, 'task'), start, stop };
    return created(request, await recordings.recordBatch(input));
  });
  api.on('POST', '/recordings/query', async (request) => {
    const body = readBody(request);
    const type = optionalChoice(body, 'type', ['stream', 'batch']);
    const query = text(body, 'query');
    if (query === '') throw new InvalidRequest('must provide query');
    if (type === undefined) throw new InvalidRequest('must provide type, stream or batch');
    const input = { id: text(body, 'id'), type, query, cluster: text(body, 'cluster') };
    return created(request, await recordings.recordQuery(input));
  });
  api.on('GET', '/recordings/:id', async (request) => {
    const record = recordings.require(request.params['id'] ?? '');
    await request.data.requireRead(databasesOf(record));
    return { status: statusOf(record), json: recordingView(request, record) };
  });
  api.on('DELETE', '/recordings/:id', async (request) => {
    await recordings.delete(request.params['id'] ?? '');
    return { status: 204 };
  });
  api.on('GET', '/recordings', async (request) => ({
    status: 200,
    json: {
      recordings: await listView(request, recordings.list(), {
        known: RECORDING_FIELDS,
        // The instance that has its file, in a cluster.
        onRequest: ['instance'],
        view: (record) => ({
          ...recordingView(request, record),
          instance: record.instance ?? null,
        }),
      }),
    },
  }));
}

function addReplayRoutes(api: Api, replays: Replays, clock: Clock): void {
  const created = (request: ApiRequest, record: ReplayRecord): ApiResponse => ({
    status: 201,
    json: replayView(request, record),
  });
  const replayRecording = async (request: ApiRequest): Promise<ApiResponse> => {
    const body = readBody(request);
    const input = { ...readReplay(body), recording: text(body, 'recording') };
    return created(request, await replays.replayRecording(input));
  };
  api.on('POST', '/replays', replayRecording);
  api.on('POST', '/replays/', replayRecording);
  api.on('POST', '/replays/batch', async (request) => {
    const body = readBody(request);
    const start = time(body, 'start');
    if (start === undefined) throw new InvalidRequest('must provide start time');
    const input = { ...readReplay(body), start, stop: stopOf(body, clock) };
    return created(request, await replays.replayBatch(input));
  });
  api.on('POST', '/replays/query', async (request) => {
    const body = readBody(request);
    const query = text(body, 'query');
    if (query === '') throw new InvalidRequest('must provide query');
    const input = { ...readReplay(body), query, cluster: text(body, 'cluster') };
    return created(request, await replays.replayQuery(input));
  });
  api.on('GET', '/replays/:id', async (request) => {
    const record = replays.require(request.params['id'] ?? '');
    await request.data.requireRead(databasesOf(record));
    return { status: statusOf(record), json: replayView(request, record) };
  });
  api.on('DELETE', '/replays/:id', async (request) => {
    await replays.delete(request.params['id'] ?? '');
    return { status: 204 };
  });
  const list = async (request: ApiRequest): Promise<ApiResponse> => ({
    status: 200,
    json: {
      replays: await listView(request, replays.list(), {
        known: REPLAY_FIELDS,
        view: (record) => replayView(request, record),
      }),
    },
  });
  api.on('GET', '/replays', list);
  api.on('GET', '/replays/', list);
}

function statusOf(record: { readonly status: string }): 200 | 202 {
  return record.status === 'running' ? 202 : 200;
}

type JobRecord = { readonly id: string; readonly databases?: readonly string[] | undefined };

/** Records of older versions have no databases. */
function databasesOf({ databases }: JobRecord): readonly string[] {
  return databases ?? [UNKNOWN_DATABASE];
}

// As recorded, unknown fields are only noticed if there is something to show.
async function listView<R extends JobRecord>(
  request: ApiRequest,
  all: readonly R[],
  {
    known,
    onRequest = [],
    view,
  }: {
    readonly known: readonly string[];
    /** Fields that are left out unless requested. */
    readonly onRequest?: readonly string[];
    readonly view: (record: R) => Readonly<Record<string, unknown>>;
  },
): Promise<readonly unknown[]> {
  readPage(request.query);
  const page = takePage(await request.data.readable(all, databasesOf), request);
  if (page.length === 0) return [];
  const asked = readFields(request.query, [...known, ...onRequest]);
  const fields = asked ?? new Set(['link', 'id', ...known]);
  return page.map((record) => pickFields(view(record), fields));
}

function recordingView(
  request: ApiRequest,
  record: RecordingRecord,
): Readonly<Record<string, unknown>> {
  return {
    link: { rel: 'self', href: pathTo(`${request.base}/recordings`, record.id) },
    id: record.id,
    type: record.type,
    size: record.sizeBytes,
    date: record.date,
    error: record.error,
    status: record.status,
    progress: record.progress,
  };
}

function replayView(request: ApiRequest, record: ReplayRecord): Readonly<Record<string, unknown>> {
  return {
    link: { rel: 'self', href: pathTo(`${request.base}/replays`, record.id) },
    id: record.id,
    task: record.task,
    recording: record.recording,
    'recording-time': record.isRecordingTime,
    clock: record.clock,
    date: record.date,
    error: record.error,
    status: record.status,
    progress: record.progress,
    stats: parseJson(Buffer.from(record.statsJson), ''),
  };
}

function readBody(request: ApiRequest): Document {
  return asObject(parseJson(request.body, ''), 'json: expected an object');
}

function readReplay(body: Document): ReplayInput {
  const clock = optionalChoice(body, 'clock', ['fast', 'real']) ?? 'fast';
  const isRecordingTime = optionalFlag(body, 'recording-time') ?? false;
  return { id: text(body, 'id'), task: text(body, 'task'), isRecordingTime, clock };
}

function text(body: Document, name: string): string {
  return optionalText(body, name) ?? '';
}

/** The end of a recording of the stream: at a time, or after a duration by this engine's clock. */
function endOfStream(body: Document): StreamEnd {
  const stop = time(body, 'stop');
  const duration = text(body, 'duration');
  if (duration === '') {
    if (stop === undefined) throw new InvalidRequest('must provide stop time');
    return { kind: 'time', stop };
  }
  if (stop !== undefined) throw new InvalidRequest('give either stop or duration');
  const durationMs = parseConfigDuration(duration);
  if (durationMs === undefined || durationMs === 0) {
    throw new InvalidRequest(`invalid duration ${JSON.stringify(duration)}, write 10s, 5m or 1h`);
  }
  return { kind: 'duration', durationMs };
}

/** End of the range of queries, at most now. */
function stopOf(body: Document, clock: Clock): Timestamp {
  const now = clock.now();
  const stop = time(body, 'stop') ?? now;
  return stop < now ? stop : now;
}

function time(body: Document, name: string): Timestamp | undefined {
  const value = text(body, name);
  if (value === '') return undefined;
  const parsed = parseRfc3339(value);
  if (parsed === undefined)
    throw new InvalidRequest(`invalid ${name} time ${JSON.stringify(value)}`);
  return parsed;
}
