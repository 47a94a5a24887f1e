// The active handlers of all topics, each with its match expression and its delivery. A removed
// handler delivers its ready events in the background; its successor takes over the rest from the
// outbox.
import { AppError, assert, LATE, messageOf, NotFound, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { HandlerSpec as ScriptHandler } from '@tidemark/pipeline';
import type { AlertStore } from './alert-store.ts';
import { makeStep, sendOnce } from './chain.ts';
import type { CheckedAction } from './chain.ts';
import { Delivery, STOP } from './delivery.ts';
import type { DeliveryState } from './delivery.ts';
import type { TopicEvent } from './event.ts';
import type { HandlerContext, HandlerKind } from './handler.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { QUEUE_LENGTH, QUEUE_LENGTH_MIN, SEND_TIMEOUT } from './limits.ts';
import { compileMatch } from './match.ts';
import type { Match } from './match.ts';
import { HANDLER_KINDS } from './registry.ts';
import { checkAction, checkScriptHandler } from './script-handler.ts';
import { undeliverable } from './undeliverable.ts';
import type { Undeliverable } from './undeliverable.ts';

const RETIRE_DEADLINE_MS = 5_000;
const DROP_DEADLINE_MS = 1_000;

// A handler has a few; more are successive values of a file.
const USED_SECRETS_MAX = 64;

/** An attached handler. */
export type AttachedHandler = {
  /** Identifies its entries in the outbox. */
  readonly key: string;
  /** Absent for handlers of scripts. */
  readonly spec?: HandlerSpec | undefined;
  readonly match: Match;
  readonly delivery: Delivery;
};

/** The deliveries of a topic's handler. */
export type DeliveryCount = {
  readonly topic: string;
  readonly handler: string;
  readonly state: DeliveryState;
};

/** The result of a tried action; without a problem it delivered the event. */
export type TriedAction = { readonly kind: string; readonly problem: string };

/** A definition with valid actions, options and match expression. */
export type CheckedHandler = { readonly actions: readonly CheckedAction[]; readonly match: Match };

export type AlertLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

export type AttachedHandlersOptions = {
  readonly store: AlertStore;
  readonly context: Omit<HandlerContext, 'signal'>;
  readonly clock: Clock;
  readonly log: AlertLog;
  /**
   * Hides secrets in the reasons of failed deliveries: those of the configuration, and the
   * handler's own.
   */
  readonly redact?: ((text: string, own: Iterable<string>) => string) | undefined;
  /** Spreads retries; between 0 and 1. */
  readonly random: () => number;
  /** `[alert] topic-buffer-length`. */
  readonly queueLength?: number | undefined;
  /** Whether this process may deliver now; default: always. */
  readonly mayDeliver?: (() => boolean) | undefined;
  /** Kinds that are accepted but do nothing. */
  readonly disabledKinds?: ReadonlySet<string> | undefined;
};

export class AttachedHandlers {
  readonly #options: AttachedHandlersOptions;
  readonly #byTopic = new Map<string, Map<string, AttachedHandler>>();
  /** Handlers that are ending, by key. */
  readonly #retiring = new Map<string, Promise<void>>();

  constructor(options: AttachedHandlersOptions) {
    this.#options = options;
  }

  /** Checks a definition. Throws `InvalidRequest`. */
  check(spec: HandlerSpec): CheckedHandler {
    const actions = spec.actions.map(({ kind, options }) =>
      checkAction(kind, options, this.#options.context),
    );
    const { clock, random } = this.#options;
    const match = compileMatch(spec.match, { now: () => clock.now(), random });
    return { actions, match };
  }

  /** Why an action cannot deliver anything with the present configuration. */
  undeliverable(action: CheckedAction): Undeliverable | undefined {
    const { context, disabledKinds } = this.#options;
    if (disabledKinds?.has(action.kind.kind) !== true) return undeliverable(action, context);
    return {
      message: `handler ${action.kind.kind}: alert.disabled-handlers names this kind`,
      hint: 'its events are taken and dropped',
    };
  }

  /** Attaches a handler; it begins when `predecessor` has released the waiting entries. */
  attach(
    topic: string,
    spec: HandlerSpec,
    checked: CheckedHandler,
    predecessor?: Promise<void>,
  ): void {
    const key = keyOf(topic, spec.id);
    const delivery = this.#deliver(topic, key, checked.actions, predecessor);
    this.#of(topic).set(spec.id, { key, spec, match: checked.match, delivery });
  }

  /**
   * Attaches the handlers of a script, and the global ones that it does not name. Throws
   * `InvalidRequest`.
   */
  attachScript(topic: string, handlers: readonly ScriptHandler[]): void {
    const { context } = this.#options;
    const actions = handlers.map((handler) => checkScriptHandler(handler, context));
    for (const kind of this.globalKinds()) {
      const isNamed = actions.some((action) => action.kind === kind);
      if (!isNamed) actions.push(checkAction(kind.kind, {}, context));
    }
    const attached = this.#of(topic);
    actions.forEach((action, i) => {
      const key = keyOf(topic, `${i}:${action.kind.kind}`);
      if (attached.has(key)) return;
      attached.set(key, { key, match: () => true, delivery: this.#deliver(topic, key, [action]) });
    });
  }

  /** Kinds of handlers that the configuration adds to every alert node. */
  globalKinds(): readonly HandlerKind[] {
    return HANDLER_KINDS.filter(({ section }) => {
      const options = section && this.#options.context.section(section);
      return options?.['enabled'] === true && options['global'] === true;
    });
  }

  topics(): Iterable<string> {
    return this.#byTopic.keys();
  }

  has(topic: string, id: string): boolean {
    return this.#byTopic.get(topic)?.has(id) === true;
  }

  /** A handler with a definition of its own. Throws `NotFound`. */
  get(topic: string, id: string): AttachedHandler & { readonly spec: HandlerSpec } {
    const handler = this.#byTopic.get(topic)?.get(id);
    if (handler?.spec === undefined) throw new NotFound(`unknown handler: ${JSON.stringify(id)}`);
    return { ...handler, spec: handler.spec };
  }

  /** Definitions of a topic's handlers; those of scripts have none. */
  specs(topic: string): readonly HandlerSpec[] {
    return [...(this.#byTopic.get(topic)?.values() ?? [])]
      .map((handler) => handler.spec)
      .filter((spec) => spec !== undefined);
  }

  /** Deliveries of those handlers of a topic that accept an event and have room for it. */
  receivers(topic: string, event: TopicEvent): readonly Delivery[] {
    const receivers: Delivery[] = [];
    for (const handler of this.#byTopic.get(topic)?.values() ?? []) {
      const { delivery } = handler;
      if (this.#wants(handler, event) && delivery.admits(event)) receivers.push(delivery);
    }
    return receivers;
  }

  /** The delivery of a handler by its key, while the handler is attached. */
  deliveryOf(key: string): Delivery | undefined {
    const topic = key.slice(0, key.indexOf(' '));
    for (const handler of this.#byTopic.get(topic)?.values() ?? []) {
      if (handler.key === key) return handler.delivery;
    }
    return undefined;
  }

  /** The deliveries of all handlers so far. */
  deliveries(): readonly DeliveryCount[] {
    return [...this.#byTopic].flatMap(([topic, attached]) =>
      [...attached.values()].map(({ key, delivery }) => ({
        topic,
        handler: key.slice(topic.length + 1),
        state: delivery.state,
      })),
    );
  }

  /** Removes a handler's definition at once; the caller ends its delivery. */
  detach(topic: string, id: string): void {
    this.#byTopic.get(topic)?.delete(id);
  }

  /** Ends a handler and drops its waiting events. */
  async drop(topic: string, id: string): Promise<void> {
    const handler = this.#byTopic.get(topic)?.get(id);
    this.detach(topic, id);
    await handler?.delivery.discard(DROP_DEADLINE_MS);
  }

  /** `drop` for all handlers of a topic. */
  async dropAll(topic: string): Promise<void> {
    const attached = this.#byTopic.get(topic);
    this.#byTopic.delete(topic);
    for (const { delivery } of attached?.values() ?? []) await delivery.discard(DROP_DEADLINE_MS);
  }

  /**
   * Removes all handlers of a topic. Ready events are delivered in the background; retries wait in
   * the outbox until the topic is opened again.
   */
  retireAll(topic: string): void {
    const attached = this.#byTopic.get(topic);
    this.#byTopic.delete(topic);
    for (const handler of attached?.values() ?? []) this.#retire(topic, handler);
  }

  /** Removes entries of former handlers with this key prefix from the outbox. */
  async removeLeft(prefix: string): Promise<void> {
    const { store } = this.#options;
    for (const key of store.handlerKeys(prefix)) {
      const retiring = this.#retiring.get(key);
      if (retiring === undefined) await store.removeAll(key);
      else
        this.#retiring.set(
          key,
          retiring.then(() => store.removeAll(key)),
        );
    }
  }

  /** Resolves when no handler has an event to deliver now. */
  async drained(): Promise<void> {
    await Promise.all(this.#all().map((handler) => handler.delivery.drained()));
  }

  /** Delivers ready events within the deadline; the rest stays in the outbox. */
  async close(deadlineMs: number): Promise<void> {
    await Promise.all([
      ...this.#all().map((handler) => handler.delivery.close(deadlineMs)),
      ...this.#retiring.values(),
    ]);
    this.#byTopic.clear();
  }

  #all(): readonly AttachedHandler[] {
    return [...this.#byTopic.values()].flatMap((attached) => [...attached.values()]);
  }

  #of(topic: string): Map<string, AttachedHandler> {
    let attached = this.#byTopic.get(topic);
    if (attached === undefined) {
      attached = new Map();
      this.#byTopic.set(topic, attached);
    }
    return attached;
  }

  #deliver(
    topic: string,
    key: string,
    actions: readonly CheckedAction[],
    predecessor = this.#retiring.get(key),
  ): Delivery {
    const { store, clock, log, random, queueLength, disabledKinds, redact } = this.#options;
    const { mayDeliver } = this.#options;
    const used = new Set<string>();
    const context = this.#noting(used);
    const enabled = actions.filter((action) => disabledKinds?.has(action.kind.kind) !== true);
    return new Delivery(
      {
        handlerKey: key,
        predecessor,
        mayDeliver,
        store,
        clock,
        random,
        redact: redact === undefined ? undefined : (text) => redact(text, used),
        queueLength: Math.max(QUEUE_LENGTH_MIN, queueLength ?? QUEUE_LENGTH.value),
        report: (level, message, event) =>
          log(level, message, { topic, handler: key.slice(topic.length + 1), event: event.id }),
      },
      (owner) =>
        enabled.length === 0
          ? [{ run: () => Promise.resolve(STOP) }]
          : enabled.map((action, index) => makeStep(action, { index, delivery: owner, context })),
    );
  }

  /**
   * The context of a handler. It records the secrets that are used, so that error messages can hide
   * them.
   */
  #noting(used: Set<string>): Omit<HandlerContext, 'signal'> {
    const { context } = this.#options;
    return {
      ...context,
      resolveSecret: (text) => {
        const secret = context.resolveSecret(text);
        if (used.size >= USED_SECRETS_MAX) used.clear();
        used.add(secret);
        return secret;
      },
    };
  }

  /**
   * Delivers an event by each action of a handler that sends, immediately and once: it is not
   * stored, filtered, published or retried.
   */
  async tryActions(
    actions: readonly CheckedAction[],
    event: TopicEvent,
  ): Promise<readonly TriedAction[]> {
    const { disabledKinds, clock, redact } = this.#options;
    const used = new Set<string>();
    const context = { ...this.#noting(used), publish: () => undefined };
    const results: TriedAction[] = [];
    for (const action of actions) {
      const { kind } = action.kind;
      if ('makeStep' in action.kind) continue;
      if (disabledKinds?.has(kind) === true) {
        results.push({ kind, problem: 'alert.disabled-handlers names this kind' });
        continue;
      }
      const problem = await problemOfSending(action, event, { context, clock });
      results.push({ kind, problem: redact === undefined ? problem : redact(problem, used) });
    }
    return results;
  }

  #retire(topic: string, handler: AttachedHandler): void {
    const ended = handler.delivery
      .close(RETIRE_DEADLINE_MS)
      .catch((error: unknown) =>
        this.#options.log('error', 'failed to close handler', { topic, err: messageOf(error) }),
      )
      .finally(() => {
        if (this.#retiring.get(handler.key) === ended) this.#retiring.delete(handler.key);
      });
    this.#retiring.set(handler.key, ended);
  }

  #wants(handler: AttachedHandler, event: TopicEvent): boolean {
    try {
      return handler.match(event);
    } catch (error) {
      assert(error instanceof AppError, 'a match expression fails with an operational error');
      this.#options.log('error', 'failed to evaluate match expression', {
        topic: event.topic,
        handler: handler.spec?.id ?? handler.key,
        event: event.id,
        err: error.message,
      });
      return false;
    }
  }
}

/** Why an event could not be sent; '' when it was. */
async function problemOfSending(
  action: CheckedAction,
  event: TopicEvent,
  { context, clock }: { readonly context: Omit<HandlerContext, 'signal'>; readonly clock: Clock },
): Promise<string> {
  const late = new AbortController();
  const sending = sendOnce(action, event, { ...context, signal: late.signal });
  try {
    const result = await within(clock, SEND_TIMEOUT.value, sending);
    if (result !== LATE) return '';
  } catch (error) {
    return messageOf(error);
  }
  late.abort();
  // Later errors are ignored: the answer has been sent.
  sending.catch(() => undefined);
  return `no success within ${SEND_TIMEOUT.value} ms`;
}

/** Identifies a handler's entries in the outbox. */
export function keyOf(topic: string, id: string): string {
  return `${topic} ${id}`;
}
