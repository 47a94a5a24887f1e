// Replays recorded cases of the task engine in process: what a task emits, posts, writes, publishes
// and counts must equal the recording. Cases that need the HTTP service are replayed elsewhere.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildPipeline, effectsOf } from '@tidemark/pipeline';
import type { NodeSpec } from '@tidemark/pipeline';
import { parseLines, parsePrecision, printLine } from '@tidemark/line-protocol';
import { describe, expect, test } from 'vitest';
import { PointBatchBuilder } from './point-batch.ts';
import type {
  AlertEvent,
  AlertLevelName,
  AlertSink,
  HttpRequest,
  QueryResultSeries,
  TaskServices,
} from './services.ts';
import { Inhibitions } from './inhibitions.ts';
import { rowsJson } from './data/rows.ts';
import { formatFloatPlain } from './lambda/text.ts';
import { createTask } from './task.ts';
import type { InlineTask } from './task.ts';
import { VirtualTimers } from './timers.ts';

type Case = {
  readonly group: string;
  readonly name: string;
  readonly type: string;
  readonly taskType?: string;
  readonly script: string;
  readonly status?: number;
  readonly error?: string;
  readonly phase?: string;
  readonly wall?: boolean;
  readonly enable?: boolean;
  readonly waitMs?: number;
  readonly disableFirst?: boolean;
  readonly sortEmissions?: boolean;
  readonly files?: Readonly<Record<string, string>>;
  readonly extraTasks?: readonly {
    id: string;
    script: string;
    dbrps?: { db: string; rp: string }[];
  }[];
  readonly handlers?: readonly unknown[];
  readonly writes?: readonly {
    readonly db?: string;
    readonly rp?: string;
    readonly precision?: string;
    readonly lines?: readonly string[];
    readonly sleepMs?: number;
    readonly setFile?: readonly [string, string];
    readonly request?: unknown;
  }[];
  readonly replay?: { readonly start: string; readonly stop: string };
  readonly batchResponses?: readonly {
    readonly query: string;
    readonly response: {
      readonly results?: readonly { readonly series?: readonly RecordedSeries[] }[];
    };
  }[];
  readonly nodeStats?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly emissions?: readonly unknown[];
  readonly emissionsBy?: Readonly<Record<string, readonly unknown[]>>;
  readonly alerts?: readonly unknown[];
  readonly alertsBy?: Readonly<Record<string, readonly unknown[]>>;
  readonly httpOut?: unknown;
  readonly httpOuts?: Readonly<Record<string, unknown>>;
  readonly dbWrites?: readonly unknown[];
  readonly dbStatements?: readonly string[];
};

type RecordedSeries = {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
};

const file = fileURLToPath(
  new URL('../../../tests/compat/engine-oracle-cases.jsonl', import.meta.url),
);
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Case);

const SINK = 'http://sink';
const GROUPS = /^(?:lambda|node|influxql|alert\/(?!topic|error)|batch\/node)/;

/** Everything that a task sent to the outside. */
class World implements AlertSink {
  readonly inhibitions = new Inhibitions();
  readonly emissions: string[] = [];
  readonly emissionsBy: Record<string, string[]> = {};
  readonly alerts: string[] = [];
  readonly alertsBy: Record<string, string[]> = {};
  readonly dbWrites: unknown[] = [];
  readonly dbStatements: string[] = [];
  readonly errors: string[] = [];
  readonly #handlers = new Map<
    string,
    readonly { kind: string; url: string; headers: Readonly<Record<string, string>> }[]
  >();
  readonly #events = new Map<string, Map<string, AlertEvent>>();
  files: Record<string, string> = {};
  readonly tasks: {
    readonly task: InlineTask;
    readonly dbrps: readonly { db: string; rp: string }[];
  }[] = [];

