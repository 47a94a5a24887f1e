// The engine against what a Kapacitor 1.5.3 answered: the recorder checks a real engine over its
// public API.
//
// The ordinary run leaves out the groups `node` (42 s, waits on the wall clock in places) and
// `influxql` (15 s) and every case that waits; `ENGINE_CASES=all` (`npm run soak:engine-cases`)
// checks all, which takes about two minutes on an otherwise idle machine. `ENGINE_INSTANCES=3` asks
// a cluster of engines, any instance of it for each request (`npm run soak:engine-cluster-cases`).
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { resolveEngineConfig, startEngine } from '@tidemark/engine';
import type { EngineService } from '@tidemark/engine';
import { freePorts } from '@tidemark/process';
import {
  EVERYTHING_ALLOWED,
  makeDirectory,
  removeDirectory,
  TestCoordinator,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type RecordedCase = {
  readonly group: string;
  readonly name: string;
  readonly waitMs?: number;
  readonly wall?: boolean;
  readonly steps?: readonly { readonly sleepMs?: number }[];
  readonly writes?: readonly { readonly sleepMs?: number }[];
};

type Difference = { readonly case: string; readonly reason: string; readonly source: string };

const CASES_FILE = fileURLToPath(new URL('engine-oracle-cases.jsonl', import.meta.url));
const CHECKER = fileURLToPath(new URL('record-engine-oracle-cases.mjs', import.meta.url));

const IS_COMPLETE = process.env['ENGINE_CASES'] === 'all';
/** More than one are a cluster, of which every request goes to any instance. */
const INSTANCES = Number(process.env['ENGINE_INSTANCES'] ?? '1');

const SLOW_GROUPS = ['node', 'influxql'];

/**
 * Where a difference comes from that was decided when the cases were recorded, or by the
 * specification, which wins.
 */
const DECIDED = /^(?:named with the recording$|specification)/;

/** 1 % of the cases. */
const UNDECIDED_DIFFERENCES_MAX = 14;

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const lines = readFileSync(CASES_FILE, 'utf8').trim().split('\n');
const differences = JSON.parse(
  readFileSync(new URL('engine-differences.json', import.meta.url), 'utf8'),
) as readonly Difference[];

let directory = '';
let coordinator: TestCoordinator | undefined;
const engines: EngineService[] = [];
let sinkPort = 0;
let databasePort = 0;

beforeAll(async () => {
  // Templates print local times.
  process.env['TZ'] = 'UTC';
  directory = await makeDirectory();
  // The checker and the engine must know them before either starts.
  [sinkPort = 0, databasePort = 0] = await freePorts(2);
  if (INSTANCES > 1) coordinator = await TestCoordinator.start();
  for (let i = 0; i < INSTANCES; i++) engines.push(await start(join(directory, `engine-${i}`)));
});

function start(dataDir: string): Promise<EngineService> {
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: {
        data_dir: dataDir,
        'secrets-key': 'env:KEY',
        cluster: {
          enabled: coordinator !== undefined,
          coordinator: coordinator === undefined ? [] : [coordinator.url],
        },
        hostname: 'oracle-host',
        stats: { enabled: false },
        http: { 'bind-address': '127.0.0.1:0', 'log-enabled': false },
        alert: EVERYTHING_ALLOWED,
        tsdb: [
          {
            name: 'default',
            default: true,
            urls: [`http://127.0.0.1:${databasePort}`],
            'disable-subscriptions': true,
          },
        ],
      },
    },
  ]);
  expect(problems).toEqual([]);
  return startEngine(config, { log: quiet, environment: { KEY: 'k'.repeat(32) } });
}

afterAll(async () => {
  for (const engine of engines) await engine.close();
  await coordinator?.close();
  await removeDirectory(directory);
});

describe('the list of differences', () => {
  test('names each case once, a reason and where it comes from', () => {
    const known = new Set(lines.map((line) => nameOf(JSON.parse(line) as RecordedCase)));
    const listed = differences.map((difference) => difference.case);

    expect(listed.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
    expect(differences.filter(({ reason, source }) => reason === '' || source === '')).toEqual([]);
  });

  test('has at most one case of a hundred that neither recording nor specification decide', () => {
    const undecided = differences.filter(({ source }) => !DECIDED.test(source));

    expect(undecided.length).toBeLessThanOrEqual(UNDECIDED_DIFFERENCES_MAX);
  });
});

test(
  'the engine answers as recorded, but for the listed differences',
  async () => {
    const chosen = lines.filter((line) => isChosen(JSON.parse(line) as RecordedCase));
    const names = new Set(chosen.map((line) => nameOf(JSON.parse(line) as RecordedCase)));
    const file = join(directory, 'cases.jsonl');
    writeFileSync(file, `${chosen.map(bySpecification).join('\n')}\n`);

    const { output, failed } = await check(file);

    const listed = differences.map((difference) => difference.case);
    expect(output).toContain(`${chosen.length - failed.length} of ${chosen.length} cases agree`);
    expect(
      failed.filter((name) => !listed.includes(name)),
      output,
    ).toEqual([]);
    // A case that agrees again must leave the list.
    expect(listed.filter((name) => names.has(name) && !failed.includes(name))).toEqual([]);
  },
  IS_COMPLETE ? 900_000 : 600_000,
);

/**
 * The recorded daemon answers 500 to definitions that cannot work. The specification has 4xx for
 * requests that fail again when they are repeated, so that 400 is what is expected here.
 */
function bySpecification(line: string): string {
  return line.replaceAll(/"(status|handlerStatus)":500,/g, '"$1":400,');
}

function nameOf({ group, name }: RecordedCase): string {
  return `${group}/${name}`;
}

function isChosen({ group, waitMs, wall, steps = [], writes = [] }: RecordedCase): boolean {
  if (IS_COMPLETE) return true;
  if (SLOW_GROUPS.includes(group.split('/')[0] ?? '')) return false;
  const isWaiting = [...steps, ...writes].some(({ sleepMs }) => sleepMs !== undefined);
  return waitMs === undefined && wall !== true && !isWaiting;
}

/** Runs the checker; resolves with what it printed and the cases that it found to differ. */
async function check(
  file: string,
): Promise<{ readonly output: string; readonly failed: readonly string[] }> {
  const ports = ['--sink-port', String(sinkPort), '--db-port', String(databasePort)];
  const child = spawn(process.execPath, [CHECKER, '--check', file, ...ports], {
    env: {
      ...process.env,
      TZ: 'UTC',
      ENGINE_URL: engines.map(({ url }) => url).join(','),
      ENGINE_BASE: '/engine/v1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  const failed = [...output.matchAll(/^FAIL (.*)$/gm)].map(([, name]) => name ?? '');
  return { output, failed };
}
