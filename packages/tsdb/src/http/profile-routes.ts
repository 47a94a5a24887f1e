// /debug/pprof: profiles of the running process that open in the developer tools of a browser.
import { Session } from 'node:inspector/promises';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';

import { assert, Conflict, InvalidRequest, NotFound } from '@tidemark/core';

import { sendBody, sendJson } from './answer.ts';
import { goneSignal } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { hideTexts } from './heap-texts.ts';
import type { Handler, HttpParts } from './parts.ts';
import { LIMITS } from '../limits.ts';

const DEFAULT_PROFILE_SECONDS = 10;
const MAX_PROFILE_SECONDS = LIMITS.profileSeconds.value;

// The inspector has one profiler per thread, and nothing else runs while a snapshot is taken.
let isProfiling = false;
let isTakingSnapshot = false;

/** Refuses requests for profiles while `http.pprof-enabled` is off. */
export function ifProfiling(handle: Handler): Handler {
  return async (exchange, parts, identity) => {
    if (!parts.config.http.pprofEnabled) {
      throw new NotFound('profiles are switched off (http.pprof-enabled)');
    }
    await handle(exchange, parts, identity);
  };
}

/** Lists the profiles. */
export function handleProfileIndex(exchange: Exchange): void {
  sendJson(exchange, 200, {
    '/debug/pprof/profile?seconds=10': 'CPU profile; save as .cpuprofile',
    '/debug/pprof/heap': 'heap snapshot; save as .heapsnapshot',
  });
}

/** Samples the CPU for some seconds. */
export async function handleCpuProfile(
  exchange: Exchange,
  { statements }: HttpParts,
): Promise<void> {
  const seconds = readSeconds(exchange.parameters.get('seconds'));
  if (isProfiling) throw new Conflict('a CPU profile is being taken already');
  isProfiling = true;
  const session = new Session();
  const gone = goneSignal(exchange);
  try {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    // The client has gone.
    await statements.clock.sleep(seconds * 1000, gone).catch(() => undefined);
    const { profile } = await session.post('Profiler.stop');
    exchange.response.setHeader(
      'Content-Disposition',
      'attachment; filename="tidemark.cpuprofile"',
    );
    sendBody(exchange, 200, { type: 'application/json', content: JSON.stringify(profile) });
  } finally {
    session.disconnect();
    isProfiling = false;
  }
}

/** The heap of the main thread, without texts. The process stands still while it is taken. */
export async function handleHeapSnapshot(exchange: Exchange): Promise<void> {
  const { response } = exchange;
  if (isTakingSnapshot) throw new Conflict('a heap snapshot is being taken already');
  response.statusCode = 200;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Disposition', 'attachment; filename="tidemark.heapsnapshot"');
  if (exchange.method === 'HEAD') {
    response.end();
    return;
  }
  isTakingSnapshot = true;
  try {
    indexLines();
    await pipeline(getHeapSnapshot(), hideTexts, response);
  } finally {
    isTakingSnapshot = false;
  }
}

/**
 * A snapshot has the line of every function. V8 searches for it from the start of the file each
 * time, unless it has a table of the file's lines, which it creates for stack traces: in the bundle
 * 2 s of CPU instead of 17.
 */
function indexLines(): void {
  assert(new Error('for its stack').stack !== undefined, 'errors have stacks');
}

function readSeconds(text: string): number {
  const seconds = text === '' ? DEFAULT_PROFILE_SECONDS : Number(text);
  if (!(seconds > 0 && seconds <= MAX_PROFILE_SECONDS)) {
    throw new InvalidRequest(`seconds must be between 0 and ${MAX_PROFILE_SECONDS}`);
  }
  return seconds;
}
