// Endpoints for operators of alerts: the history of levels, and a test of a handler with an event,
// stored or not. Preview only.
import { randomUUID } from 'node:crypto';
import { formatClockDuration, formatRfc3339, InvalidRequest, parseRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { checkTopicId, parseLevel, readHandlerSpec } from '@tidemark/alerting';
import type { AlertService, LevelChange, TopicEvent } from '@tidemark/alerting';
import { asObject, parseJson } from '../formats/json.ts';
import { readPage } from '../formats/params.ts';
import type { Api } from './api.ts';

const PREFIX = 'invalid test of a handler: ';

export function addAlertHistoryRoutes(
  api: Api,
  { alerts, clock }: { readonly alerts: AlertService; readonly clock: Clock },
): void {
  api.onPreview('GET', '/alerts/history', async (request) => {
    const { offset, limit } = readPage(request.query);
    const all = await request.data.readable(
      alerts.history.list(request.query.get('topic')),
      ({ topic }) => alerts.databasesOf(topic),
    );
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        total: all.length,
        changes: all.slice(offset, offset + limit).map(changeView),
      },
    };
  });
  api.onPreview('POST', '/alerts/topics/:topic/handler-tests', async (request) => {
    const topic = request.params['topic'] ?? '';
    checkTopicId(topic);
    const body = asObject(parseJson(request.body, PREFIX), `${PREFIX}expected an object`);
    const spec = readHandlerSpec(body['handler'], randomUUID());
    const event = readEvent(body['event'] ?? {}, { topic, clock });
    const results = await alerts.tryHandler(topic, spec, event);
    return {
      status: 200,
      json: {
        results: results.map(({ kind, problem }) => ({
          kind,
          success: problem === '',
          message: problem,
        })),
      },
    };
  });
}

function changeView({ time, durationNanos, ...rest }: LevelChange): object {
  return {
    ...rest,
    time: formatRfc3339(time),
    duration: formatClockDuration(durationNanos),
  };
}

/** The event of a test; omitted properties are those of an example. */
function readEvent(
  value: unknown,
  { topic, clock }: { readonly topic: string; readonly clock: Clock },
): TopicEvent {
  const given = asObject(value, `${PREFIX}event must be an object`);
  const text = (name: string, missing: string): string => {
    const found = given[name] ?? missing;
    if (typeof found === 'string') return found;
    throw new InvalidRequest(`${PREFIX}${name} must be a string`);
  };
  const id = text('id', 'test');
  const level = parseLevel(text('level', 'CRITICAL'));
  const time = parseRfc3339(text('time', formatRfc3339(clock.now())));
  if (level === undefined) throw new InvalidRequest(`${PREFIX}unknown level`);
  if (time === undefined) throw new InvalidRequest(`${PREFIX}time must be RFC 3339`);
  const tags = readTags(given['tags'] ?? {});
  return {
    id,
    message: text('message', `${id} is ${level}`),
    details: text('details', ''),
    time,
    durationNanos: 0n,
    level,
    isRecoverable: true,
    data: [{ name: topic, tags, columns: ['time'], values: [[time]] }],
    context: { name: topic, taskName: 'test', group: '', category: '', tags, fields: {} },
    topic,
    previousLevel: 'OK',
    hops: 0,
  };
}

function readTags(value: unknown): Readonly<Record<string, string>> {
  const tags = asObject(value, `${PREFIX}tags must be an object`);
  for (const each of Object.values(tags)) {
    if (typeof each !== 'string') throw new InvalidRequest(`${PREFIX}tags must be texts`);
  }
  return tags as Readonly<Record<string, string>>;
}
