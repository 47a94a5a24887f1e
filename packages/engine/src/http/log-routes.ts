// The log over the API: lines as they are written, and which levels are.
import { InvalidRequest } from '@tidemark/core';
import type { LogFilter, LogHub, LogLevel } from '../observability/log-hub.ts';
import { asObject, parseJson } from './json.ts';
import type { QueryParams } from './params.ts';
import type { Api, ApiRequest, ApiResponse } from './server.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export function addLogRoutes(api: Api, logs: LogHub): void {
  api.onPreview('GET', '/logs', (request) => followLogs(request, logs));
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

function followLogs(request: ApiRequest, logs: LogHub): ApiResponse {
  const accept = String(request.headers['accept'] ?? '');
  const isJson = accept.includes('application/json');
  return {
    status: 200,
    stream: logs.follow(readFilter(request.query), isJson ? 'json' : 'logfmt', request.signal),
    contentType: isJson ? 'application/json' : 'text/plain; charset=utf-8',
    headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  };
}

function readFilter(query: QueryParams): LogFilter {
  const fields = new Map<string, string>();
  let minLevel: LogLevel = 'debug';
  let isExact = false;
  for (const [name, values] of query.entries()) {
    if (values.length > 1) throw new InvalidRequest('query params cannot contain duplicate params');
    const value = values[0] ?? '';
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
  return { fields, minLevel, isExact };
}
