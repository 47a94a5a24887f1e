// The model of recordings and replays: the table of their states, the contents of a recording, and
// the output of a replay.
import { FAILURE, isText, isTime } from './call.ts';
import type { Call, Expected } from './call.ts';
import { timeText } from './alerts-model.ts';
import type { AlertsModel } from './alerts-model.ts';
import { isStartable } from './scripts.ts';
import type { DbrpSpec, ReplaySpec, Step } from './steps.ts';
import { RunningModel } from './running-model.ts';
import type { ModelPoint } from './running-model.ts';
import { isIdAllowed } from './tasks-model.ts';
import type { TasksModel } from './tasks-model.ts';

/** The content of a recording: points of a stream, or the number of query results. */
type Content = { readonly points: readonly ModelPoint[] } | { readonly results: number };

type Recording = {
  readonly type: 'stream' | 'batch';
  status: 'running' | 'failed' | 'finished';
  content: Content;
  /** The source of a recording in progress. */
  tap?: {
    readonly dbrps: readonly DbrpSpec[];
    readonly measurement: string;
    readonly stop: number;
  };
};

type Replay = {
  readonly spec: ReplaySpec;
  readonly recording: string;
  status: 'running' | 'failed' | 'finished';
  /** Points or results that have passed. */
  collected: number;
  /** The task of the replay, while the engine remembers it. */
  running: RunningModel | undefined;
};

/**
 * Begin of the data's time, in seconds: some days ago, because topics forget what has been OK for a
 * week.
 */
export const DATA_BEGIN = Math.floor(Date.now() / 1000) - 5 * 86_400;
/** Begin of the time that batch tasks ask for. */
const BATCH_BEGIN = 1_577_836_800;
/** The database's answer to every query: these values at one time. */
export const QUERY_VALUES: readonly number[] = [2, 7];
const TICK_SECONDS = 360_000;
const GOOD_QUERY = 'SELECT v FROM "d0"."r"."m0"';
const QUERIES = { good: GOOD_QUERY, unqualified: 'SELECT v FROM m0', '': '' };

export class JobsModel {
  readonly recordings = new Map<string, Recording>();
  readonly replays = new Map<string, Replay>();
  #replayCount = 0;
  readonly #tasks: TasksModel;
  readonly #alerts: AlertsModel;

  constructor(tasks: TasksModel, alerts: AlertsModel) {
    this.#tasks = tasks;
    this.#alerts = alerts;
  }

  apply(step: Step, now: number): readonly Call[] | undefined {
    switch (step.kind) {
      case 'record-stream':
        return this.#recordStream(step, now);
      case 'record-batch':
        return this.#recordBatch(step);
      case 'record-query':
        return this.#recordQuery(step);
      case 'delete-recording':
        this.recordings.delete(step.id);
        return deleted(`recordings/${step.id}`);
      case 'replay':
        return this.#replayRecording(step);
      case 'replay-batch':
        return this.#replayBatch(step);
      case 'replay-query':
        return this.#replayQuery(step);
      case 'delete-replay':
        this.replays.delete(step.id);
        return deleted(`replays/${step.id}`);
      default:
        return undefined;
    }
  }

