// Endpoints of dead letters: list, retry, drop. Preview only.
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import { handlerIdOf } from '@tidemark/alerting';
import type { AlertService, DeadLetter, LetterChoice } from '@tidemark/alerting';
import { asObject, parseJson } from '../formats/json.ts';
import { pickFields, readFields, readPage } from '../formats/params.ts';
import type { QueryParams } from '../formats/params.ts';
import type { Api } from './api.ts';

const PATH = '/alerts/dead-letters';
const FIELDS = ['topic', 'handler', 'event', 'level', 'message', 'reason', 'time'];
const PREFIX = 'invalid action: ';

export function addDeadLetterRoutes(api: Api, alerts: AlertService): void {
  const { deadLetters } = alerts;
  api.onPreview('GET', PATH, async (request) => {
    const fields = readFields(request.query, FIELDS);
    const { offset, limit } = readPage(request.query);
    const chosen = await request.data.readable(
      deadLetters.list(choiceOfQuery(request.query)),
      ({ event }) => alerts.databasesOf(event.topic),
    );
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        total: chosen.length,
        'dead-letters': chosen
          .slice(offset, offset + limit)
          .map((letter) => pickFields(letterView(letter), fields)),
      },
    };
  });
  api.onPreview('POST', PATH, async (request) => {
    const body = asObject(parseJson(request.body, PREFIX), `${PREFIX}expected an object`);
    const choice = choiceOfBody(body);
    const { action } = body;
    if (action !== 'retry' && action !== 'drop') {
      throw new InvalidRequest(`${PREFIX}action must be "retry" or "drop"`);
    }
    const count = await (action === 'retry'
      ? deadLetters.requeue(choice)
      : deadLetters.drop(choice));
    return { status: 200, json: { action, count, left: deadLetters.count } };
  });
}

function letterView(letter: DeadLetter): Readonly<Record<string, unknown>> {
  const { sequence, event, reason, time } = letter;
  return {
    id: String(sequence),
    topic: event.topic,
    handler: handlerIdOf(letter),
    event: event.id,
    level: event.level,
    message: event.message,
    reason,
    time: formatRfc3339(time),
  };
}

function choiceOfQuery(query: QueryParams): LetterChoice {
  return { topic: query.get('topic') || undefined, handler: query.get('handler') || undefined };
}

function choiceOfBody({
  ids,
  topic,
  handler,
  all,
}: Readonly<Record<string, unknown>>): LetterChoice {
  const isChoosing = [ids, topic, handler].some((each) => each !== undefined);
  if (isChoosing === (all === true)) {
    throw new InvalidRequest(`${PREFIX}choose by ids, topic or handler, or say "all": true`);
  }
  return {
    sequences: ids === undefined ? undefined : sequencesOf(ids),
    topic: textOf(topic, 'topic'),
    handler: textOf(handler, 'handler'),
  };
}

function sequencesOf(ids: unknown): ReadonlySet<number> {
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  if (!isList) throw new InvalidRequest(`${PREFIX}ids must be a list of ids`);
  return new Set(ids.map(Number));
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new InvalidRequest(`${PREFIX}${name} must be a string`);
}
