// Endpoints for the status of the service: ping, status, health, debug, metrics.
import { COMPAT_VERSION, formatRfc3339, InvalidRequest, TIDEMARK_VERSION } from '@tidemark/core';
import type { Damage, ReplicaState } from '@tidemark/storage-api';

import { askToRetry, sendBody, sendEmpty, sendError, sendJson } from './answer.ts';
import { goneSignal } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { metricsText } from './metrics.ts';
import { LIMITS } from '../limits.ts';
import type { HttpParts } from './parts.ts';
import type { ServiceState } from './readiness.ts';

/**
 * Answers that the service is ready. If it is not, waits a while, because clients expect a closed
 * port until then.
 */
export async function handlePing(
  exchange: Exchange,
  { counters, readiness }: HttpParts,
): Promise<void> {
  counters.pingReq++;
  if (!(await readiness.waitUntilReady(goneSignal(exchange)))) return sendRecovering(exchange);
  const verbose = exchange.parameters.get('verbose');
  if (verbose !== '' && verbose !== '0' && verbose !== 'false') {
    return sendJson(exchange, 200, { version: versionFor(exchange) });
  }
  sendEmpty(exchange);
}

function nameFor(exchange: Exchange): string {
  return exchange.settings.hasCompatHeaders ? 'influxdb' : 'tidemark';
}

function versionFor(exchange: Exchange): string {
  return exchange.settings.hasCompatHeaders ? COMPAT_VERSION : TIDEMARK_VERSION;
}

export async function handleStatus(
  exchange: Exchange,
  { counters, readiness }: HttpParts,
): Promise<void> {
  counters.statusReq++;
  if (!(await readiness.waitUntilReady(goneSignal(exchange)))) return sendRecovering(exchange);
  sendEmpty(exchange);
}

export function sendRecovering(exchange: Exchange): void {
  askToRetry(exchange);
  sendError(exchange, 503, 'the service is recovering');
}

/** Liveness: the process answers, whatever the state of its data. */
export function sendLive(exchange: Exchange): void {
  sendJson(exchange, 200, { name: nameFor(exchange), message: 'alive', status: 'pass' });
}

/**
 * Readiness: `fail` and 503 while storage recovers, `warn` and 200 when a part of the data cannot
 * be read.
 */
export async function handleHealth(
  exchange: Exchange,
  { readiness: { state }, storage: { maintenance, replicas } }: HttpParts,
): Promise<void> {
  if (state !== 'ready') return sendHealth(exchange, state);
  sendHealth(exchange, state, {
    damage: (await maintenance?.damage()) ?? [],
    replicas: (await replicas?.replicas()) ?? [],
  });
}

/** Number of damaged files in one answer. */
const LISTED_DAMAGE = 100;

type Found = { readonly damage: readonly Damage[]; readonly replicas: readonly ReplicaState[] };

/** The answer of /health in one of the service's states. */
export function sendHealth(
  exchange: Exchange,
  state: ServiceState,
  { damage, replicas }: Found = { damage: [], replicas: [] },
): void {
  const isReady = state === 'ready';
  const message = damage.length > 0 ? damagedText(damage.length) : (awayText(replicas) ?? READY);
  const isWhole = message === READY;
  sendJson(exchange, isReady ? 200 : 503, {
    checks: [
      ...damage.slice(0, LISTED_DAMAGE).map(({ file, message: text }) => ({
        name: file,
        status: 'fail',
        message: text,
      })),
      ...replicas.map(({ shard, url, isUp, takesWrites, reason = 'does not answer' }) => ({
        name: `shard ${shard ?? 'unknown'} ${url}`,
        status: isUp && takesWrites ? 'pass' : 'fail',
        message: takesWrites
          ? 'answers queries and takes writes'
          : `${isUp ? 'answers queries, but takes no writes: ' : ''}${reason}`,
      })),
    ],
    message: isReady ? message : state,
    name: nameFor(exchange),
    status: isReady ? (isWhole ? 'pass' : 'warn') : 'fail',
    version: versionFor(exchange),
  });
}