  #recordStream(step: Extract<Step, { kind: 'record-stream' }>, now: number): readonly Call[] {
    const stop = now + step.seconds;
    const body = { id: step.id, task: step.task, stop: timeText(stop) };
    const call = { method: 'POST', path: 'recordings/stream', body } as const;
    const task = this.#tasks.tasks.get(step.task);
    const refused = this.#refusedRecording(step.id, call, task === undefined ? 404 : undefined);
    if (refused !== undefined) return [refused];
    const { dbrps = [], script } = task ?? {};
    const measurement = script?.form === 'stream' ? script.measurement : '';
    const recording: Recording = {
      type: 'stream',
      status: 'running',
      content: { points: [] },
      tap: { dbrps, measurement, stop },
    };
    return this.#started(step.id, recording, call);
  }

  #recordBatch(step: Extract<Step, { kind: 'record-batch' }>): readonly Call[] {
    const body = { id: step.id, task: step.task, ...tickRange(step.ticks) };
    const call = { method: 'POST', path: 'recordings/batch', body } as const;
    const task = this.#tasks.tasks.get(step.task);
    const isReady = task?.script.form === 'batch' && isStartable(task);
    const problem = task === undefined ? 404 : isReady ? undefined : 400;
    const refused = this.#refusedRecording(step.id, call, problem);
    if (refused !== undefined) return [refused];
    const content = { results: step.ticks };
    const status = step.ticks === 0 || task?.script.cluster === 'fake' ? 'finished' : 'failed';
    return this.#started(step.id, { type: 'batch', status, content }, call);
  }

  #recordQuery(step: Extract<Step, { kind: 'record-query' }>): readonly Call[] {
    const { id, type, cluster } = step;
    const body = { id, type, query: QUERIES[step.query], cluster };
    const call = { method: 'POST', path: 'recordings/query', body } as const;
    let problem: number | undefined;
    if (type === '' || step.query === '') problem = 400;
    else if (cluster === 'nope') problem = 404;
    const refused = this.#refusedRecording(id, call, problem);
    if (refused !== undefined || type === '') return refused === undefined ? [] : [refused];
    const status = step.query === 'good' ? 'finished' : 'failed';
    const content = type === 'batch' ? { results: 1 } : { points: QUERY_POINTS };
    return this.#started(id, { type, status, content }, call);
  }

  #refusedRecording(
    id: string,
    call: Pick<Call, 'method' | 'path' | 'body'>,
    problem: number | undefined,
  ): Call | undefined {
    if (!isIdAllowed(id)) return { ...call, status: 400, json: FAILURE };
    if (problem !== undefined) return { ...call, status: problem, json: FAILURE };
    if (this.recordings.has(id)) return { ...call, status: 400, json: FAILURE };
    return undefined;
  }

  #started(
    id: string,
    recording: Recording,
    call: Pick<Call, 'method' | 'path' | 'body'>,
  ): readonly Call[] {
    this.recordings.set(id, recording);
    const running = { ...recording, status: 'running' } as const;
    return [
      { ...call, status: 201, json: recordingView(id, running) },
      this.#recordingCheck(id, recording),
    ];
  }

  #replayRecording(step: Extract<Step, { kind: 'replay' }>): readonly Call[] {
    const { replay, recording: recordingId } = step;
    const body = { ...replayBody(replay), recording: recordingId };
    const call = { method: 'POST', path: 'replays/', body } as const;
    const task = this.#tasks.tasks.get(replay.task);
    const recording = this.recordings.get(recordingId);
    let problem: number | undefined;
    if (task === undefined || recording === undefined) problem = 404;
    else if (task.script.form !== recording.type || recording.status === 'running') problem = 400;
    const refused = this.#refusedReplay(replay.id, call, problem);
    if (refused !== undefined) return [refused];
    const content = recording?.status === 'finished' ? recording.content : undefined;
    return this.#play(replay, { content, recordingId, call });
  }

  #replayBatch(step: Extract<Step, { kind: 'replay-batch' }>): readonly Call[] {
    const { replay, ticks } = step;
    const body = { ...replayBody(replay), ...tickRange(ticks) };
    const call = { method: 'POST', path: 'replays/batch', body } as const;
    const script = this.#tasks.tasks.get(replay.task)?.script;
    const problem = script === undefined ? 404 : script.form === 'batch' ? undefined : 400;
    const refused = this.#refusedReplay(replay.id, call, problem);
    if (refused !== undefined) return [refused];
    const isAnswered = ticks === 0 || script?.cluster === 'fake';
    const content = isAnswered ? { results: ticks } : undefined;
    return this.#play(replay, { content, recordingId: '', call });
  }

  #replayQuery(step: Extract<Step, { kind: 'replay-query' }>): readonly Call[] {
    const { replay, cluster } = step;
    const body = { ...replayBody(replay), query: QUERIES[step.query], cluster };
    const call = { method: 'POST', path: 'replays/query', body } as const;
    const script = this.#tasks.tasks.get(replay.task)?.script;
    // A body without a query is refused before ids and tasks are looked at.
    let problem: number | undefined;
    if (step.query === '') problem = 400;
    else if (script === undefined || cluster === 'nope') problem = 404;
    const refused = this.#refusedReplay(replay.id, call, problem);
    if (refused !== undefined) return [refused];
    const isGood = step.query === 'good';
    const content = script?.form === 'batch' ? { results: 1 } : { points: QUERY_POINTS };
    return this.#play(replay, { content: isGood ? content : undefined, recordingId: '', call });
  }

  #refusedReplay(
    id: string,
    call: Pick<Call, 'method' | 'path' | 'body'>,
    problem: number | undefined,
  ): Call | undefined {
    if (!isIdAllowed(id)) return { ...call, status: 400, json: FAILURE };
    if (problem !== undefined) return { ...call, status: problem, json: FAILURE };
    if (this.replays.has(id)) return { ...call, status: 400, json: FAILURE };
    return undefined;
  }

  /** `content` is `undefined` when nothing can be read. */
  #play(
    spec: ReplaySpec,
    input: {
      readonly content: Content | undefined;
      readonly recordingId: string;
      readonly call: Pick<Call, 'method' | 'path' | 'body'>;
    },
  ): readonly Call[] {
    const task = this.#tasks.tasks.get(spec.task);
    const isStarted = task !== undefined && isStartable(task);
    const replay: Replay = {
      spec,
      recording: input.recordingId,
      status: 'failed',
      collected: 0,
      running: isStarted ? new RunningModel(task.id, task) : undefined,
    };
    this.replays.set(spec.id, replay);
    const first = {
      ...input.call,
      status: 201,
      json: replayView(spec.id, { ...replay, status: 'running' }),
    };
    if (isStarted && input.content !== undefined) this.#feed(replay, input.content);
    const settled = [
      first,
      this.#replayCheck(spec.id, replay),
      ...this.#outputCheck(spec.id, replay),
    ];
    const { topic = '' } = task?.script ?? {};
    return [...settled, ...this.#alerts.settle(topic, spec.task)];
  }

  // With the real clock what lies after the first time is not seen to happen: gaps are longer than
  // anybody waits.
  #feed(replay: Replay, content: Content): void {
    const { spec, running } = replay;
    const isFast = spec.clock === 'fast';
    if ('results' in content) {
      replay.collected = content.results;
      // All answers are of one time, so that no clock waits for the next one.
      replay.status = 'finished';
      return;
    }
    const { points } = content;
    const due = isFast
      ? points
      : points.filter(({ time }) => time.seconds === points[0]?.time.seconds);
    // Points of other measurements do not reach the task.
    replay.collected = due.filter((point) => running?.isFor(point) === true).length;
    replay.status = due.length === points.length ? 'finished' : 'running';
    const shift = `replay ${++this.#replayCount}`;
    const begin = Math.floor(Date.now() / 1000) - (points[0]?.time.seconds ?? 0);
    for (const point of due) {
      const moved = { seconds: point.time.seconds + begin, shift };
      running?.push(spec.isRecordingTime ? point : { ...point, time: moved }, this.#alerts);
    }
  }

  /** Points that come to the recordings that go on. */
  write(points: readonly ModelPoint[]): readonly Call[] {
    const calls: Call[] = [];
    for (const [id, recording] of this.recordings) {
      const { tap, content } = recording;
      if (recording.status !== 'running' || tap === undefined || !('points' in content)) continue;
      const mine = points.filter(
        ({ db, measurement }) =>
          tap.dbrps.some((pair) => pair.db === db) &&
          (tap.measurement === '' || tap.measurement === measurement),
      );
      // The first point after its end ends a recording.
      const end = mine.findIndex(({ time }) => time.seconds > tap.stop);
      recording.content = { points: [...content.points, ...(end < 0 ? mine : mine.slice(0, end))] };
      if (end >= 0) recording.status = 'finished';
      if (mine.length > 0) calls.push(this.#recordingCheck(id, recording));
    }
    return calls;
  }

  /** Running jobs have failed after the engine ends, and tasks of replays are gone. */
  restart(): void {
    for (const job of [...this.recordings.values(), ...this.replays.values()]) {
      if (job.status === 'running') job.status = 'failed';
    }
    for (const replay of this.replays.values()) replay.running = undefined;
  }

  checks(): readonly Call[] {
    const ids = (list: readonly string[]): ((actual: unknown) => boolean) => {
      const wanted = [...list].sort().join();
      return (actual) =>
        (actual as readonly { readonly id: string }[])
          .map(({ id }) => id)
          .sort()
          .join() === wanted;
    };
    return [
      ...[...this.recordings].map(([id, recording]) => this.#recordingCheck(id, recording)),
      ...[...this.replays].flatMap(([id, replay]) => [
        this.#replayCheck(id, replay),
        ...this.#outputCheck(id, replay),
      ]),
      {
        method: 'GET',
        path: 'recordings',
        status: 200,
        json: { recordings: ids([...this.recordings.keys()]) },
      },
      {
        method: 'GET',
        path: 'replays',
        status: 200,
        json: { replays: ids([...this.replays.keys()]) },
      },
    ];
  }

  #recordingCheck(id: string, recording: Recording): Call {
    const status = recording.status === 'running' ? 202 : 200;
    const json = recordingView(id, recording);
    return { method: 'GET', path: `recordings/${id}`, status, json, isSettling: true };
  }

  #replayCheck(id: string, replay: Replay): Call {
    const status = replay.status === 'running' ? 202 : 200;
    const json = replayView(id, replay);
    return { method: 'GET', path: `replays/${id}`, status, json, isSettling: true };
  }

  /** The task in the context of its replay. */
  #outputCheck(id: string, { spec, running, status }: Replay): readonly Call[] {
    const isStream = running?.script.form === 'stream';
    // A task that was deleted or renamed has no page any more.
    if (!isStream || status === 'failed') return [];
    const path = `tasks/${encodeURIComponent(spec.task)}/out?replay-id=${id}`;
    return [{ method: 'GET', path, status: 200, json: running.output(), isSettling: true }];
  }
}