  readonly services: TaskServices = {
    alerts: this,
    scalerCluster: () => undefined,
    server: { hostname: 'oracle-host', clusterId: '{{UUID}}', serverId: '{{UUID}}' },
    log: {
      log: (level, node, message, context) => {
        if (level === 'error')
          this.errors.push(`${node}: ${message} ${String(context?.['err'] ?? '')}`);
      },
    },
    loopback: {
      write: (db, rp, points) => {
        const builder = new PointBatchBuilder(db, rp);
        for (const { name, tags, fields, time } of points) {
          const present = [...fields].filter((f): f is [string, number] => f[1] !== null);
          builder.add({ name, tags, fields: present, time });
        }
        this.write(db, rp, builder);
      },
    },
    database: {
      write: (write) => {
        const lines = write.points.map((point) =>
          printLine({
            measurement: point.name,
            tags: [...point.tags],
            fields: [...point.fields].map(([k, v]) => [k, v as number] as const),
            time: point.time,
          }),
        );
        const { database: db, retentionPolicy: rp, consistency } = write;
        const divisor =
          {
            '': 1n,
            ns: 1n,
            n: 1n,
            u: 1000n,
            ms: 1_000_000n,
            s: 1_000_000_000n,
            m: 60_000_000_000n,
            h: 3_600_000_000_000n,
          }[write.precision] ?? 1n;
        const cut = lines
          .map((line = '') => line.replace(/(-?\d+)$/, (t) => String(BigInt(t) / divisor)))
          .map((line) =>
            line.replace(/=(-?[\d.]+e[-+]\d+)/g, (_, f) => `=${formatFloatPlain(Number(f))}`),
          );
        this.dbWrites.push({
          db,
          ...(rp === '' ? {} : { rp }),
          precision: write.precision === '' ? 'ns' : write.precision,
          ...(consistency === '' ? {} : { consistency }),
          lines: cut,
        });
        return Promise.resolve();
      },
      execute: (_, statement) => {
        this.dbStatements.push(statement.replace(/"([A-Za-z_]\w*)"/g, '$1'));
        return Promise.resolve();
      },
      query: () => Promise.resolve([]),
    },
    http: {
      send: (request) => this.#send(request),
      endpoint: () => undefined,
    },
    sideload: {
      open: (source) => {
        if (!source.startsWith('file://')) {
          return Promise.reject(new Error(`unsupported source scheme "", must be 'file'`));
        }
        const root = source.slice('file://'.length);
        if (root !== '/files') {
          return Promise.reject(
            new Error(
              `failed to update sideload cache for source "${root}": lstat ${root}: no such file or directory`,
            ),
          );
        }
        return Promise.resolve({
          lookup: (path: string, key: string) => documentOf(this.loadedFiles[path])[key],
          close: () => undefined,
        });
      },
    },
  };
  loadedFiles: Record<string, string> = {};

  openAnonymousTopic(
    topic: string,
    handlers: Parameters<AlertSink['openAnonymousTopic']>[1],
  ): void {
    const known = handlers.map(({ kind, arguments: args, properties }) => {
      const text = (value: (typeof args)[number] | undefined): string =>
        value?.kind === 'string' ? value.value : '';
      const headers = properties
        .filter(({ name }) => name === 'header')
        .map(({ values }) => [text(values[0]), text(values[1])]);
      return {
        kind,
        url: text(args[0]),
        headers: Object.fromEntries(headers) as Record<string, string>,
      };
    });
    this.#handlers.set(topic, known);
  }

  closeAnonymousTopic(): void {}
  openTopic(): void {}

  publish(topic: string, event: AlertEvent): void {
    const events = this.#events.get(topic) ?? new Map<string, AlertEvent>();
    this.#events.set(topic, events);
    const previousLevel = events.get(event.id)?.level ?? 'OK';
    events.set(event.id, event);
    for (const { kind, url, headers } of this.#handlers.get(topic) ?? []) {
      if (kind !== 'post' || !url.startsWith(SINK)) continue;
      const body = eventJson(event, previousLevel);
      const all = { 'Content-Type': 'application/json', ...headers };
      void this.#send({ method: 'POST', url, headers: all, body: `${body}\n` });
    }
  }

  lastCause(): undefined {
    return undefined;
  }

  eventState(topic: string, id: string): ReturnType<AlertSink['eventState']> {
    return this.#events.get(topic)?.get(id);
  }

  updateEvent(topic: string, event: AlertEvent): void {
    const events = this.#events.get(topic) ?? new Map<string, AlertEvent>();
    events.set(event.id, event);
    this.#events.set(topic, events);
  }

  write(db: string, rp: string, builder: PointBatchBuilder): void {
    const batch = builder.build();
    for (const { task, dbrps } of this.tasks) {
      if (dbrps.some((dbrp) => dbrp.db === db && dbrp.rp === rp)) task.push(batch);
    }
  }

