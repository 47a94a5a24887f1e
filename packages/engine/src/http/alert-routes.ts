// Endpoints of alerting: topics, events, handlers. Preview only.
import { randomUUID } from 'node:crypto';
import { Conflict, formatRfc3339, InvalidRequest } from '@tidemark/core';
import { applyPatch } from 'rfc6902';
import type { Operation } from 'rfc6902';
import {
  parseLevel,
  printHandlerSpec,
  printState,
  readHandlerSpec,
  readState,
} from '@tidemark/alerting';
import type { AlertService, EventState, HandlerSpec, TopicView } from '@tidemark/alerting';
import type { AlertLevelName } from '@tidemark/runtime';
import { addDeadLetterRoutes } from './dead-letter-routes.ts';
import { wantsDiagnostics } from './diagnostics.ts';
import { asObject, parseJson } from '../formats/json.ts';
import { pickFields, readFields, readPage, readPattern } from '../formats/params.ts';
import type { QueryParams } from '../formats/params.ts';
import { pathTo } from './routes.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';

const TOPICS = '/alerts/topics';

const TOPIC_FIELDS = ['level', 'collected', 'events-link', 'handlers-link'];
const HANDLER_FIELDS = ['actions', 'kind', 'options', 'match'];

export function addAlertRoutes(api: Api, alerts: AlertService): void {
  addTopicRoutes(api, alerts);
  addHandlerRoutes(api, alerts);
  addDeadLetterRoutes(api, alerts);
}

// Answers wait until the shown state is on disk, so that a crash does not undo it. If the disk
// fails, the state is still shown, because handlers got it too; writes fail, and the failure is
// logged.
async function settled(alerts: AlertService): Promise<void> {
  await alerts.stored()?.catch(() => undefined);
}

function addTopicRoutes(api: Api, alerts: AlertService): void {
  api.onPreview('GET', TOPICS, async (request) => {
    await settled(alerts);
    const topics = alerts.topics({
      matches: readPattern(request.query),
      minLevel: readLevel(request.query),
    });
    const fields = readFields(request.query, TOPIC_FIELDS);
    const { offset, limit } = readPage(request.query);
    const readable = await request.data.readable(topics, ({ id }) => alerts.databasesOf(id));
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        topics: readable
          .slice(offset, offset + limit)
          .map((topic) => pickFields(topicView(topic, request), fields)),
      },
    };
  });
  api.onPreview('GET', `${TOPICS}/:topic`, async (request) => {
    await settled(alerts);
    const topic = alerts.topic(topicOf(request));
    await requireTopic(request, alerts);
    return { status: 200, json: topicView(topic, request) };
  });
  api.onPreview('DELETE', `${TOPICS}/:topic`, async (request) => {
    await alerts.deleteTopic(topicOf(request));
    return { status: 204 };
  });
  api.onPreview('GET', `${TOPICS}/:topic/events`, async (request) => {
    await settled(alerts);
    const topic = topicOf(request);
    const fields = readFields(request.query, ['state']);
    alerts.topic(topic);
    await requireTopic(request, alerts);
    const filter = {
      minLevel: readLevel(request.query),
      matches: readPattern(request.query),
      ...readPage(request.query),
    };
    const severe = isByLevel(request.query) ? alerts.mostSevereEvents(topic, filter) : undefined;
    const events = severe?.events ?? alerts.events(topic, filter);
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: `${topicHref(request, topic)}/events` },
        topic,
        ...(severe === undefined
          ? {}
          : { total: severe.total, levels: Object.fromEntries(severe.levels) }),
        events: events.map(([id, state]) =>
          pickFields(eventView({ topic, id, state }, request), fields),
        ),
      },
    };
  });
  api.onPreview('GET', `${TOPICS}/:topic/events/*`, async (request) => {
    await settled(alerts);
    const topic = topicOf(request);
    const id = request.params['*'] ?? '';
    // A topic that does not exist has no events to protect.
    if (alerts.hasTopic(topic)) await requireTopic(request, alerts);
    const state = alerts.event(topic, id);
    return { status: 200, json: eventView({ topic, id, state }, request) };
  });
  // For imports: the state of an event in another engine. No handler is called.
  api.onPreview('PUT', `${TOPICS}/:topic/events/*`, async (request) => {
    const topic = topicOf(request);
    const id = request.params['*'] ?? '';
    const document = asObject(parseJson(request.body, 'invalid JSON: '), 'expected an object');
    const state = readState(document['state']);
    await alerts.restoreEvent(topic, id, state);
    return { status: 200, json: eventView({ topic, id, state }, request) };
  });
}

