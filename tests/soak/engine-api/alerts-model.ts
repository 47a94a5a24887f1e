// The model of topics: events by id, handlers by id.
import { FAILURE, isText, isTime } from './call.ts';
import type { Call, Expected } from './call.ts';
import type { Step } from './steps.ts';

export type Level = 'OK' | 'CRITICAL';

/**
 * A time in whole seconds. With a `shift` it is a guess: a replay has moved it, and only seconds of
 * one shift compare.
 */
export type Instant = { readonly seconds: number; readonly shift: string };

export type EventState = {
  readonly level: Level;
  readonly time: Instant;
  /** In seconds; `undefined` when it cannot be known. */
  readonly duration: number | undefined;
};

type Handler = { action: 'post'; mark: number };

type Topic = {
  readonly events: Map<string, EventState>;
  readonly handlers: Map<string, Handler>;
};

const LEVELS: readonly string[] = ['OK', 'INFO', 'WARNING', 'CRITICAL'];
const PATH = 'alerts/topics';

export class AlertsModel {
  readonly #topics = new Map<string, Topic>();
  readonly #sink: () => string;
  #round = 0;

  /** `sink` is where handlers post to. */
  constructor(sink: () => string) {
    this.#sink = sink;
  }

  /** An alert node tells of an event. */
  collect(topicId: string, { id, ...state }: EventState & { readonly id: string }): void {
    this.#topic(topicId).events.set(id, state);
  }

  event(topicId: string, id: string): EventState | undefined {
    return this.#topics.get(topicId)?.events.get(id);
  }

