// A recording of many points and its replay, with the engine's memory.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

export type RecordingResult = {
  readonly points: number;
  /** Points that came to the task of the replay. */
  readonly replayed: number;
  readonly fileBytes: number;
  readonly recordSeconds: number;
  readonly replaySeconds: number;
  /** Seconds of processor that the engine took for both. */
  readonly processorSeconds: number;
  /** Resident memory before, and its peaks while recording and replaying, in MiB. */
  readonly residentBefore: number;
  readonly residentRecording: number;
  readonly residentReplaying: number;
};

const HOSTS = 100;
const LINES_PER_WRITE = 5000;
/** Clock ticks per second of `/proc/PID/stat` on Linux. */
const TICKS_PER_SECOND = 100;
/** The data's time, in seconds; a recording ends with the first point after its stop. */
const BEGIN = 1_600_000_000;

/**
 * Writes points while they are recorded, and replays the recording to a task that makes means of a
 * minute.
 */
export async function recordAndReplay(server: Tidemark, points: number): Promise<RecordingResult> {
  const api = `${server.engine}/engine/v1`;
  const processId = server.process.pid ?? 0;
  const script =
    "stream|from().measurement('cpu').groupBy('host')|window().period(1m).every(1m)|mean('usage')|httpOut('out')";
  const dbrps = [{ db: 'd', rp: 'r' }];
  await post(`${api}/tasks`, 200, { id: 'means', dbrps, script, status: 'disabled' });
  const residentBefore = await residentOf(processId);

  const stop = new Date((BEGIN + Math.ceil(points / HOSTS)) * 1000).toISOString();
  const recordBegin = performance.now();
  await post(`${api}/recordings/stream`, 201, { id: 'long', task: 'means', stop });
  const recording = new Peak(processId);
  await writeAll(server.engine, points);
  const recorded = await untilEnded(`${api}/recordings/long`);
  const recordSeconds = (performance.now() - recordBegin) / 1000;
  const residentRecording = await recording.stop();

  const replayBegin = performance.now();
  const replaying = new Peak(processId);
  await post(`${api}/replays/`, 201, { id: 'again', task: 'means', recording: 'long' });
  const replay = await untilEnded(`${api}/replays/again`);
  const nodes = (replay['stats'] as { 'node-stats': { stream0: { collected: number } } })[
    'node-stats'
  ];
  return {
    points,
    replayed: nodes.stream0.collected,
    fileBytes: Number(recorded['size']),
    recordSeconds,
    replaySeconds: (performance.now() - replayBegin) / 1000,
    processorSeconds: await processorSecondsOf(processId),
    residentBefore,
    residentRecording,
    residentReplaying: await replaying.stop(),
  };
}

/** The errors in a result. */
export function problemsOf(result: RecordingResult, residentMax: number): readonly string[] {
  const problems: string[] = [];
  if (result.replayed !== result.points) {
    problems.push(`${result.replayed} of ${result.points} points were replayed`);
  }
  for (const name of ['residentRecording', 'residentReplaying'] as const) {
    if (result[name] > residentMax)
      problems.push(`${name} is ${result[name]} of ${residentMax} MiB`);
  }
  return problems;
}

async function writeAll(engine: string, points: number): Promise<void> {
  const writes = `${engine}/write?db=d&rp=r&precision=s`;
  for (let from = 0; from < points; from += LINES_PER_WRITE) {
    const lines: string[] = [];
    for (let i = from; i < Math.min(points, from + LINES_PER_WRITE); i++) {
      const time = BEGIN + Math.floor(i / HOSTS);
      lines.push(`cpu,host=server${i % HOSTS} usage=${(i * 7919) % 1000} ${time}`);
    }
    await post(writes, 204, lines.join('\n'));
  }
  await post(writes, 204, `cpu,host=server0 usage=0 ${BEGIN + Math.ceil(points / HOSTS) + 1}`);
}

async function post(url: string, status: number, body: unknown): Promise<void> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await send(url, { method: 'POST', body: text });
  if (answer.status !== status) throw new Error(`${url}: ${answer.status} ${answer.text}`);
}

async function untilEnded(url: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const { status, text } = await send(url);
    const job = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (status === 200 && job['status'] === 'finished') return job;
    if (status !== 202) throw new Error(`${url}: ${status} ${text}`);
    await sleep(100);
  }
}

/** Looks at the resident memory several times a second and keeps the greatest. */
class Peak {
  readonly #ended = new AbortController();
  readonly #watched: Promise<number>;

  constructor(processId: number) {
    this.#watched = this.#watch(processId);
  }

  stop(): Promise<number> {
    this.#ended.abort();
    return this.#watched;
  }

  async #watch(processId: number): Promise<number> {
    let peak = 0;
    const { signal } = this.#ended;
    for (;;) {
      peak = Math.max(peak, await residentOf(processId));
      if (signal.aborted) return peak;
      // Ended early when the peak is asked for.
      await sleep(200, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function residentOf(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}

async function processorSecondsOf(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
