// A day of points, recorded by an engine and replayed with its fast clock, over its API.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@tidemark/core';
import { resolveEngineConfig, startEngine } from '@tidemark/engine';

const HOST_COUNT = 100;
const STEP_SECONDS = 10;
const DAY_SECONDS = 86_400;
const START_SECONDS = 1_704_067_200;
const STEPS_PER_WRITE = 60;

export type ReplayResult = {
  readonly pointCount: number;
  readonly replayedCount: number;
  readonly recordSeconds: number;
  readonly replaySeconds: number;
  /** Processor time of all threads, which other load on the machine affects less. */
  readonly replayCpuSeconds: number;
};

/**
 * Records and replays 24 hours of 100 hosts, one point each every 10 s. Rejects when a job fails.
 */
export async function replayDay(): Promise<ReplayResult> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-soak-'));
  const { config } = resolveEngineConfig([
    {
      source: 'soak',
      values: {
        data_dir: directory,
        stats: { enabled: false },
        http: { 'bind-address': '127.0.0.1:0', 'log-enabled': false },
      },
    },
  ]);
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const engine = await startEngine(config, { log: quiet });
  try {
    return await recordAndReplay(engine.url);
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function recordAndReplay(url: string): Promise<ReplayResult> {
  const clock = systemClock();
  await call(`${url}/engine/v1/tasks`, {
    id: 'day',
    dbrps: [{ db: 'd', rp: 'r' }],
    script: `stream|from().measurement('cpu').groupBy('host')|window().period(5m).every(5m)|mean('usage')|alert().crit(lambda: "mean" > 60.0).stateChangesOnly().topic('t')`,
  });
  const stop = new Date((START_SECONDS + DAY_SECONDS) * 1000).toISOString();
  await call(`${url}/engine/v1/recordings/stream`, { id: 'rec', task: 'day', stop });
  const recordStart = clock.monotonicMs();
  let pointCount = 0;
  for (let at = 0; at < DAY_SECONDS; at += STEP_SECONDS * STEPS_PER_WRITE) {
    const lines = linesFrom(at);
    pointCount += lines.length;
    await post(`${url}/write?db=d&rp=r&precision=s`, lines.join('\n'));
  }
  // A point after the stop time ends the recording.
  await post(
    `${url}/write?db=d&rp=r&precision=s`,
    `cpu usage=1 ${START_SECONDS + DAY_SECONDS + 1}`,
  );
  await finished(`${url}/engine/v1/recordings/rec`);
  const replayStart = clock.monotonicMs();
  const cpuStart = process.cpuUsage();
  const replay = { id: 'rep', task: 'day', recording: 'rec', 'recording-time': true };
  await call(`${url}/engine/v1/replays`, replay);
  const done = await finished(`${url}/engine/v1/replays/rep`);
  const end = clock.monotonicMs();
  const cpu = process.cpuUsage(cpuStart);
  return {
    pointCount,
    replayedCount: done.stats?.['node-stats']?.['from1']?.['collected'] ?? 0,
    recordSeconds: (replayStart - recordStart) / 1000,
    replaySeconds: (end - replayStart) / 1000,
    replayCpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

function linesFrom(second: number): string[] {
  const lines: string[] = [];
  for (let step = 0; step < STEPS_PER_WRITE; step++) {
    const time = START_SECONDS + second + step * STEP_SECONDS;
    for (let host = 0; host < HOST_COUNT; host++) {
      lines.push(`cpu,host=h${host} usage=${(time / STEP_SECONDS + host * 7) % 100},n=1i ${time}`);
    }
  }
  return lines;
}

type Job = {
  readonly status: string;
  readonly error: string;
  readonly stats?: {
    readonly 'node-stats'?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
};

/** Waits for a recording or replay; rejects with its error when it failed. */
async function finished(url: string): Promise<Job> {
  for (;;) {
    const response = await fetch(url);
    const job = (await response.json()) as Job;
    if (response.status !== 202) {
      if (job.status !== 'finished') throw new Error(`${url}: ${job.status} ${job.error}`);
      return job;
    }
    await sleep(20);
  }
}

async function call(url: string, body: unknown): Promise<void> {
  await post(url, JSON.stringify(body));
}

async function post(url: string, body: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', body });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${url}: ${response.status} ${text}`);
}