  apply(step: Step): readonly Call[] | undefined {
    switch (step.kind) {
      case 'create-handler':
        return [this.#create(step)];
      case 'replace-handler':
        return [this.#replace(step)];
      case 'patch-handler':
        return [this.#patch(step)];
      case 'delete-handler': {
        this.#topics.get(step.topic)?.handlers.delete(step.id);
        const path = `${PATH}/${step.topic}/handlers/${step.id}`;
        return [{ method: 'DELETE', path, status: 204 }];
      }
      case 'delete-topic':
        this.#topics.get(step.topic)?.events.clear();
        return [{ method: 'DELETE', path: `${PATH}/${step.topic}`, status: 204 }];
      default:
        return undefined;
    }
  }

  #create(step: Extract<Step, { kind: 'create-handler' | 'replace-handler' }>): Call {
    const { topic, id, action, mark } = step;
    const isTaken = this.#topics.get(topic)?.handlers.has(id) === true;
    const body = { id, actions: this.#actions(action, mark) };
    const call = { method: 'POST', path: `${PATH}/${topic}/handlers`, body } as const;
    if (isTaken || action !== 'post') return { ...call, status: 400, json: FAILURE };
    this.#topic(topic).handlers.set(id, { action, mark });
    return { ...call, status: 200, json: this.#handlerView(topic, id, mark) };
  }

  #replace(step: Extract<Step, { kind: 'create-handler' | 'replace-handler' }>): Call {
    const { topic, id, action, mark } = step;
    const body = { id, actions: this.#actions(action, mark) };
    const call = { method: 'PUT', path: `${PATH}/${topic}/handlers/${id}`, body } as const;
    const handler = this.#topics.get(topic)?.handlers.get(id);
    if (handler === undefined) return { ...call, status: 404, json: FAILURE };
    if (action !== 'post') return { ...call, status: 400, json: FAILURE };
    handler.mark = mark;
    return { ...call, status: 200, json: this.#handlerView(topic, id, mark) };
  }

  #patch(step: Extract<Step, { kind: 'patch-handler' }>): Call {
    const { topic, id, mark } = step;
    const options = { url: this.#url(mark) };
    const bodies = {
      replace: [{ op: 'replace', path: '/actions/0/options/url', value: options.url }],
      add: [{ op: 'add', path: '/actions/0', value: { kind: 'post', options } }],
      missing: [{ op: 'replace', path: '/actions/7/options', value: {} }],
      malformed: { op: 'replace' },
    };
    const path = `${PATH}/${topic}/handlers/${id}`;
    const call = { method: 'PATCH', path, body: bodies[step.patch] } as const;
    const handler = this.#topics.get(topic)?.handlers.get(id);
    if (handler === undefined) return { ...call, status: 404, json: FAILURE };
    if (step.patch === 'missing' || step.patch === 'malformed') {
      return { ...call, status: 400, json: FAILURE };
    }
    const old = this.#action(handler.mark);
    handler.mark = mark;
    const actions = step.patch === 'add' ? [this.#action(mark), old] : [this.#action(mark)];
    // The added action is removed again, so that every handler of the model has one action.
    const answer = { ...call, status: 200, json: { id, actions } };
    if (step.patch === 'replace') return answer;
    return { ...answer, onAnswer: undefined };
  }

  /** After a patch that adds an action: the request that makes it one action again. */
  tidy(step: Step): readonly Call[] {
    if (step.kind !== 'patch-handler' || step.patch !== 'add') return [];
    const handler = this.#topics.get(step.topic)?.handlers.get(step.id);
    if (handler === undefined) return [];
    const path = `${PATH}/${step.topic}/handlers/${step.id}`;
    const body = [{ op: 'remove', path: '/actions/1' }];
    const json = this.#handlerView(step.topic, step.id, handler.mark);
    return [{ method: 'PATCH', path, body, status: 200, json }];
  }

  /** Requests whose answers show everything. */
  checks(): readonly Call[] {
    const level = LEVELS[this.#round++ % LEVELS.length] ?? 'OK';
    const calls: Call[] = [...this.#topics].flatMap(([id, topic]) => [
      ...this.#topicChecks(id, topic, level),
      ...this.#handlerChecks(id, topic),
    ]);
    const seen = [...this.#topics].filter(([, topic]) => levelOf(topic) !== 'OK');
    const wanted = level === 'OK' ? [] : seen.map(([id]) => id).sort();
    if (level === 'OK') return calls;
    calls.push({
      method: 'GET',
      path: `${PATH}?pattern=t*&min-level=${level}`,
      status: 200,
      json: { topics: wanted.map((id) => ({ id, level: 'CRITICAL' })) },
      isSettling: true,
    });
    return calls;
  }

  #topicChecks(id: string, topic: Topic, minLevel: string): readonly Call[] {
    if (topic.events.size === 0) return [];
    const events = [...topic.events]
      .filter(([, { level }]) => LEVELS.indexOf(level) >= LEVELS.indexOf(minLevel))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const href = `@/${PATH}/${id}`;
    return [
      {
        method: 'GET',
        path: `${PATH}/${id}`,
        status: 200,
        json: {
          id,
          level: levelOf(topic),
          link: { rel: 'self', href },
          'events-link': { rel: 'events', href: `${href}/events` },
          'handlers-link': { rel: 'handlers', href: `${href}/handlers` },
        },
        isSettling: true,
      },
      {
        method: 'GET',
        path: `${PATH}/${id}/events?min-level=${minLevel}`,
        status: 200,
        json: { topic: id, events: events.map(([name, state]) => eventView(id, name, state)) },
        isSettling: true,
      },
    ];
  }

  #handlerChecks(id: string, topic: Topic): readonly Call[] {
    const handlers = [...topic.handlers].sort(([a], [b]) => (a < b ? -1 : 1));
    const views = handlers.map(([name, { mark }]) => this.#handlerView(id, name, mark));
    const path = `${PATH}/${id}/handlers`;
    return [{ method: 'GET', path, status: 200, json: { topic: id, handlers: views } }];
  }

  /** The request that shows one event, for a model that waits for its points to have passed. */
  settle(topicId: string, eventId: string): readonly Call[] {
    const state = this.#topics.get(topicId)?.events.get(eventId);
    if (state === undefined) return [];
    return [
      {
        method: 'GET',
        path: `${PATH}/${topicId}/events/${encodeURIComponent(eventId)}`,
        status: 200,
        json: eventView(topicId, eventId, state),
        isSettling: true,
      },
    ];
  }

  #handlerView(topic: string, id: string, mark: number): Expected {
    const link = { rel: 'self', href: `@/${PATH}/${topic}/handlers/${id}` };
    return { id, link, actions: [this.#action(mark)] };
  }

  #actions(action: string, mark: number): readonly object[] {
    if (action === 'none') return [];
    if (action === 'unknown') return [{ kind: 'carrier-pigeon' }];
    const { kind, options } = this.#action(mark);
    return [{ kind, options: action === 'post' ? options : { ...options, nonsense: 1 } }];
  }

  #action(mark: number): { readonly kind: string; readonly options: { readonly url: string } } {
    return { kind: 'post', options: { url: this.#url(mark) } };
  }

  #url(mark: number): string {
    return `${this.#sink()}/sink/${mark}`;
  }

  #topic(id: string): Topic {
    let topic = this.#topics.get(id);
    if (topic === undefined) {
      topic = { events: new Map(), handlers: new Map() };
      this.#topics.set(id, topic);
    }
    return topic;
  }
}

function levelOf(topic: Topic): Level {
  return [...topic.events.values()].some(({ level }) => level !== 'OK') ? 'CRITICAL' : 'OK';
}

function eventView(topic: string, id: string, { level, time, duration }: EventState): Expected {
  return {
    id,
    link: { rel: 'self', href: `@/${PATH}/${topic}/events/${encodeURIComponent(id)}` },
    state: {
      level,
      message: level,
      time: time.shift === '' ? timeText(time.seconds) : isTime,
      duration: duration === undefined ? isText : clock(duration),
    },
  };
}

/** RFC 3339 of whole seconds. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000', '');
}

/** A duration as `1h0m5s`. */
function clock(total: number): string {
  if (total < 0) return `-${clock(-total)}`;
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const seconds = `${total % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