  #send(request: HttpRequest): Promise<{ status: number; body: string }> {
    if (!request.url.startsWith(SINK)) return Promise.reject(new Error('connection refused'));
    const path = request.url.slice(SINK.length);
    const [, kind, ...rest] = path.split('?')[0]?.split('/') ?? [];
    const name = decodeURIComponent(rest.join('/'));
    const row = /^\{"series":\[(.*)\]\}$/s.exec(request.body.trim())?.[1] ?? request.body.trim();
    if (kind === 'emit') {
      if (name === '') this.emissions.push(row);
      else (this.emissionsBy[name] ??= []).push(row);
    } else if (kind === 'alert') {
      if (name === '') this.alerts.push(request.body.trim());
      else (this.alertsBy[name] ??= []).push(request.body.trim());
    } else if (kind === 'status') {
      (this.emissionsBy[`status/${name}`] ??= []).push(row);
      return Promise.resolve({ status: Number(rest[0]) || 500, body: rest[1] ?? '' });
    } else if (kind === 'echo') {
      const headers: Record<string, string> = {};
      for (const [key, value] of Object.entries(request.headers)) {
        if (/^(?:x-|content-type$|authorization$)/i.test(key)) headers[key.toLowerCase()] = value;
      }
      const { method, body } = request;
      (this.emissionsBy[`echo/${name}`] ??= []).push(
        JSON.stringify({ path, method, headers, body }),
      );
    }
    return Promise.resolve({ status: 200, body: '' });
  }
}

/** The engine's checks before a task starts; only the default cluster exists. */
function checkCluster(node: NodeSpec): void {
  const need = effectsOf(node).needsCluster;
  if (need?.urgency !== 'start' || need.cluster === '') return;
  throw new Error(`failed to get InfluxDB client: no such InfluxDB config ${need.cluster}`);
}

/** Enough of YAML for the recorded trees: flat maps of scalars. */
function documentOf(text: string | undefined): Record<string, string | number | bigint | boolean> {
  const result: Record<string, string | number | bigint | boolean> = {};
  if (text === undefined) return result;
  const pairs = text.trimStart().startsWith('{')
    ? Object.entries(JSON.parse(text) as Record<string, unknown>).map(
        ([k, v]) => [k, String(v)] as const,
      )
    : text.split('\n').flatMap((line) => {
        const match = /^([^:]+):\s*(.*)$/.exec(line);
        return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const];
      });
  for (const [key, value] of pairs) {
    if (value === 'true' || value === 'false') result[key] = value === 'true';
    else if (/^-?\d+$/.test(value)) result[key] = BigInt(value);
    else if (/^-?\d*\.\d+$/.test(value)) result[key] = Number(value);
    else result[key] = value.replace(/^(["'])(.*)\1$/, '$2');
  }
  return result;
}

function eventJson(event: AlertEvent, previousLevel: AlertLevelName): string {
  const time = new Date(Number(event.time / 1_000_000n)).toISOString().replace(/\.?0*Z$/, 'Z');
  const data = rowsJson(event.data);
  const { id, message, details, level, isRecoverable } = event;
  return `{"id":${JSON.stringify(id)},"message":${JSON.stringify(message)},"details":${JSON.stringify(details)},"time":"${time}","duration":${event.durationNanos},"level":"${level}","data":${data},"previousLevel":"${previousLevel}","recoverable":${isRecoverable}}`;
}

const subst = (text: string): string =>
  text
    .replaceAll('{{SINK}}', SINK)
    .replaceAll('{{FILES}}', 'file:///files')
    .replaceAll('{{DB}}', 'http://db');

const clean = (text: string): string =>
  text.replaceAll(SINK, '{{SINK}}').replaceAll(SINK.slice('http://'.length), '{{SINKHOST}}');

type Outcome = Record<string, unknown>;

async function run(c: Case): Promise<Outcome> {
  const world = new World();
  world.files = { ...c.files };
  world.loadedFiles = { ...c.files };
  const type = c.taskType ?? c.type;
  const taskType = type === 'batch' ? 'batch' : 'stream';
  const built = buildPipeline(subst(c.script), {});
  if (built.pipeline === undefined) return { status: 400, phase: 'define' };
  if (built.taskType !== undefined && built.taskType !== taskType && c.type !== 'define') {
    return { status: 400, phase: 'define' };
  }
  const wall = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n;
  const timers = new VirtualTimers(wall);
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        timers.at(timers.now() + BigInt(ms) * 1_000_000n, resolve);
      }),
  };
  const dbrps = [{ database: 'd', retentionPolicy: 'r' }];
  let task: InlineTask;
  try {
    for (const extra of c.extraTasks ?? []) {
      const other = buildPipeline(subst(extra.script), {});
      if (other.pipeline === undefined) throw new Error('an extra task is broken');
      const pairs = extra.dbrps ?? [{ db: 'd', rp: 'r' }];
      const otherDbrps = pairs.map(({ db, rp }) => ({ database: db, retentionPolicy: rp }));
      const created = createTask({ ...other.pipeline, dbrps: otherDbrps }, world.services, {
        taskId: extra.id,
        clock,
        timers,
      });
      await created.start();
      world.tasks.push({ task: created, dbrps: pairs });
    }
    for (const node of built.pipeline.nodes) checkCluster(node);
    task = createTask({ ...built.pipeline, dbrps }, world.services, {
      taskId: 'oracle',
      clock,
      timers,
    });
    await task.start();
  } catch (cause) {
    return { status: 500, phase: 'start', error: (cause as Error).message };
  }
  world.tasks.push({ task, dbrps: [{ db: 'd', rp: 'r' }] });
  if (taskType === 'batch')
    await runBatch(
      c,
      task,
      built.pipeline.nodes.map((n) => n),
    );
  for (const write of c.writes ?? []) {
    if (write.sleepMs !== undefined)
      timers.advanceTo(timers.now() + BigInt(write.sleepMs) * 1_000_000n);
    if (write.setFile !== undefined) world.files[write.setFile[0]] = write.setFile[1];
    if (write.request !== undefined) world.loadedFiles = { ...world.files };
    if (write.lines === undefined) continue;
    const bytes = new TextEncoder().encode(subst(write.lines.join('\n')));
    const precision = parsePrecision(write.precision ?? 'ns') ?? 'ns';
    const { points } = parseLines(bytes, { precision, now: wall });
    const builder = new PointBatchBuilder(write.db ?? 'd', write.rp ?? 'r');
    for (const point of points) {
      const fields = new Map(point.fields.map(([k, v]) => [k, v as number] as const));
      builder.add({ name: point.measurement, tags: point.tags, fields, time: point.time });
    }
    world.write(write.db ?? 'd', write.rp ?? 'r', builder);
    await task.drain();
  }
  if (c.waitMs !== undefined) timers.advanceTo(timers.now() + BigInt(c.waitMs) * 1_000_000n);
  // Callbacks of the clock run behind promises.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  for (const other of world.tasks) await other.task.drain();
  return collect(c, world, task);
}

