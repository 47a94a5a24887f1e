// The log over the API: following its lines, and setting its level.
import { InvalidRequest } from '@tidemark/core';
import { UNKNOWN_DATABASE } from '../access/data-access.ts';
import type { LogFilter, LogHub, LogLevel, LogLine } from '../observability/log-hub.ts';
import type { Executor } from '../tasks/executor.ts';
import { databasesOf } from '../tasks/task-databases.ts';
import type { TaskService } from '../tasks/task-service.ts';
import { asObject, parseJson } from '../formats/json.ts';
import type { QueryParams } from '../formats/params.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogRoutesOptions = {
  readonly logs: LogHub;
  readonly executor: Executor;
  readonly tasks: TaskService;
};

export function addLogRoutes(api: Api, options: LogRoutesOptions): void {
  const { logs } = options;
  logs.keepHistory((line) => sourcesOf(line, options));
  api.onPreview('GET', '/logs', (request) => followLogs(request, options));
  api.on('POST', '/loglevel', (request) => {
    setLogLevel(request.body, logs);
    return { status: 204 };
  });
}

function setLogLevel(body: Uint8Array, logs: LogHub): void {
  const object = asObject(parseJson(body, 'invalid json: '), 'invalid json: expected an object');
  const level = String(object['level'] ?? '').toLowerCase();
  const found = [...LEVELS, 'off' as const].find((each) => each === level);
  if (found === undefined) throw new InvalidRequest('invalid log level');
  logs.setLevel(found);
}

function followLogs(request: ApiRequest, options: LogRoutesOptions): ApiResponse {
  const accept = String(request.headers['accept'] ?? '');
  const isJson = accept.includes('application/json');
  const data = request.data.ofParts();
  const { isPast, ...filter } = readFilter(request.query);
  return {
    status: 200,
    stream: options.logs.follow(filter, {
      format: isJson ? 'json' : 'logfmt',
      signal: request.signal,
      pastOf: isPast ? filter.fields.get('task') : undefined,
      mayRead: (line, sources = []) =>
        data.mayRead(() => [...sources, ...sourcesOf(line, options)]),
    }),
    contentType: isJson ? 'application/json' : 'text/plain; charset=utf-8',
    headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  };
}

/** Lines of a task are about its data; the subject of others is unknown. */
function sourcesOf({ fields }: LogLine, { executor, tasks }: LogRoutesOptions): readonly string[] {
  const id = String(fields['task'] ?? '');
  const record = tasks.get(id);
  if (record === undefined) return [UNKNOWN_DATABASE];
  return [...databasesOf(record), ...(executor.entry(id)?.databases ?? [])];
}

/** `past=true` asks for the kept lines of the task first; other parameters are fields. */
function readFilter(query: QueryParams): LogFilter & { readonly isPast: boolean } {
  const fields = new Map<string, string>();
  let minLevel: LogLevel = 'debug';
  let isExact = false;
  let isPast = false;
  for (const [name, values] of query.entries()) {
    if (values.length > 1) throw new InvalidRequest('query params cannot contain duplicate params');
    const value = values[0] ?? '';
    if (name === 'past') {
      isPast = value === 'true';
      continue;
    }
    if (name !== 'lvl') {
      fields.set(name, value);
      continue;
    }
    const level = value.replace(/[+ ]$/, '').toLowerCase();
    const found = LEVELS.find((each) => each === level);
    if (found === undefined) throw new InvalidRequest('invalid log level');
    minLevel = found;
    isExact = !/[+ ]$/.test(value);
  }
  return { fields, minLevel, isExact, isPast };
}
