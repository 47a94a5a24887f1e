// Alerting as the engine sees it: topics with their events, handlers with their deliveries, all of
// it persistent.
import { Conflict, InvalidRequest, messageOf, NotFound, Unavailable } from '@tidemark/core';
import type { HandlerSpec as ScriptHandler } from '@tidemark/pipeline';
import { anonymousTopicPrefix, Inhibitions, taskOfUnit } from '@tidemark/runtime';
import type { AlertEvent, AlertLevelName, AlertSink, EventCause } from '@tidemark/runtime';
import type { HostedAlerts, StateListener } from '@tidemark/runtime/host';
import { AlertHistory, originOf } from './alert-history.ts';
import { AttachedHandlers, keyOf } from './attached-handlers.ts';
import type {
  AttachedHandlersOptions,
  CheckedHandler,
  DeliveryCount,
  TriedAction,
} from './attached-handlers.ts';
import { DeadLetters } from './dead-letters.ts';
import type { DeliveryNote, DeliveryState } from './delivery.ts';
import type { EventState, EventSummary, TopicEvent } from './event.ts';
import type { HandlerContext } from './handler.ts';
import { HandlerPatch, hideHandlerSecrets, keepHandlerSecrets } from './handler-secrets.ts';
import { checkTopicId } from './handler-spec.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { levelRank } from './level.ts';
import { OK_EVENT_AGE, PUBLISH_DEPTH_MAX } from './limits.ts';
import { checkScriptHandler } from './script-handler.ts';
import { TopicOrigins, UNKNOWN_ORIGIN } from './topic-origins.ts';
import { Topic } from './topic.ts';
import type { EventFilter, SevereEvents } from './topic.ts';
import type { Undeliverable } from './undeliverable.ts';

export type AlertServiceOptions = Omit<AttachedHandlersOptions, 'context'> & {
  readonly context: Omit<HandlerContext, 'signal' | 'publish'>;
  /** `[alert] persist-topics`. */
  readonly isPersistent: boolean;
};

/** A topic in answers. */
export type TopicView = {
  readonly id: string;
  readonly level: AlertLevelName;
  readonly collected: number;
  /** Created by a task for the handlers of its script. */
  readonly isAnonymous: boolean;
};

export class AlertService implements AlertSink, HostedAlerts {
  readonly #options: AlertServiceOptions;
  readonly #context: Omit<HandlerContext, 'signal'>;
  readonly #topics = new Map<string, Topic>();
  readonly #handlers: AttachedHandlers;
  readonly #anonymous = new Set<string>();
  /** By unit: the cause of its last event. */
  readonly #causes = new Map<string, EventCause>();
  readonly #followers = new Set<StateListener>();
  readonly inhibitions = new Inhibitions();
  readonly deadLetters: DeadLetters;
  readonly history = new AlertHistory();
  readonly #origins: TopicOrigins;

  constructor(options: AlertServiceOptions) {
    this.#options = options;
    this.#context = {
      ...options.context,
      publish: (topic, event) => this.#publishFrom(topic, event),
    };
    this.#origins = new TopicOrigins(options.store);
    this.#handlers = new AttachedHandlers({ ...options, context: this.#context });
    this.deadLetters = new DeadLetters(options.store, (key) => this.#handlers.deliveryOf(key));
  }

  /**
   * Loads topics and handlers. A handler whose definition is no longer accepted is reported and
   * left out.
   */
  open(): void {
    const { store, isPersistent, log } = this.#options;
    if (isPersistent) {
      for (const { topic, id, state } of store.states()) this.#topic(topic).load(id, state);
    }
    for (const cause of store.causes()) this.#causes.set(cause.unit, cause);
    for (const { topic, spec } of store.specs()) {
      try {
        this.#attach(topic, spec, this.#handlers.check(spec));
      } catch (error) {
        // The definition stays stored: it works again when its requirements are met again.
        log('error', 'failed to start handler', { topic, handler: spec.id, err: messageOf(error) });
      }
    }
  }

