// Secrets in the options of a topic's handlers. Responses have a marker in their place; a
// definition that is sent back with the marker keeps the stored secret. A secret is kept only for
// the same option of the same kind with the same receiver, so nobody can redirect a secret that
// they do not know.
import { randomUUID } from 'node:crypto';
import { InvalidRequest, own } from '@tidemark/core';
import { HIDDEN, mapTexts, pathText, shownText } from '@tidemark/settings';
import type { JsonValue, OptionSpec, OptionPath } from '@tidemark/settings';
import type { HandlerAction, HandlerSpec } from './handler-spec.ts';
import { patchDocument } from './handler-spec.ts';
import { findHandlerKind } from './registry.ts';

/** A definition in answers. */
export function hideHandlerSecrets(spec: HandlerSpec): HandlerSpec {
  const actions = spec.actions.map((action) => ({
    kind: action.kind,
    options: mapOptions(action, (text, path) => shownText(optionOf(action, path), path, text)),
  }));
  return { ...spec, actions };
}

/**
 * A definition that a client sent back, with the stored secrets in place of markers. Markers
 * without a secret stay; checking the options refuses them. Throws `InvalidRequest` when a secret
 * would go elsewhere.
 */
export function keepHandlerSecrets(next: HandlerSpec, stored: HandlerSpec): HandlerSpec {
  const actions = next.actions.map((action, i) => {
    const before = counterpart(next, stored, i);
    if (before === undefined) return action;
    const kept = mapOptions(action, (text, path) => {
      const old = textAt(before.options, path);
      if (old === undefined || !text.includes(HIDDEN)) return text;
      return text === shownText(optionOf(before, path), path, old) ? old : text;
    });
    return checkedReceiver({ kind: action.kind, options: kept }, action, before);
  });
  return { ...next, actions };
}

/**
 * A definition for a JSON patch. Each secret is represented by a unique token, so that actions may
 * be reordered; tests and answers see the marker.
 */
export class HandlerPatch {
  /** Operations are applied to this. */
  readonly document: Record<string, JsonValue>;
  readonly #secrets = new Map<
    string,
    { readonly action: HandlerAction; readonly path: OptionPath; readonly text: string }
  >();

  constructor(topic: string, stored: HandlerSpec) {
    const actions = stored.actions.map((action) => ({
      kind: action.kind,
      options: mapOptions(action, (text, path) => {
        if (shownText(optionOf(action, path), path, text) === text) return text;
        const token = `${HIDDEN} ${randomUUID()}`;
        this.#secrets.set(token, { action, path, text });
        return token;
      }),
    }));
    this.document = patchDocument(topic, { ...stored, actions });
  }

  /** The document as it is now, as answers show it. `test` operations are applied to this. */
  shown(): JsonValue {
    return mapTexts(this.document, [], (text) => {
      const secret = this.#secrets.get(text);
      if (secret === undefined) return text;
      return shownText(optionOf(secret.action, secret.path), secret.path, secret.text);
    });
  }

  /** The definition read from the document, with its secrets. */
  restore(spec: HandlerSpec): HandlerSpec {
    const actions = spec.actions.map((action) => {
      let before: HandlerAction | undefined;
      const options = mapOptions(action, (text, path) => {
        const secret = this.#secrets.get(text);
        if (secret === undefined) return text;
        const isSamePath = pathText(secret.path) === pathText(path);
        if (!isSamePath || !isSameKind(secret.action, action)) {
          throw new InvalidRequest(
            `failed to apply patch: a secret cannot be moved into option '${pathText(path)}' of a ${action.kind} handler`,
          );
        }
        before = secret.action;
        return secret.text;
      });
      const restored = { kind: action.kind, options };
      return before === undefined ? restored : checkedReceiver(restored, action, before);
    });
    return { ...spec, actions };
  }
}

function optionOf(action: HandlerAction, path: OptionPath): OptionSpec | undefined {
  return own(findHandlerKind(action.kind)?.options ?? {}, String(path[0]));
}

function isSameKind(a: HandlerAction, b: HandlerAction): boolean {
  return a.kind === b.kind || findHandlerKind(a.kind) === findHandlerKind(b.kind);
}

// The action at the same position if the chain is unchanged; otherwise the only one of that kind.
function counterpart(
  next: HandlerSpec,
  stored: HandlerSpec,
  index: number,
): HandlerAction | undefined {
  const action = next.actions[index];
  if (action === undefined) return undefined;
  const isSameChain =
    next.actions.length === stored.actions.length &&
    next.actions.every((each, i) => isSameKind(each, stored.actions[i] ?? each));
  if (isSameChain) return stored.actions[index];
  const isLike = (other: HandlerAction): boolean => isSameKind(other, action);
  const isOnly = next.actions.filter(isLike).length === 1;
  const candidates = stored.actions.filter(isLike);
  return isOnly && candidates.length === 1 ? candidates[0] : undefined;
}

/** Returns the action, but refuses one that would send kept secrets to another receiver. */
function checkedReceiver(
  restored: HandlerAction,
  given: HandlerAction,
  before: HandlerAction,
): HandlerAction {
  if (restored.options === given.options) return restored;
  for (const [name, { isReceiver }] of Object.entries(findHandlerKind(given.kind)?.options ?? {})) {
    if (isReceiver !== true) continue;
    if (receiverOf(restored.options[name]) === receiverOf(before.options[name])) continue;
    throw new InvalidRequest(
      `invalid handler spec: option '${name}' of a ${given.kind} handler names another receiver; write the secrets of its options anew`,
    );
  }
  return restored;
}

function receiverOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return '';
  return URL.canParse(value) ? new URL(value).origin : value;
}

/** The options with every text replaced; the same object when nothing changed. */
function mapOptions(
  { options }: HandlerAction,
  change: (text: string, path: OptionPath) => string,
): HandlerAction['options'] {
  let isChanged = false;
  const entries = Object.entries(options).map(([name, value]) => {
    const mapped = mapTexts(value, [name], (text, path) => {
      const changed = change(text, path);
      isChanged ||= changed !== text;
      return changed;
    });
    return [name, mapped] as const;
  });
  return isChanged ? Object.fromEntries(entries) : options;
}

function textAt(options: HandlerAction['options'], path: OptionPath): string | undefined {
  let value: unknown = options;
  for (const key of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return typeof value === 'string' ? value : undefined;
}
