// Definitions of handlers in the API and in the store.
import { InvalidRequest } from '@tidemark/core';
import type { JsonValue } from '@tidemark/settings';

export type HandlerAction = {
  readonly kind: string;
  readonly options: { readonly [name: string]: JsonValue };
};

/**
 * A handler of a topic. `form` remembers how it was written: `actions` is a chain; `single` is the
 * one-action form with `kind` and `options` beside the id, which older clients send and expect
 * back.
 */
export type HandlerSpec = {
  readonly id: string;
  readonly form: 'actions' | 'single';
  readonly actions: readonly HandlerAction[];
  /** Source of the match expression, '' for all events. */
  readonly match: string;
};

const ID = /^[-._\p{L}0-9]+$/u;
const TOPIC = /^[-._:\p{L}0-9]+$/u;
const ACTIONS_MAX = 32;

/** Maximum length of ids that clients choose. */
export const ID_BYTES_MAX = 1024;

/** Checks the id of a topic. */
export function checkTopicId(topic: string): void {
  if (TOPIC.test(topic) && Buffer.byteLength(topic) <= ID_BYTES_MAX) return;
  throw new InvalidRequest(
    `topic must contain only letters, numbers, '-', '.', ':' and '_'. ${JSON.stringify(topic)}`,
  );
}

/**
 * Reads a definition. `fallbackId` is used when the client's id is absent or empty. Throws
 * `InvalidRequest`.
 */
export function readHandlerSpec(value: unknown, fallbackId?: string): HandlerSpec {
  const object = asObject(value, 'handler');
  const given = object['id'] ?? '';
  const id = given === '' ? (fallbackId ?? '') : given;
  if (typeof id !== 'string' || !ID.test(id) || Buffer.byteLength(id) > ID_BYTES_MAX) {
    throw new InvalidRequest(
      `invalid handler spec: handler ID must contain only letters, numbers, '-', '.' and '_'. ${JSON.stringify(id)}`,
    );
  }
  const match = object['match'] ?? '';
  if (typeof match !== 'string')
    throw new InvalidRequest('invalid handler spec: match must be a string');
  if (object['actions'] === undefined || object['actions'] === null) {
    if (object['kind'] === undefined && object['options'] === undefined) {
      throw new InvalidRequest('invalid handler spec: must provide at least one action');
    }
    return { id, form: 'single', actions: [readAction(object)], match };
  }
  if (!Array.isArray(object['actions'])) {
    throw new InvalidRequest('invalid handler spec: actions must be a list');
  }
  if (object['actions'].length === 0) {
    throw new InvalidRequest('invalid handler spec: must provide at least one action');
  }
  if (object['actions'].length > ACTIONS_MAX) {
    throw new InvalidRequest(`invalid handler spec: more than ${ACTIONS_MAX} actions`);
  }
  return { id, form: 'actions', actions: object['actions'].map(readAction), match };
}

function readAction(value: unknown): HandlerAction {
  const object = asObject(value, 'action');
  const kind = object['kind'];
  if (typeof kind !== 'string' || kind === '') {
    throw new InvalidRequest('invalid handler spec: handler Kind must not be empty');
  }
  const options = object['options'] ?? {};
  return { kind, options: asObject(options, 'options') as HandlerAction['options'] };
}

function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidRequest(`invalid handler spec: ${what} must be an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** A definition as answers show it, without its link. */
export function printHandlerSpec(spec: HandlerSpec): { readonly [name: string]: JsonValue } {
  const first = spec.actions[0];
  if (spec.form === 'single' && first !== undefined) {
    return { id: spec.id, kind: first.kind, options: first.options, match: spec.match };
  }
  const actions = spec.actions.map(({ kind, options }) => ({ kind, options }));
  return spec.match === '' ? { id: spec.id, actions } : { id: spec.id, actions, match: spec.match };
}

/** The document that JSON patches are applied to. */
export function patchDocument(topic: string, spec: HandlerSpec): Record<string, JsonValue> {
  return structuredClone({ topic, ...printHandlerSpec(spec) });
}