  /** A task or replay that reads these databases will publish to these topics. */
  addOrigins(topics: readonly string[], databases: readonly string[]): void {
    this.#origins.add(topics, databases);
  }

  /**
   * Databases that the events of a topic come from, '' among them if not all are known; none for a
   * topic that has never had an event.
   */
  databasesOf(topic: string): readonly string[] {
    const known = this.#origins.of(topic);
    if (known !== undefined) return [...known];
    const isUnused = this.#topics.get(topic)?.eventCount === 0;
    return isUnused ? [] : [UNKNOWN_ORIGIN];
  }

  // --- what alert nodes use

  openAnonymousTopic(topic: string, handlers: readonly ScriptHandler[]): void {
    this.#anonymous.add(topic);
    this.#topic(topic);
    this.#handlers.attachScript(topic, handlers);
  }

  closeAnonymousTopic(topic: string): void {
    this.#handlers.retireAll(topic);
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
    // An event from another topic was published before.
    const cause = source === undefined ? event.cause : undefined;
    if (cause !== undefined) this.#causes.set(cause.unit, cause);
    for (const follow of this.#followers) follow(topicId, event.id, collected);
    if (collected.level !== collected.previousLevel) this.#noteChange(collected);
    const receivers = this.#handlers.receivers(topicId, collected);
    if (!isPersistent && receivers.length === 0) return;
    const { entries, stored } = store.collect({
      topic: topicId,
      event: collected,
      cause,
      isPersistent,
      handlerKeys: receivers.map((delivery) => delivery.handlerKey),
      onStored: () => topic.settle(texts),
    });
    entries.forEach((entry, i) => receivers[i]?.accept(entry, stored));
  }

  // Events of replays are not part of the history.
  #noteChange(event: TopicEvent): void {
    const { topic, id, level, previousLevel: previous, time, durationNanos } = event;
    if (this.#anonymous.has(topic) && !topic.startsWith('main:')) return;
    this.history.add({ topic, id, level, previous, time, durationNanos, ...originOf(event) });
  }

  lastCause(unit: string): EventCause | undefined {
    return this.#causes.get(unit);
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

  /** Restores the state of an event from another engine, without calling handlers. */
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
    this.#options.store
      .putState(topicId, eventId, state, () => topic.settle(texts))
      // `stored()` reports the failure.
      .catch(() => undefined);
  }

  /**
   * Resolves when everything collected before is on disk, so that no crash loses it. `undefined`
   * when it is already, which costs nothing. Rejects with `Unavailable` when it cannot be stored;
   * it is kept and retried.
   */
  stored(): Promise<void> | undefined {
    return this.#options.store.stored?.catch((cause: unknown) => {
      throw new Unavailable(`alerts cannot be stored: ${messageOf(cause)}`, {
        cause,
        hint: 'free space on the disk of the data directory',
      });
    });
  }

  /** The effect of global handlers on every alert node. */
  get defaults(): { readonly hasGlobalHandlers: boolean; readonly isStateChangesOnly: boolean } {
    const globals = this.#handlers.globalKinds();
    return {
      hasGlobalHandlers: globals.length > 0,
      isStateChangesOnly: globals.some((kind) => {
        const options = kind.section && this.#context.section(kind.section);
        return options?.['state-changes-only'] === true;
      }),
    };
  }

  /** Checks the handlers of a script before its task starts. Throws `InvalidRequest`. */
  checkScriptHandlers(handlers: readonly ScriptHandler[]): void {
    for (const handler of handlers) checkScriptHandler(handler, this.#context);
  }

  /**
   * Why a handler of a script cannot deliver anything; throws `InvalidRequest` for an invalid one.
   */
  undeliverable(handler: ScriptHandler): Undeliverable | undefined {
    return this.#handlers.undeliverable(checkScriptHandler(handler, this.#context));
  }

  /** The same for the actions of a topic handler. */
  undeliverables(topic: string, id: string): readonly Undeliverable[] {
    const { actions } = this.#handlers.check(this.#handlers.get(topic, id).spec);
    return actions
      .map((action) => this.#handlers.undeliverable(action))
      .filter((reason) => reason !== undefined);
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

  hasTopic(id: string): boolean {
    return this.#topics.has(id);
  }

  topicCount(): number {
    return this.#topics.size;
  }

  /**
   * Deletes events and state; handlers stay attached and the topic comes back with its next event.
   */
  async deleteTopic(id: string): Promise<void> {
    this.#topics.delete(id);
    for (const follow of this.#followers) follow(id, undefined, undefined);
    await this.#options.store.deleteStates(id);
  }

  /** Deletes the anonymous topics of a task, or of a replay, with everything that waits in them. */
  async deleteTopicsOf(scope: string, taskId: string): Promise<void> {
    const prefix = anonymousTopicPrefix({ scope, taskId });
    const ids = new Set([...this.#topics.keys(), ...this.#handlers.topics(), ...this.#anonymous]);
    for (const id of ids) {
      if (!id.startsWith(prefix) || id.slice(prefix.length).includes(':')) continue;
      this.#anonymous.delete(id);
      await this.#handlers.dropAll(id);
      await this.deleteTopic(id);
      this.#origins.forget(id);
    }
    await this.#handlers.removeLeft(prefix);
    if (scope !== 'main') return;
    for (const unit of this.#causes.keys()) {
      if (taskOfUnit(unit) !== taskId) continue;
      this.#causes.delete(unit);
      this.#options.store.deleteCause(unit);
    }
  }

  /** Events of a topic in order of their ids. */
  events(id: string, filter: EventFilter): readonly (readonly [string, EventState])[] {
    return this.#existing(id).events(filter);
  }

  /** The most severe events of a topic; see `Topic.mostSevere`. */
  mostSevereEvents(id: string, filter: EventFilter): SevereEvents {
    return this.#existing(id).mostSevere(filter);
  }

  event(topic: string, id: string): EventState {
    const state = this.#topics.get(topic)?.event(id);
    if (state === undefined) {
      throw new NotFound(`unknown event ${JSON.stringify(id)} in topic ${JSON.stringify(topic)}`);
    }
    return state;
  }

  /**
   * Handlers of a topic by id, without secrets; `undefined` for a topic whose handlers are those of
   * a script.
   */
  handlers(topic: string): readonly HandlerSpec[] | undefined {
    const specs = this.#handlers
      .specs(topic)
      .map(hideHandlerSecrets)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return specs.length === 0 && this.#anonymous.has(topic) ? undefined : specs;
  }

  /** A handler without its secrets. */
  handler(topic: string, id: string): HandlerSpec {
    return hideHandlerSecrets(this.#handlers.get(topic, id).spec);
  }

  /** Begins a change of a handler by JSON patch; `replaceHandler` completes it. */
  patchHandler(topic: string, id: string): HandlerPatch {
    return new HandlerPatch(topic, this.#handlers.get(topic, id).spec);
  }

  handlerState(topic: string, id: string): DeliveryState {
    return this.#handlers.get(topic, id).delivery.state;
  }

  /** The last deliveries of a handler, the newest first. */
  recentDeliveries(topic: string, id: string): readonly DeliveryNote[] {
    return this.#handlers.get(topic, id).delivery.recent;
  }

  /**
   * Delivers an event by a definition, at once and once, stored or not. The definition of an
   * existing id gets the stored secrets in place of their markers. Throws `InvalidRequest` when it
   * is invalid.
   */
  tryHandler(
    topic: string,
    given: HandlerSpec,
    event: TopicEvent,
  ): Promise<readonly TriedAction[]> {
    const isKnown = this.#handlers.has(topic, given.id);
    const stored = isKnown ? this.#handlers.get(topic, given.id).spec : undefined;
    const spec = stored === undefined ? given : keepHandlerSecrets(given, stored);
    return this.#handlers.tryActions(this.#handlers.check(spec).actions, event);
  }

  /** The deliveries of all handlers so far, including those of scripts. */
  deliveries(): readonly DeliveryCount[] {
    return this.#handlers.deliveries();
  }

  async createHandler(topic: string, spec: HandlerSpec): Promise<void> {
    checkTopicId(topic);
    const id = JSON.stringify(spec.id);
    if (this.#handlers.has(topic, spec.id)) {
      throw new Conflict(`cannot register handler, handler with ID ${id} already exists`);
    }
    const checked = this.#handlers.check(spec);
    await this.#options.store.putSpec(topic, spec);
    this.#attach(topic, spec, checked);
  }

  /**
   * Replaces a handler; the id may change. The new one delivers waiting events. Secrets that
   * answers do not show are kept where the new definition has their marker.
   */
  async replaceHandler(topic: string, id: string, given: HandlerSpec): Promise<void> {
    const before = this.#handlers.get(topic, id);
    const spec = keepHandlerSecrets(given, before.spec);
    const isRenamed = spec.id !== id;
    if (isRenamed && this.#handlers.has(topic, spec.id)) {
      throw new Conflict(
        `cannot register handler, handler with ID ${JSON.stringify(spec.id)} already exists`,
      );
    }
    const checked = this.#handlers.check(spec);
    await this.#options.store.putSpec(topic, spec, id);
    this.#handlers.detach(topic, id);
    const handover = before.delivery.close(0).then(async () => {
      if (isRenamed) await this.#options.store.rekey(before.key, keyOf(topic, spec.id));
    });
    this.#attach(topic, spec, checked, handover);
    await handover;
  }

  async deleteHandler(topic: string, id: string): Promise<void> {
    await this.#handlers.drop(topic, id);
    await this.#options.store.deleteSpec(topic, id);
  }

  /** Resolves when no handler has an event to deliver now. */
  async drained(): Promise<void> {
    await this.#handlers.drained();
  }

  /** Delivers what is ready within the deadline; the rest is in the outbox. */
  async close(deadlineMs: number): Promise<void> {
    await this.#handlers.close(deadlineMs);
    await this.#options.store.close().catch((error: unknown) => {
      // None of it was acknowledged, and everything else must still be closed.
      this.#options.log('error', 'failed to store events, they are lost', {
        err: messageOf(error),
      });
    });
  }

  /**
   * Forgets events that have been OK for long. Only at a clean end, when the saved states of tasks
   * are as new as the events: after a crash a task may need an event of any age to know that it was
   * published.
   */
  forgetOld(): void {
    const { store, isPersistent, clock } = this.#options;
    if (!isPersistent) return;
    const oldest = clock.now() - BigInt(OK_EVENT_AGE.value) * 1_000_000n;
    for (const topic of this.#topics.values()) {
      for (const [id, { level, time }] of topic.summaries()) {
        if (level === 'OK' && time < oldest) store.deleteState(topic.id, id);
      }
    }
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

  /** A topic with a handler exists, whether it has events or not. */
  #attach(
    topic: string,
    spec: HandlerSpec,
    checked: CheckedHandler,
    predecessor?: Promise<void>,
  ): void {
    this.#topic(topic);
    this.#handlers.attach(topic, spec, checked, predecessor);
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

  #publishFrom(topic: string, event: TopicEvent): void {
    checkTopicId(topic);
    if (event.hops >= PUBLISH_DEPTH_MAX) {
      throw new InvalidRequest(
        `topics publish into each other more than ${PUBLISH_DEPTH_MAX} deep`,
      );
    }
    this.#origins.pass(event.topic, topic);
    this.#collect(topic, event, event);
  }
}
