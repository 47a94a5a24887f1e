// Profiling endpoints: Node's profiles under the paths that operators of Go programs know.
import { Session } from 'node:inspector/promises';
import { getHeapStatistics } from 'node:v8';
import { InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Api, ApiRequest, ApiResponse } from './api.ts';

const SECONDS_DEFAULT = 30;
const SECONDS_MAX = 120;

const INDEX = `cmdline
goroutine (what the process waits for)
heap (statistics of the heap)
profile?seconds=30 (a .cpuprofile)`;

/** `redact` hides secrets of the engine in the command line. */
export function addPprofRoutes(api: Api, clock: Clock, redact: (text: string) => string): void {
  const text = (body: string): ApiResponse => ({
    status: 200,
    text: `${body}\n`,
    contentType: 'text/plain; charset=utf-8',
  });
  let isProfiling = false;
  api.on('GET', '/debug/pprof/', () => text(INDEX));
  api.on('GET', '/debug/pprof/cmdline', () => text(redact(hideFlags(process.argv).join('\u0000'))));
  api.on('GET', '/debug/pprof/heap', () => ({
    status: 200,
    json: { ...getHeapStatistics(), ...process.memoryUsage() },
  }));
  // The equivalent of goroutines: what keeps the process busy or waiting, with counts.
  api.on('GET', '/debug/pprof/goroutine', () => text(countsOf(process.getActiveResourcesInfo())));
  api.on('GET', '/debug/pprof/profile', async (request) => {
    if (isProfiling) throw new InvalidRequest('a profile is being taken already');
    isProfiling = true;
    try {
      return { status: 200, json: await profile(request, clock) };
    } finally {
      isProfiling = false;
    }
  });
}

/** The command line may also be that of the database, whose secrets the engine does not know. */
function hideFlags(args: readonly string[]): readonly string[] {
  const isSecret = (flag: string): boolean => /^--.*(?:secret|password|token)/.test(flag);
  return args.map((argument, i) => {
    if (!argument.startsWith('--')) return isSecret(args[i - 1] ?? '') ? '[REDACTED]' : argument;
    return isSecret(argument) ? argument.replace(/=.*/s, '=[REDACTED]') : argument;
  });
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts].sort().map(([name, count]) => `${count} ${name}`);
  return [`${names.length} active`, ...lines].join('\n');
}

async function profile(request: ApiRequest, clock: Clock): Promise<unknown> {
  const seconds = Number(request.query.get('seconds') || SECONDS_DEFAULT);
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) {
    const given = JSON.stringify(request.query.get('seconds'));
    throw new InvalidRequest(
      `seconds must be a number above 0 and up to ${SECONDS_MAX}, not ${given}`,
    );
  }
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    // A client that goes away ends the measurement, whose result is dropped.
    await clock.sleep(seconds * 1000, request.signal).catch(() => undefined);
    return (await session.post('Profiler.stop')).profile;
  } finally {
    session.disconnect();
  }
}