async function collect(c: Case, world: World, task: InlineTask): Promise<Outcome> {
  const outcome: Outcome = {};
  const stats = task.stats();
  const nodeStats: Record<string, unknown> = {};
  // Besides the recorded counters, nodes report their memory.
  for (const [name, { avg_exec_time_ns: _, memory_bytes: __, ...rest }] of stats.nodes) {
    nodeStats[name] = rest;
  }
  if (c.nodeStats !== undefined) outcome['nodeStats'] = nodeStats;
  if (task.error !== undefined) Object.assign(outcome, { error: task.error, phase: 'run' });
  const outs = task.httpEndpoints.map(
    (name) => [name, JSON.parse(rowsJson(task.httpOutput(name) ?? []))] as const,
  );
  if (c.httpOut !== undefined) outcome['httpOut'] = outs[0]?.[1];
  if (c.httpOuts !== undefined) outcome['httpOuts'] = Object.fromEntries(outs);
  if (c.disableFirst === true || c.replay !== undefined) await task.close();
  const rows = (list: readonly string[]): unknown[] => {
    const normal = list.map((text) => {
      const wallFree =
        c.wall === true
          ? text
              .replace(/"\d{4}-\d\d-\d\dT[0-9:.]+Z"/g, '"{{TIME}}"')
              .replace(/"duration":\d+/, '"duration":"{{NS}}"')
          : text;
      return clean(wallFree);
    });
    return (c.sortEmissions === true ? normal.sort() : normal).map((text) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    });
  };
  const by = (map: Record<string, string[]>): unknown =>
    Object.fromEntries(Object.entries(map).map(([k, v]) => [k, rows(v)]));
  if (c.emissions !== undefined) outcome['emissions'] = rows(world.emissions);
  if (c.emissionsBy !== undefined) outcome['emissionsBy'] = by(world.emissionsBy);
  if (c.alerts !== undefined) outcome['alerts'] = rows(world.alerts);
  if (c.alertsBy !== undefined) outcome['alertsBy'] = by(world.alertsBy);
  if (c.dbWrites !== undefined)
    outcome['dbWrites'] = JSON.parse(clean(JSON.stringify(world.dbWrites)));
  if (c.dbStatements !== undefined) outcome['dbStatements'] = world.dbStatements;
  return outcome;
}

/**
 * Feeds recorded query answers; each belongs to the query node whose measurement and period fit, in
 * order.
 */
