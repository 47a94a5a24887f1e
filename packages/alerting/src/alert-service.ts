// Alerting as the engine sees it: topics with their events, handlers with their deliveries, all of it persistent.
import { AppError, assert, Conflict, InvalidRequest, NotFound } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { HandlerSpec as ScriptHandler } from '@tidemark/pipeline';
import type { AlertEvent, AlertLevelName, AlertSink } from '@tidemark/runtime';
import type { AlertStore, DeadLetter } from './alert-store.ts';
import { makeStep } from './chain.ts';
import type { CheckedAction } from './chain.ts';
import { Delivery } from './delivery.ts';
import type { DeliveryState } from './delivery.ts';
import type { EventState, EventSummary, TopicEvent } from './event.ts';
import type { HandlerContext } from './handler.ts';
import { HandlerPatch, hideHandlerSecrets, keepHandlerSecrets } from './handler-secrets.ts';
import { checkTopicId } from './handler-spec.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { levelRank } from './level.ts';
import { OK_EVENT_AGE, PUBLISH_DEPTH_MAX, QUEUE_LENGTH, QUEUE_LENGTH_MIN } from './limits.ts';
import { compileMatch } from './match.ts';
import type { Match } from './match.ts';
import { flag } from './options.ts';
import { HANDLER_KINDS } from './registry.ts';
import { checkAction, checkScriptHandler } from './script-handler.ts';
import { Topic } from './topic.ts';
import type { EventFilter } from './topic.ts';

export type AlertLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

export type AlertServiceOptions = {
  readonly store: AlertStore;
  readonly context: Omit<HandlerContext, 'signal' | 'publish'>;
  readonly clock: Clock;
  readonly log: AlertLog;
  /** Hides secrets in the reasons of failed deliveries: those of the configuration, and the handler's own. */
  readonly redact?: ((text: string, own: Iterable<string>) => string) | undefined;
  readonly random: () => number;
  /** `[alert] persist-topics`. */
  readonly isPersistent: boolean;
  /** `[alert] topic-buffer-length`. */
  readonly queueLength?: number | undefined;
  /** Kinds that are accepted but do nothing. */
  readonly disabledKinds?: ReadonlySet<string> | undefined;
};

/** What answers show of a topic. */
export type TopicView = {
  readonly id: string;
  readonly level: AlertLevelName;
  readonly collected: number;
  /** Made by a task for the handlers of its script. */
  readonly isAnonymous: boolean;
};

type Attached = {
  readonly key: string;
  /** Absent for handlers of scripts. */
  readonly spec?: HandlerSpec | undefined;
  readonly match: Match;
  readonly delivery: Delivery;
};

type StateListener = Parameters<NonNullable<AlertSink['followStates']>>[0];

export class AlertService implements AlertSink {
  readonly #options: AlertServiceOptions;
  readonly #context: Omit<HandlerContext, 'signal'>;
  readonly #topics = new Map<string, Topic>();
  readonly #handlers = new Map<string, Map<string, Attached>>();
  readonly #anonymous = new Set<string>();
  /** Handlers that are ending, by key; a successor takes over what they leave in the outbox. */
  readonly #retiring = new Map<string, Promise<void>>();
  /** The write that is followed last, what is to be done when it is on disk, and the end of that. */
  #followed: Promise<void> | undefined;
  #onStored: (() => void)[] = [];
  #stored: Promise<void> | undefined;
  readonly #followers = new Set<StateListener>();

