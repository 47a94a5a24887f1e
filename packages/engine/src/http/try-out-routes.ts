// Endpoints of try-outs: run a script on past data without storing it, and save that as a task
// test. They change nothing, but run a script of the client, so they require the same rights as
// defining a task.
import { Readable } from 'node:stream';
import { InvalidRequest, parseRfc3339 } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { parsePrecision, unknownPrecision } from '@tidemark/line-protocol';
import { parseDuration } from '@tidemark/tickscript';
import type { TryOutInput, TryOutSource } from '../try-out/input.ts';
import type { TryOuts } from '../try-out/try-outs.ts';
import { asObject, parseJson } from '../formats/json.ts';
import type { Api } from './api.ts';
import { readTaskDocument } from './task-routes.ts';

const PATH = '/try-outs';
const PREFIX = 'invalid try-out: ';

type Body = Readonly<Record<string, unknown>>;

export function addTryOutRoutes(
  api: Api,
  { tryOuts, clock }: { readonly tryOuts: TryOuts; readonly clock: Clock },
): void {
  api.on('POST', PATH, (request) => {
    const input = readInput(readBody(request.body), clock);
    return {
      status: 200,
      stream: Readable.from(tryOuts.open(input, request.signal)),
      contentType: 'application/x-ndjson',
      headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
    };
  });
  api.on('POST', `${PATH}/task-test`, async (request) => {
    const body = readBody(request.body);
    const input = readInput(body, clock);
    const file = { name: text(body, 'name'), expects: readExpects(body['expects']) };
    return {
      status: 200,
      text: await tryOuts.save(input, file, request.signal),
      contentType: 'text/plain; charset=utf-8',
    };
  });
}

function readBody(body: Uint8Array): Body {
  return asObject(parseJson(body, PREFIX), `${PREFIX}expected an object`);
}

function readInput(body: Body, clock: Clock): TryOutInput {
  const task = readTaskDocument(asObject(body['task'], `${PREFIX}expected "task"`));
  const source = asObject(body['source'], `${PREFIX}expected "source"`);
  return {
    task,
    source: readSource(source, clock.now()),
    goesOnNanos: readDuration(text(body, 'goes-on')),
  };
}

/** One of `recording`, `points`, and `start` with `stop`. */
function readSource(source: Body, now: Timestamp): TryOutSource {
  const recording = text(source, 'recording');
  if (recording !== '') return { kind: 'recording', recording };
  const start = text(source, 'start');
  if (start !== '') {
    const span = { start: time('start', start), stop: now };
    const stop = text(source, 'stop');
    if (stop !== '') span.stop = time('stop', stop);
    if (span.stop <= span.start) throw new InvalidRequest(`${PREFIX}stop must be after start`);
    return { kind: 'database', ...span };
  }
  const precision = parsePrecision(text(source, 'precision') || 'ns');
  if (precision === undefined) {
    throw new InvalidRequest(PREFIX + unknownPrecision(text(source, 'precision')));
  }
  return { kind: 'points', lines: text(source, 'points'), precision };
}

function readExpects(value: unknown): readonly string[] {
  const list = value ?? ['events'];
  const isList = Array.isArray(list) && list.every((each) => typeof each === 'string');
  if (!isList) throw new InvalidRequest(`${PREFIX}expects must be a list of texts`);
  const unknown = list.find((each) => !/^(?:events|details|writes|requests|emits \S+)$/.test(each));
  if (unknown !== undefined) {
    throw new InvalidRequest(
      `${PREFIX}expects has ${JSON.stringify(unknown)}, not one of events, details, writes, requests, emits NODE`,
    );
  }
  return list;
}

function readDuration(value: string): bigint {
  if (value === '') return 0n;
  const nanos = parseDuration(value);
  if (nanos === undefined || nanos < 0n) {
    throw new InvalidRequest(`${PREFIX}goes-on is no duration: ${JSON.stringify(value)}`);
  }
  return nanos;
}

function text(body: Body, name: string): string {
  const value = body[name] ?? '';
  if (typeof value !== 'string') throw new InvalidRequest(`${PREFIX}${name} must be a string`);
  return value;
}

function time(name: string, value: string): Timestamp {
  const parsed = parseRfc3339(value);
  if (parsed === undefined) {
    throw new InvalidRequest(`${PREFIX}invalid ${name} time ${JSON.stringify(value)}`);
  }
  return parsed;
}