async function runBatch(
  c: Case,
  task: InlineTask,
  nodes: readonly { name: string; type: string; options: unknown }[],
): Promise<void> {
  const queries = nodes.filter(({ type }) => type === 'query');
  const plain = (text: string): string =>
    text.replaceAll('"', '').replace(/\s+/g, ' ').toLowerCase();
  const answers = (c.batchResponses ?? []).map(({ query, response }) => {
    const stop = /time < '([^']+)'/.exec(query)?.[1] ?? c.replay?.stop ?? '';
    const node =
      queries.find(({ options }) =>
        plain(query).startsWith(
          plain((options as { text: string }).text).split(' where ')[0] ?? '',
        ),
      ) ?? queries[0];
    const series = (response.results?.[0]?.series ?? []).map((each): QueryResultSeries => ({
      name: each.name,
      tags: each.tags ?? {},
      columns: each.columns,
      values: each.values.map((row) => [
        BigInt(Date.parse(String(row[0]))) * 1_000_000n,
        ...(row.slice(1) as (number | null)[]),
      ]),
    }));
    return { node, series, stop: BigInt(Date.parse(stop)) * 1_000_000n };
  });
  answers.sort((a, b) => (a.stop < b.stop ? -1 : a.stop > b.stop ? 1 : 0));
  for (const { node, series, stop } of answers) {
    if (node !== undefined) task.pushQueryResult(node.name, series, { stop });
    await task.drain();
  }
}

function expected(c: Case): Outcome {
  const {
    nodeStats,
    emissions,
    emissionsBy,
    alerts,
    alertsBy,
    httpOut,
    httpOuts,
    dbWrites,
    dbStatements,
  } = c;
  const outcome: Outcome = {
    nodeStats,
    emissions,
    emissionsBy,
    alerts,
    alertsBy,
    httpOut,
    httpOuts,
    dbWrites,
    dbStatements,
  };
  if (c.status !== undefined && c.status !== 200) {
    return { status: c.status, phase: c.phase, ...(c.phase === 'start' ? { error: c.error } : {}) };
  }
  if (c.phase === 'run') Object.assign(outcome, { error: c.error, phase: 'run' });
  for (const key of Object.keys(outcome)) if (outcome[key] === undefined) delete outcome[key];
  return outcome;
}

/** Paths that differ; numbers within 1e-9 of each other are the same. */
function differences(want: unknown, got: unknown, path = ''): string[] {
  const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';
  if (typeof want === 'number' && typeof got === 'number') {
    const isClose = Math.abs(want - got) <= 1e-9 * Math.max(Math.abs(want), Math.abs(got));
    return isClose ? [] : [`${path}: expected ${want}, got ${got}`];
  }
  const areObjects =
    want !== null && got !== null && typeof want === 'object' && typeof got === 'object';
  if (!areObjects || Array.isArray(want) !== Array.isArray(got)) {
    return want === got ? [] : [`${path}: expected ${show(want)}, got ${show(got)}`];
  }
  const keys = new Set([...Object.keys(want), ...Object.keys(got)]);
  return [...keys].flatMap((key) =>
    differences((want as Outcome)[key], (got as Outcome)[key], `${path}.${key}`),
  );
}

/** Where the recorded system is not followed, by case, with the paths that differ and why. */
const DEVIATIONS: Readonly<Record<string, { readonly paths: RegExp; readonly reason: string }>> = {
  'node/eval error quiet': {
    paths: /eval2\.errors/,
    reason: 'a quiet node does not log, but still counts its errors',
  },
  'node/default batch': {
    paths: /fields_defaulted/,
    reason:
      'fields are counted per point; the recorded counter also counts the beginning of a batch',
  },
  'node/barrier delete removes the row of httpOut': {
    paths: /httpOut\.series/,
    reason: 'no rows are null, whether there were some before or not',
  },
};

const selected = cases.filter(
  (c) =>
    GROUPS.test(c.group) &&
    (c.type === 'stream' || c.type === 'batch' || c.enable === true || c.type === 'define'),
);
const groups = new Set(selected.map(({ group }) => group));

for (const group of groups) {
  describe(group, () => {
    for (const c of selected.filter((each) => each.group === group)) {
      test(c.name, async () => {
        const want = expected(c);
        const got = await run(c);
        const deviation = DEVIATIONS[`${c.group} ${c.name}`];
        const all = differences(want, got);
        const found = all.filter((path) => deviation?.paths.test(path) !== true);
        if (deviation !== undefined) expect(all.length).toBeGreaterThan(found.length);
        if (found.length > 0) expect.fail(found.join('\n'));
      });
    }
  });
}