const QUERY_POINTS: readonly ModelPoint[] = QUERY_VALUES.map((value) => ({
  db: 'd0',
  measurement: 'm0',
  time: { seconds: DATA_BEGIN, shift: '' },
  value,
}));

function tickRange(ticks: number): { readonly start: string; readonly stop: string } {
  return { start: timeText(BATCH_BEGIN), stop: timeText(BATCH_BEGIN + ticks * TICK_SECONDS + 1) };
}

function deleted(path: string): readonly Call[] {
  return [
    { method: 'DELETE', path, status: 204 },
    { method: 'GET', path, status: 404, json: FAILURE },
  ];
}

function replayBody({ id, task, isRecordingTime, clock }: ReplaySpec): object {
  return { id, task, 'recording-time': isRecordingTime, clock };
}

function recordingView(id: string, { type, status }: Recording): Expected {
  return {
    id,
    link: { rel: 'self', href: `@/recordings/${id}` },
    type,
    status,
    error: status === 'failed' ? isText : '',
    date: isTime,
    progress: progressOf(status),
    size: (actual) =>
      typeof actual === 'number' && (status === 'finished' ? actual > 0 : actual === 0),
  };
}

function replayView(id: string, { spec, recording, status, collected, running }: Replay): Expected {
  const source = running?.script.form === 'batch' ? 'http_out2' : 'stream0';
  const nodes = { [source]: { collected } };
  return {
    id,
    link: { rel: 'self', href: `@/replays/${id}` },
    task: spec.task,
    recording,
    clock: spec.clock,
    'recording-time': spec.isRecordingTime,
    status,
    error: status === 'failed' ? isText : '',
    date: isTime,
    progress: progressOf(status),
    ...(status === 'finished' && running !== undefined ? { stats: { 'node-stats': nodes } } : {}),
  };
}

function progressOf(status: string): Expected {
  if (status !== 'running') return 1;
  return (actual) => typeof actual === 'number' && actual >= 0 && actual < 1;
}