function addHandlerRoutes(api: Api, alerts: AlertService): void {
  const list = `${TOPICS}/:topic/handlers`;
  const one = `${list}/:handler`;
  const warningsOf = (request: ApiRequest, id: string) =>
    wantsDiagnostics(request.query)
      ? { warnings: alerts.undeliverables(topicOf(request), id) }
      : {};
  // The service returns handlers without their secrets.
  const show = (request: ApiRequest, id: string, more: object): ApiResponse => {
    const topic = topicOf(request);
    const view = handlerView(topic, alerts.handler(topic, id), request);
    return { status: 200, json: { ...view, ...more } };
  };
  // The answer to a definition warns of handlers that cannot deliver.
  const showDefined = (request: ApiRequest, id: string): ApiResponse => {
    const warnings = alerts.undeliverables(topicOf(request), id);
    return show(request, id, warnings.length > 0 ? { warnings } : warningsOf(request, id));
  };

  api.onPreview('GET', list, (request) => {
    const topic = topicOf(request);
    const matches = readPattern(request.query);
    const fields = readFields(request.query, HANDLER_FIELDS);
    const { offset, limit } = readPage(request.query);
    const specs = alerts.handlers(topic);
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        topic,
        // Null distinguishes a topic whose handlers are those of a script from one without
        // handlers.
        handlers:
          specs
            ?.filter((spec) => matches(spec.id))
            .slice(offset, offset + limit)
            .map((spec) => ({
              ...pickFields(handlerView(topic, spec, request), fields),
              ...warningsOf(request, spec.id),
            })) ?? null,
      },
    };
  });
  api.onPreview('POST', list, async (request) => {
    const spec = readHandlerSpec(parseJson(request.body, 'invalid handler json: '), randomUUID());
    await refusedAs('failed to create handler: ', () =>
      alerts.createHandler(topicOf(request), spec),
    );
    return showDefined(request, spec.id);
  });
  api.onPreview('GET', one, (request) => {
    const id = handlerOf(request);
    return show(request, id, warningsOf(request, id));
  });
  api.onPreview('GET', `${one}/state`, async (request) => {
    const [topic, id] = [topicOf(request), handlerOf(request)];
    // Throws if there is none. A deleted topic keeps its handlers and their states.
    const state = alerts.handlerState(topic, id);
    await requireTopic(request, alerts);
    const recent = alerts
      .recentDeliveries(topic, id)
      .map((note) => ({ ...note, time: formatRfc3339(note.time) }));
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        ...state,
        recent,
      },
    };
  });
  api.onPreview('PUT', one, async (request) => {
    const id = handlerOf(request);
    const value = parseJson(request.body, 'failed to unmarshal JSON: ');
    alerts.handler(topicOf(request), id);
    const spec = readHandlerSpec(value, id);
    await replace(alerts, request, spec);
    return showDefined(request, spec.id);
  });
  api.onPreview('PATCH', one, async (request) => {
    const patch = alerts.patchHandler(topicOf(request), handlerOf(request));
    for (const operation of readPatch(request.body)) {
      const document = operation.op === 'test' ? patch.shown() : patch.document;
      const [problem] = applyPatch(document, [operation]);
      if (problem !== null && problem !== undefined)
        throw new InvalidRequest(`failed to apply patch: ${problem.message || problem.name}`);
    }
    const spec = patch.restore(readHandlerSpec(patch.document));
    await replace(alerts, request, spec);
    return showDefined(request, spec.id);
  });
  api.onPreview('DELETE', one, async (request) => {
    await alerts.deleteHandler(topicOf(request), handlerOf(request));
    return { status: 204 };
  });
}

/**
 * Throws `Forbidden` unless the request may read the databases that the topic's events come from.
 */
async function requireTopic(request: ApiRequest, alerts: AlertService): Promise<void> {
  await request.data.requireRead(alerts.databasesOf(topicOf(request)));
}

async function replace(
  alerts: AlertService,
  request: ApiRequest,
  spec: HandlerSpec,
): Promise<void> {
  await refusedAs('failed to update handler: ', () =>
    alerts.replaceHandler(topicOf(request), handlerOf(request), spec),
  );
}

/** Mistakes in a definition are reported as a refusal to create or to update. */
async function refusedAs(prefix: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isRefused = error instanceof Conflict || error instanceof InvalidRequest;
    if (!isRefused) throw error;
    throw new InvalidRequest(prefix + error.message, { cause: error });
  }
}

function readPatch(body: Uint8Array): readonly Operation[] {
  const value = parseJson(body, 'invalid patch json: ');
  const isPatch = Array.isArray(value) && value.every(isOperation);
  if (!isPatch) throw new InvalidRequest('invalid patch json: expected a list of operations');
  return value as readonly Operation[];
}

function isOperation(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  return 'op' in value && 'path' in value && typeof value.path === 'string';
}

function topicOf(request: ApiRequest): string {
  return request.params['topic'] ?? '';
}

function handlerOf(request: ApiRequest): string {
  return request.params['handler'] ?? '';
}

function topicHref(request: ApiRequest, topic: string): string {
  return pathTo(`${request.preview}${TOPICS}`, topic);
}

function topicView(topic: TopicView, request: ApiRequest): Readonly<Record<string, unknown>> {
  const href = topicHref(request, topic.id);
  return {
    link: { rel: 'self', href },
    id: topic.id,
    level: topic.level,
    collected: topic.collected,
    'events-link': { rel: 'events', href: `${href}/events` },
    'handlers-link': { rel: 'handlers', href: `${href}/handlers` },
  };
}

function eventView(
  event: { readonly topic: string; readonly id: string; readonly state: EventState },
  request: ApiRequest,
): Readonly<Record<string, unknown>> {
  const href = pathTo(`${topicHref(request, event.topic)}/events`, event.id);
  return { link: { rel: 'self', href }, id: event.id, state: printState(event.state) };
}

function handlerView(
  topic: string,
  spec: HandlerSpec,
  request: ApiRequest,
): Readonly<Record<string, unknown>> {
  const href = pathTo(`${topicHref(request, topic)}/handlers`, spec.id);
  return { link: { rel: 'self', href }, ...printHandlerSpec(spec) };
}

/** The order of a list of events. */
function isByLevel(query: QueryParams): boolean {
  const order = query.get('order');
  if (!['', 'id', 'level'].includes(order))
    throw new InvalidRequest(`unknown order ${JSON.stringify(order)}: it is id or level`);
  return order === 'level';
}

function readLevel(query: QueryParams): AlertLevelName {
  const text = query.get('min-level');
  const level = parseLevel(text);
  if (level === undefined) throw new InvalidRequest(`unknown alert level '${text.toUpperCase()}'`);
  return level;
}