  constructor(options: AlertServiceOptions) {
    this.#options = options;
    this.#context = {
      ...options.context,
      publish: (topic, event) => this.#publishFrom(topic, event),
    };
  }

  /** Loads topics and handlers. A handler whose definition is no longer accepted is reported and left out. */
  open(): void {
    const { store, isPersistent, clock, log } = this.#options;
    if (isPersistent) {
      const oldest = clock.now() - BigInt(OK_EVENT_AGE.value) * 1_000_000n;
      for (const { topic, id, state } of store.states()) {
        if (state.level === 'OK' && state.time < oldest) this.#keep(store.deleteState(topic, id));
        else this.#topic(topic).load(id, state);
      }
    }
    for (const { topic, spec } of store.specs()) {
      try {
        this.#attachSpec(topic, spec, this.#check(spec));
      } catch (error) {
        // The definition stays stored: it works again when what it needs is back.
        log('error', 'failed to start handler', { topic, handler: spec.id, err: messageOf(error) });
      }
    }
  }

  // --- what alert nodes use

  openAnonymousTopic(topic: string, handlers: readonly ScriptHandler[]): void {
    this.#anonymous.add(topic);
    this.#topic(topic);
    const actions = handlers.map((handler) => checkScriptHandler(handler, this.#context));
    for (const kind of HANDLER_KINDS) {
      const isGlobal = this.#isGlobal(kind.section?.name);
      const isNamed = actions.some((action) => action.kind === kind);
      if (isGlobal && !isNamed) actions.push(checkAction(kind.kind, {}, this.#context));
    }
    const attached = this.#attachedTo(topic);
    actions.forEach((action, i) => {
      const key = `${topic} ${i}:${action.kind.kind}`;
      if (attached.has(key)) return;
      attached.set(key, { key, match: () => true, delivery: this.#deliver(topic, key, [action]) });
    });
  }

  closeAnonymousTopic(topic: string): void {
    const attached = this.#handlers.get(topic);
    this.#handlers.delete(topic);
    for (const handler of attached?.values() ?? []) this.#retire(topic, handler);
  }

  openTopic(topic: string): void {
    this.#topic(topic);
  }

  publish(topic: string, event: AlertEvent): void {
    this.#collect(topic, event, undefined);
  }

  #collect(topicId: string, event: AlertEvent, source: TopicEvent | undefined): void {
    const { store, isPersistent } = this.#options;
    const topic = this.#topic(topicId);
    const { event: collected, texts } = topic.collect(event, source);
    for (const follow of this.#followers) follow(topicId, event.id, collected);
    const receivers: Delivery[] = [];
    for (const handler of this.#handlers.get(topicId)?.values() ?? []) {
      const { delivery } = handler;
      if (this.#wants(handler, collected) && delivery.admits(collected)) receivers.push(delivery);
    }
    if (!isPersistent && receivers.length === 0) return;
    const { entries, stored } = store.collect({
      topic: topicId,
      event: collected,
      isPersistent,
      handlerKeys: receivers.map((delivery) => delivery.handlerKey),
    });
    this.#keep(stored, isPersistent ? () => topic.settle(texts) : undefined);
    entries.forEach((entry, i) => receivers[i]?.accept(entry, stored));
  }

  eventState(topic: string, eventId: string): EventSummary | undefined {
    return this.#topics.get(topic)?.summary(eventId);
  }

  eventStates(topic: string): Iterable<readonly [string, EventSummary]> {
    return this.#topics.get(topic)?.summaries() ?? [];
  }

  followStates(listener: StateListener): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }

  updateEvent(topicId: string, event: AlertEvent): void {
    this.#remember(topicId, event.id, event);
  }

  /** Sets what a topic remembers of an event, as it was known elsewhere. No handler is told. */
  async restoreEvent(topicId: string, eventId: string, state: EventState): Promise<void> {
    checkTopicId(topicId);
    this.#remember(topicId, eventId, state);
    await this.stored();
  }

  #remember(topicId: string, eventId: string, state: EventState): void {
    const topic = this.#topic(topicId);
    const texts = topic.set(eventId, state);
    for (const follow of this.#followers) follow(topicId, eventId, state);
    if (!this.#options.isPersistent) return;
    this.#keep(this.#options.store.putState(topicId, eventId, state), () => topic.settle(texts));
  }

  /**
   * Resolves when everything that was collected before is on disk: from then on no crash loses it. `undefined` when
   * it is already, which costs a caller nothing.
   */
  stored(): Promise<void> | undefined {
    return this.#stored;
  }

  /** What global handlers change for every alert node. */
  get defaults(): { readonly hasGlobalHandlers: boolean; readonly isStateChangesOnly: boolean } {
    const globals = HANDLER_KINDS.filter((kind) => this.#isGlobal(kind.section?.name));
    return {
      hasGlobalHandlers: globals.length > 0,
      isStateChangesOnly: globals.some((kind) => {
        const options = this.#context.section(kind.section?.name ?? '');
        return options !== undefined && flag(options, 'state-changes-only');
      }),
    };
  }

  /** Checks the handlers of a script before its task starts. Throws `InvalidRequest`. */
  checkScriptHandlers(handlers: readonly ScriptHandler[]): void {
    for (const handler of handlers) checkScriptHandler(handler, this.#context);
  }

  // --- what the API uses

  topics(filter: {
    readonly matches: (id: string) => boolean;
    readonly minLevel: AlertLevelName;
  }): readonly TopicView[] {
    const floor = levelRank(filter.minLevel);
    return [...this.#topics.values()]
      .filter((topic) => filter.matches(topic.id) && levelRank(topic.level) >= floor)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((topic) => this.#view(topic));
  }

  topic(id: string): TopicView {
    return this.#view(this.#existing(id));
  }

  topicCount(): number {
    return this.#topics.size;
  }

  /** Forgets events and state; handlers stay attached and the topic comes back with its next event. */
  async deleteTopic(id: string): Promise<void> {
    this.#topics.delete(id);
    for (const follow of this.#followers) follow(id, undefined, undefined);
    await this.#options.store.deleteStates(id);
  }

  /** Deletes the anonymous topics of a task, or of a replay, with everything that waits in them. */
  async deleteTopicsOf(scope: string, taskId: string): Promise<void> {
    const prefix = `${scope}:${taskId}:`;
    const ids = new Set([...this.#topics.keys(), ...this.#handlers.keys(), ...this.#anonymous]);
    for (const id of ids) {
      if (!id.startsWith(prefix) || id.slice(prefix.length).includes(':')) continue;
      const attached = this.#handlers.get(id);
      this.#handlers.delete(id);
      this.#anonymous.delete(id);
      for (const handler of attached?.values() ?? []) await this.#drop(handler);
      await this.deleteTopic(id);
    }
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

  /** Events of a topic in order of their ids. */
  events(id: string, filter: EventFilter): readonly (readonly [string, EventState])[] {
    return this.#existing(id).events(filter);
  }

  event(topic: string, id: string): EventState {
    const state = this.#topics.get(topic)?.event(id);
    if (state === undefined) {
      throw new NotFound(`unknown event ${JSON.stringify(id)} in topic ${JSON.stringify(topic)}`);
    }
    return state;
  }

  /** Handlers of a topic by id, without secrets; `undefined` for a topic whose handlers are those of a script. */
  handlers(topic: string): readonly HandlerSpec[] | undefined {
    const specs = [...(this.#handlers.get(topic)?.values() ?? [])]
      .map((handler) => handler.spec)
      .filter((spec) => spec !== undefined)
      .map(hideHandlerSecrets)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return specs.length === 0 && this.#anonymous.has(topic) ? undefined : specs;
  }

  /** A handler without its secrets. */
  handler(topic: string, id: string): HandlerSpec {
    return hideHandlerSecrets(this.#attached(topic, id).spec);
  }

  /** Begins a change of a handler by JSON patch; `replaceHandler` ends it. */
  patchHandler(topic: string, id: string): HandlerPatch {
    return new HandlerPatch(topic, this.#attached(topic, id).spec);
  }

  handlerState(topic: string, id: string): DeliveryState {
    return this.#attached(topic, id).delivery.state;
  }

  async createHandler(topic: string, spec: HandlerSpec): Promise<void> {
    checkTopicId(topic);
    const id = JSON.stringify(spec.id);
    if (this.#handlers.get(topic)?.has(spec.id) === true) {
      throw new Conflict(`cannot register handler, handler with ID ${id} already exists`);
    }
    const checked = this.#check(spec);
    await this.#options.store.putSpec(topic, spec);
    this.#topic(topic);
    this.#attachSpec(topic, spec, checked);
  }

  /**
   * Replaces a handler; the id may change. Events that wait are delivered by the new one. Secrets that answers do not
   * show are kept where the new definition has their marker.
   */
  async replaceHandler(topic: string, id: string, given: HandlerSpec): Promise<void> {
    const before = this.#attached(topic, id);
    const spec = keepHandlerSecrets(given, before.spec);
    const isRenamed = spec.id !== id;
    if (isRenamed && this.#handlers.get(topic)?.has(spec.id) === true) {
      throw new Conflict(
        `cannot register handler, handler with ID ${JSON.stringify(spec.id)} already exists`,
      );
    }
    const checked = this.#check(spec);
    await this.#options.store.putSpec(topic, spec, id);
    this.#attachedTo(topic).delete(id);
    const handover = before.delivery.close(0).then(async () => {
      if (isRenamed) await this.#options.store.rekey(before.key, `${topic} ${spec.id}`);
    });
    this.#attachSpec(topic, spec, checked, handover);
    await handover;
  }

  async deleteHandler(topic: string, id: string): Promise<void> {
    const handler = this.#handlers.get(topic)?.get(id);
    this.#handlers.get(topic)?.delete(id);
    if (handler !== undefined) await this.#drop(handler);
    await this.#options.store.deleteSpec(topic, id);
  }

  deadLetters(limit: number): readonly DeadLetter[] {
    return this.#options.store.deadLetters(limit);
  }

  /** Resolves when no handler has an event that it could deliver now. */
  async drained(): Promise<void> {
    const all = [...this.#handlers.values()].flatMap((attached) => [...attached.values()]);
    await Promise.all(all.map((handler) => handler.delivery.drained()));
  }

  /** Delivers what is ready within the deadline; the rest is in the outbox. */
  async close(deadlineMs: number): Promise<void> {
    const all = [...this.#handlers.values()].flatMap((attached) => [...attached.values()]);
    await Promise.all([
      ...all.map((handler) => handler.delivery.close(deadlineMs)),
      ...this.#retiring.values(),
    ]);
    this.#handlers.clear();
    await this.#options.store.flushed();
  }

  // --- inside

  #topic(id: string): Topic {
    let topic = this.#topics.get(id);
    if (topic === undefined) {
      topic = new Topic(id, (topicId, eventId) => this.#options.store.texts(topicId, eventId));
      this.#topics.set(id, topic);
    }
    return topic;
  }

  #existing(id: string): Topic {
    const topic = this.#topics.get(id);
    if (topic === undefined) throw new NotFound(`unknown topic: ${JSON.stringify(id)}`);
    return topic;
  }

  #view(topic: Topic): TopicView {
    return {
      id: topic.id,
      level: topic.level,
      collected: topic.collected,
      isAnonymous: this.#anonymous.has(topic.id),
    };
  }

  #attachedTo(topic: string): Map<string, Attached> {
    let attached = this.#handlers.get(topic);
    if (attached === undefined) {
      attached = new Map();
      this.#handlers.set(topic, attached);
    }
    return attached;
  }

  #attached(topic: string, id: string): Attached & { readonly spec: HandlerSpec } {
    const handler = this.#handlers.get(topic)?.get(id);
    if (handler?.spec === undefined) throw new NotFound(`unknown handler: ${JSON.stringify(id)}`);
    return { ...handler, spec: handler.spec };
  }

  #check(spec: HandlerSpec): { readonly actions: readonly CheckedAction[]; readonly match: Match } {
    const actions = spec.actions.map(({ kind, options }) =>
      checkAction(kind, options, this.#context),
    );
    return { actions, match: compileMatch(spec.match) };
  }

  #attachSpec(
    topic: string,
    spec: HandlerSpec,
    checked: { readonly actions: readonly CheckedAction[]; readonly match: Match },
    predecessor?: Promise<void>,
  ): void {
    this.#topic(topic);
    const key = `${topic} ${spec.id}`;
    const delivery = this.#deliver(topic, key, checked.actions, predecessor);
    this.#attachedTo(topic).set(spec.id, { key, spec, match: checked.match, delivery });
  }

  #deliver(
    topic: string,
    key: string,
    actions: readonly CheckedAction[],
    predecessor = this.#retiring.get(key),
  ): Delivery {
    const { store, clock, log, random, queueLength, disabledKinds, redact } = this.#options;
    const used = new Set<string>();
    const context = {
      ...this.#context,
      resolveSecret: (text: string) => {
        const secret = this.#context.resolveSecret(text);
        if (used.size >= USED_SECRETS_MAX) used.clear();
        used.add(secret);
        return secret;
      },
    };
    const enabled = actions.filter((action) => disabledKinds?.has(action.kind.kind) !== true);
    return new Delivery(
      {
        handlerKey: key,
        predecessor,
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
          ? [{ run: () => Promise.resolve({ kind: 'stop' }) }]
          : enabled.map((action, i) => makeStep(action, i, owner, context)),
    );
  }

  // Delivers what is ready in the background; what has to be repeated waits in the outbox for the topic to be opened
  // again.
  #retire(topic: string, handler: Attached): void {
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

  async #drop(handler: Attached): Promise<void> {
    await handler.delivery.discard(DROP_DEADLINE_MS);
  }

  #wants(handler: Attached, event: TopicEvent): boolean {
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

  #isGlobal(section: string | undefined): boolean {
    if (section === undefined) return false;
    const options = this.#context.section(section);
    return options !== undefined && flag(options, 'enabled') && flag(options, 'global');
  }

  #publishFrom(topic: string, event: TopicEvent): void {
    checkTopicId(topic);
    if (event.hops >= PUBLISH_DEPTH_MAX) {
      throw new InvalidRequest(
        `topics publish into each other more than ${PUBLISH_DEPTH_MAX} deep`,
      );
    }
    this.#collect(topic, event, event);
  }

  // Follows a write that nobody awaits. Writes end in order, so the last one stands for all; those of one turn share
  // their promise.
  #keep(write: Promise<void>, onStored?: () => void): void {
    if (write !== this.#followed) this.#follow(write);
    if (onStored !== undefined) this.#onStored.push(onStored);
  }

  #follow(write: Promise<void>): void {
    const onStored: (() => void)[] = [];
    this.#followed = write;
    this.#onStored = onStored;
    const ended = write
      .then(
        () => {
          for (const settle of onStored) settle();
        },
        (error: unknown) =>
          this.#options.log('error', 'failed to store events', { err: messageOf(error) }),
      )
      .then(() => {
        if (this.#followed === write) this.#stored = undefined;
      });
    this.#stored = ended;
  }
}

const RETIRE_DEADLINE_MS = 5_000;
const DROP_DEADLINE_MS = 1_000;

// A handler has a few; more are values that a file held one after the other.
const USED_SECRETS_MAX = 64;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