/** `undefined` when all answer. Another service on the same cluster would not do better. */
function awayText(replicas: readonly ReplicaState[]): string | undefined {
  const away = replicas.filter(({ isUp }) => !isUp);
  const refusing = replicas.filter(({ isUp, takesWrites }) => isUp && !takesWrites);
  if (away.length === 0)
    return refusing.length === 0
      ? undefined
      : `ready for queries, but ${refusing.length} of ${replicas.length} replicas take no writes`;
  const whole = new Set(replicas.flatMap(({ shard, isUp }) => (isUp ? [shard] : [])));
  const gone = away.find(({ shard }) => shard !== undefined && !whole.has(shard));
  return gone === undefined
    ? `${READY}, but ${away.length} of ${replicas.length} replicas do not answer`
    : `no replica of shard ${gone.shard} of the cluster answers`;
}

const READY = 'ready for queries and writes';

function damagedText(count: number): string {
  return (
    `${READY}, but ${count} damaged ${count === 1 ? 'file' : 'files'}: queries that need them fail; ` +
    'stop the service and run `tidemark tsdb repair`'
  );
}

const DEFAULT_WATCH_SECONDS = 10;
const MAX_WATCH_SECONDS = LIMITS.watchSeconds.value;

/** Counts writes and queries by client for some seconds, then answers. */
export async function handleDebugRequests(
  exchange: Exchange,
  { requests, statements: { clock } }: HttpParts,
): Promise<void> {
  const seconds = readSeconds(exchange.parameters.get('seconds'));
  const wait = clock.sleep(seconds * 1000, goneSignal(exchange)).catch(() => undefined);
  const counts = await requests.watch(wait); // A client that has gone ends the wait.
  sendJson(exchange, 200, Object.fromEntries(counts));
}

function readSeconds(text: string): number {
  if (text === '') return DEFAULT_WATCH_SECONDS;
  if (!/^[+-]?\d+$/.test(text)) {
    throw new InvalidRequest(`seconds must be a whole number, not ${JSON.stringify(text)}`);
  }
  const seconds = Number(text);
  if (seconds > MAX_WATCH_SECONDS) {
    throw new InvalidRequest(`exceeded maximum interval time: ${seconds}s > 6h`);
  }
  return Math.max(0, seconds);
}

/** All statistics as one JSON object, keyed by module and tags. */
export async function handleDebugVars(
  exchange: Exchange,
  { startedAt, statements: { clock, statistics } }: HttpParts,
): Promise<void> {
  const memory = process.memoryUsage();
  const vars: Record<string, unknown> = {
    system: {
      currentTime: formatRfc3339(clock.now()),
      started: formatRfc3339(startedAt),
      uptime: Math.round(process.uptime()),
    },
    cmdline: ['tidemark', 'tsdb'],
    memstats: {
      Alloc: memory.heapUsed,
      HeapAlloc: memory.heapUsed,
      HeapSys: memory.heapTotal,
      Sys: memory.rss,
    },
  };
  for (const { name, tags, values } of await statistics.read()) {
    const path = Object.values(tags).join(':');
    vars[path === '' ? name : `${name}:${path}`] = { name, tags, values };
  }
  sendJson(exchange, 200, vars);
}

export async function handleMetrics(
  exchange: Exchange,
  { metrics, statements: { statistics } }: HttpParts,
): Promise<void> {
  const { type, text } = await metricsText(statistics, metrics);
  sendBody(exchange, 200, { type, content: text });
}

/**
 * The last rejected lines, all or those of one `source` or `database`, and their number by source
 * since the start.
 */
export function handleDebugRejected(exchange: Exchange, { rejected }: HttpParts): void {
  const { parameters } = exchange;
  const text = parameters.get('limit');
  if (!/^\d*$/.test(text)) throw new InvalidRequest('limit must be a number of lines');
  const filter = {
    source: parameters.get('source') || undefined,
    database: parameters.get('database') || undefined,
    limit: text === '' ? undefined : Number(text),
  };
  sendJson(exchange, 200, {
    counts: Object.fromEntries(rejected.counts()),
    lines: rejected.entries(filter),
  });
}

/** The servers that hold the points, with their size and delay; empty for local files. */
export async function handleReplicas(exchange: Exchange, { storage }: HttpParts): Promise<void> {
  sendJson(exchange, 200, { replicas: (await storage.replicas?.replicas()) ?? [] });
}

/** The last slow queries, newest first, and the threshold in milliseconds. */
export function handleSlowQueries(exchange: Exchange, { statements }: HttpParts): void {
  const { slow } = statements.queries;
  sendJson(exchange, 200, { afterMs: slow.afterMs, queries: slow.list() });
}
