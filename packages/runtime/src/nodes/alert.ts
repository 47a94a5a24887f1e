// alert: decides a level for each point or batch, publishes events and passes on the points that
// caused them. Guide: docs/guide/engine-alerts.md.
import { alertNode } from '@tidemark/pipeline';
import { anonymousTopic } from '../anonymous-topic.ts';
import type { Group } from '../data/group.ts';
import type { Barrier, Point } from '../data/point.ts';
import { Batch } from '../data/point.ts';
import { batchRow, pointRow } from '../data/rows.ts';
import type { Value } from '../data/schema.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import { inhibitionKey } from '../inhibitions.ts';
import type { Inhibition } from '../inhibitions.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { StartError } from '../node.ts';
import type { AlertEvent } from '../services.ts';
import type { AlertGroup, AlertGroups } from '../running-task.ts';
import { ALERT_GROUPS_MAX } from '../limits.ts';
import { AlertLevels, CRITICAL, LEVEL_NAMES, OK } from '../node-parts/alert-levels.ts';
import type { AlertLevelsCode } from '../node-parts/alert-levels.ts';
import { AlertState } from '../node-parts/alert-state.ts';
import type { AlertStateCode } from '../node-parts/alert-state.ts';
import { PublishedEvents } from '../node-parts/published-events.ts';
import type { PublishedEvent } from '../node-parts/published-events.ts';
import { AlertTexts, alertTemplates } from '../node-parts/alert-texts.ts';
import { addedTo } from '../node-parts/augment.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';

type GroupAlert = {
  readonly state: AlertState;
  readonly inhibitions: readonly Inhibition[];
  /** Id of its last event. */
  event?: string | undefined;
  /** Comes from a snapshot and has not been compared with the topics' states. */
  isUnchecked: boolean;
  /** While the task catches up: the events that were published before. */
  published?: PublishedEvents | undefined;
};

type GroupAlertCode = AlertStateCode & { readonly event?: string | undefined };

/** The first message of a group. */
type FirstMessage = {
  readonly point: Point;
  /** No event of this message or a later one is older. */
  readonly time: bigint;
};

const NO_INHIBITIONS: readonly Inhibition[] = [];

export class AlertNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {
    alerting: this,
    counters: this,
    starting: this,
    closing: this,
    state: this,
  };
  readonly #ctx: ContextOf<typeof alertNode>;
  readonly #levels: AlertLevels;
  readonly #texts: AlertTexts;
  readonly #groups: GroupStates<GroupAlert>;
  readonly #anonymousTopic: string | undefined;
  readonly #isStateChangesOnly: boolean;
  readonly #isAugmenting: boolean;
  /** The restored state is followed by a log of points. */
  #isFromLog = false;
  readonly #counts = { triggered: 0, inhibited: 0, byLevel: [0, 0, 0, 0] };

  constructor(ctx: ContextOf<typeof alertNode>) {
    this.#ctx = ctx;
    const { options, task } = ctx;
    const { flapping } = options;
    if (flapping !== undefined && (flapping.low > 1 || flapping.high > 1)) {
      throw new StartError('alert flap thresholds are percentages and should be between 0 and 1');
    }
    this.#texts = new AlertTexts(ctx);
    this.#levels = new AlertLevels(ctx, options);
    this.#groups = new GroupStates((group) => ({
      state: new AlertState(this.#historySize()),
      isUnchecked: false,
      inhibitions: this.#inhibitionsOf(group),
    }));
    const hasHandlers = options.handlers.length > 0 || task.alerts.hasGlobalHandlers;
    this.#anonymousTopic = hasHandlers ? anonymousTopic(task, ctx.name) : undefined;
    this.#isStateChangesOnly = options.stateChanges.isOnly || task.alerts.isStateChangesOnly;
    const added = [options.levelTag, options.idTag, options.levelField, options.messageField];
    this.#isAugmenting = [...added, options.idField, options.durationField].some((n) => n !== '');
  }

  get groupCount(): number {
    return this.#groups.count;
  }

  /** Of one level in the order of their creation. */
  alertGroups(): AlertGroups {
    const byLevel: (readonly [Group, GroupAlert])[][] = LEVEL_NAMES.map(() => []);
    for (const each of this.#groups) {
      const same = byLevel[each[1].state.level] ?? [];
      if (same.length < ALERT_GROUPS_MAX) same.push(each);
    }
    const listed = byLevel.toReversed().flat().slice(0, ALERT_GROUPS_MAX);
    const topic = this.#anonymousTopic ?? this.#ctx.options.topic;
    return { total: this.#groups.count, topic, groups: listed.map(alertGroup) };
  }

  start(): Promise<void> {
    const topic = this.#anonymousTopic;
    const { handlers, topic: named } = this.#ctx.options;
    const { alerts } = this.#ctx.task.services;
    if (topic !== undefined) alerts.openAnonymousTopic(topic, handlers);
    if (named !== '') alerts.openTopic(named);
    return Promise.resolve();
  }

  point(point: Point): void {
    const alert =
      this.#groups.peek(point.group) ?? this.#open(point.group, { point, time: point.time });
    if (alert.isUnchecked) this.#catchUp(alert, point.group, { point, time: point.time });
    const level = this.#levels.of(point, alert.state.level);
    if (this.#ctx.explain !== undefined) this.#explain(point, alert.state.level, level);
    if (!this.#isTriggering(alert.state, level, point.time)) return;
    this.#trigger(alert, level, { time: point.time, point, message: point });
  }

  batch(batch: Batch): void {
    const [first] = batch.points;
    if (first === undefined) return;
    const alert = this.#groups.peek(batch.group) ?? this.#open(batch.group, firstOf(batch, first));
    if (alert.isUnchecked) this.#catchUp(alert, batch.group, firstOf(batch, first));
    const { isForAll } = this.#ctx.options;
    let highest = -1;
    let highestPoint: Point = first;
    let lowest = CRITICAL;
    for (const point of batch.points) {
      const level = this.#levels.of(point, alert.state.level);
      if (level > highest) {
        highest = level;
        highestPoint = point;
      }
      if (level < lowest) lowest = level;
    }
    const level = isForAll ? lowest : highest;
    const time = isForAll || level === OK ? batch.time : highestPoint.time;
    if (!this.#isTriggering(alert.state, level, time)) return;
    this.#trigger(alert, level, { time, point: highestPoint, message: batch });
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    const alert = this.#groups.delete(group);
    this.#inhibit(alert?.inhibitions ?? [], false);
    this.#ctx.out.deleteGroup(group);
  }

  stats(): Readonly<Record<string, number>> {
    const [oks = 0, infos = 0, warns = 0, crits = 0] = this.#counts.byLevel;
    return {
      alerts_triggered: this.#counts.triggered,
      alerts_inhibited: this.#counts.inhibited,
      oks_triggered: oks,
      infos_triggered: infos,
      warns_triggered: warns,
      crits_triggered: crits,
    };
  }

  close(): void {
    for (const [, alert] of this.#groups) this.#inhibit(alert.inhibitions, false);
    if (this.#anonymousTopic !== undefined) {
      this.#ctx.task.services.alerts.closeAnonymousTopic(this.#anonymousTopic);
    }
  }

  snapshot(): unknown {
    return {
      groups: this.#groups.encode(({ state, event }) => ({ ...state.encode(), event })),
      ...this.#levels.encode(),
    };
  }

  restore(state: unknown): void {
    this.#isFromLog = (this.#ctx.task.rerun?.record ?? 0) > 0;
    const code = state as { groups: GroupStatesCode<GroupAlertCode> } & AlertLevelsCode;
    for (const [codeOfGroup, stateCode] of code.groups) {
      const group = this.#ctx.task.groups.named(
        codeOfGroup.id,
        { isByName: codeOfGroup.isByName, tagNames: codeOfGroup.tagNames },
        codeOfGroup.values,
      );
      if (group === undefined) continue;
      const restored = AlertState.decode(stateCode, this.#historySize());
      const inhibitions = this.#inhibitionsOf(group);
      this.#inhibit(inhibitions, restored.level !== OK);
      const { event } = stateCode;
      this.#groups.set(group, { inhibitions, state: restored, event, isUnchecked: true });
    }
    this.#levels.restore(code);
  }

  /** Only flapping looks further back than to the last level. */
  #historySize(): number {
    const { flapping, history } = this.#ctx.options;
    return flapping === undefined ? 0 : Number(history);
  }

  /** A new group starts at the level that topics have for its event. */
  #open(group: Group, first: FirstMessage): GroupAlert {
    const state = new AlertState(this.#historySize());
    const id = this.#texts.id(first.point.withSeries(first.point.series, group));
    const remembered = this.#remembered(id);
    const published = this.#publishedBefore(remembered, first);
    if (remembered !== undefined && published === undefined) {
      state.restore(remembered.level, remembered.time, remembered.durationNanos);
    }
    const inhibitions = this.#inhibitionsOf(group);
    this.#inhibit(inhibitions, state.level !== OK);
    const event = remembered && id;
    return this.#groups.set(group, { state, inhibitions, event, isUnchecked: false, published });
  }

  /**
   * The published events that the task will repeat while it catches up; `undefined` if it will not:
   * then the last published event is the group's state.
   */
  #publishedBefore(
    last: PublishedEvent | undefined,
    first: FirstMessage,
  ): PublishedEvents | undefined {
    const { rerun } = this.#ctx.task;
    if (rerun === undefined || last === undefined) return undefined;
    const replayed = this.#ctx.task.replayed();
    if (replayed !== undefined && last.record !== undefined) {
      const isAhead = replayed.isPublished && last.record >= replayed.record;
      return isAhead ? new PublishedEvents(last) : undefined;
    }
    const isOwn = last.time >= rerun.begun;
    return isOwn && first.time <= last.time ? new PublishedEvents(last) : undefined;
  }

  /**
   * After a crash the snapshot may be older than the topics: a later event has been published
   * already. The group continues from it or, if the task processes that time again, recognises it
   * and does not publish it twice.
   */
  #catchUp(alert: GroupAlert, group: Group, first: FirstMessage): void {
    alert.isUnchecked = false;
    const { point } = first;
    const remembered = this.#remembered(this.#texts.id(point.withSeries(point.series, group)));
    if (remembered === undefined || remembered.time <= alert.state.lastTriggered) return;
    const { level, time, durationNanos } = remembered;
    alert.published = this.#publishedBefore(remembered, first);
    // A log has everything that the group has missed: its own state is right.
    if (alert.published !== undefined || this.#isFromLog) return;
    alert.state.restore(level, time, durationNanos);
    this.#inhibit(alert.inhibitions, alert.state.level !== OK);
  }

  #remembered(id: string): PublishedEvent | undefined {
    const { alerts } = this.#ctx.task.services;
    const topic = this.#ctx.options.topic;
    const anonymous =
      this.#anonymousTopic === undefined ? undefined : alerts.eventState(this.#anonymousTopic, id);
    const named = topic === '' ? undefined : alerts.eventState(topic, id);
    const chosen = anonymous ?? named;
    if (chosen === undefined) return undefined;
    // The topics agree from here on: the anonymous one takes precedence.
    const stale = anonymous === undefined ? this.#anonymousTopic : topic;
    const other = anonymous === undefined ? undefined : named;
    if (stale !== undefined && stale !== '' && other?.level !== chosen.level) {
      alerts.updateEvent(stale, {
        ...this.#texts.emptyEvent(id),
        level: chosen.level,
        time: chosen.time,
        durationNanos: chosen.durationNanos,
      });
    }
    return { ...chosen, level: LEVEL_NAMES.indexOf(chosen.level) };
  }

  #inhibitionsOf(group: Group): readonly Inhibition[] {
    const { options, task, name: node } = this.#ctx;
    if (options.inhibits.length === 0) return NO_INHIBITIONS;
    return options.inhibits.map(({ category, tags: names }, i) => ({
      key: inhibitionKey(task.unit, [node, i, group.id]),
      category,
      tags: names.map((name) => [name, group.tags[name] ?? ''] as const),
    }));
  }

  #inhibit(inhibitions: readonly Inhibition[], isActive: boolean): void {
    for (const each of inhibitions) this.#ctx.task.inhibitions.set(each, isActive);
  }

  /** Records the level; returns whether this message makes an event. */
  #isTriggering(state: AlertState, level: number, time: bigint): boolean {
    const { flapping, stateChanges } = this.#ctx.options;
    state.record(level, time, flapping);
    const isExpired = !state.isChanged && state.isExpired(time, stateChanges.intervalNanos);
    if (state.isFlapping) return false;
    if (this.#isStateChangesOnly && !state.isChanged && !isExpired) return false;
    return level !== OK || state.isChanged;
  }

  #trigger(
    alert: GroupAlert,
    level: number,
    cause: { readonly time: bigint; readonly point: Point; readonly message: Point | Batch },
  ): void {
    const { options, task } = this.#ctx;
    const { state } = alert;
    state.trigger(cause.time);
    const isPublished = this.#isPublished(alert, level, cause.time);
    this.#inhibit(alert.inhibitions, level !== OK);
    if (options.isWithoutRecoveries && level === OK) return;
    const event = this.#event(level, state.durationNanos, cause);
    alert.event = event.id;
    const tags = cause.message instanceof Batch ? cause.message.series : cause.point.series;
    if (isPublished) {
      // The topics and their handlers have it from before the restart.
    } else if (task.inhibitions.isInhibited(options.category, (name) => tags.tag(name))) {
      this.#counts.inhibited++;
    } else {
      this.#count(level);
      this.#publish(event);
    }
    this.#forward(event, cause.message);
  }

  #publish(event: AlertEvent): void {
    const { services } = this.#ctx.task;
    const cause = this.#ctx.task.cause();
    const published = cause === undefined ? event : { ...event, cause };
    if (this.#anonymousTopic !== undefined)
      services.alerts.publish(this.#anonymousTopic, published);
    const { topic } = this.#ctx.options;
    if (topic !== '') services.alerts.publish(topic, published);
  }

  #isPublished(alert: GroupAlert, level: number, time: bigint): boolean {
    const { task } = this.#ctx;
    if (task.rerun === undefined) return false;
    const { isChanged } = alert.state;
    const isPublishedByTime = alert.published?.includes({ level, time, isChanged }) ?? false;
    const isPublished = task.replayed()?.isPublished ?? isPublishedByTime;
    if (!isPublished) alert.published = undefined;
    return isPublished;
  }

  #count(level: number): void {
    this.#counts.triggered++;
    this.#counts.byLevel[level] = (this.#counts.byLevel[level] ?? 0) + 1;
  }

  #event(
    level: number,
    durationNanos: bigint,
    cause: { readonly time: bigint; readonly point: Point; readonly message: Point | Batch },
  ): AlertEvent {
    const { options } = this.#ctx;
    const data = cause.message instanceof Batch ? batchRow(cause.message) : pointRow(cause.message);
    return this.#texts.event({
      level: LEVEL_NAMES[level] ?? 'OK',
      time: cause.time,
      durationNanos,
      isRecoverable: !options.isWithoutRecoveries,
      point: cause.point,
      message: cause.message,
      data: [data],
    });
  }

  #forward(event: AlertEvent, message: Point | Batch): void {
    if (!this.#isAugmenting) {
      if (message instanceof Batch) this.#ctx.out.batch(message);
      else this.#ctx.out.point(message);
      return;
    }
    const { options } = this.#ctx;
    const tags = new Map<string, string>();
    if (options.levelTag !== '') tags.set(options.levelTag, event.level);
    if (options.idTag !== '') tags.set(options.idTag, event.id);
    const fields: { name: string; type: 'string' | 'int'; value: Value }[] = [];
    const text = (name: string, value: string): void => {
      if (name !== '') fields.push({ name, type: 'string', value });
    };
    text(options.levelField, event.level);
    text(options.messageField, event.message);
    text(options.idField, event.id);
    if (options.durationField !== '') {
      fields.push({ name: options.durationField, type: 'int', value: event.durationNanos });
    }
    if (message instanceof Batch)
      this.#ctx.out.batch(addedTo(this.#ctx, message, { tags, fields }));
    else this.#ctx.out.point(addedTo(this.#ctx, message, { tags, fields }));
  }

  #explain(point: Point, previous: number, level: number): void {
    const conditions = this.#levels.explain(point);
    const outcome = `${LEVEL_NAMES[previous] ?? ''} -> ${LEVEL_NAMES[level] ?? ''}`;
    this.#ctx.explain?.({ group: point.group, time: point.time, outcome, conditions });
  }
}

function alertGroup([group, { state, event }]: readonly [Group, GroupAlert]): AlertGroup {
  const { level, firstTriggered, lastTriggered, isFlapping } = state;
  return {
    group: group.id,
    tags: group.tags,
    level: LEVEL_NAMES[level] ?? 'OK',
    since: level === OK ? undefined : firstTriggered,
    lastEvent: lastTriggered === 0n ? undefined : lastTriggered,
    event,
    isFlapping,
  };
}

/** Points of a query may come newest first. */
function firstOf(batch: Batch, point: Point): FirstMessage {
  const last = batch.points.at(-1) as Point;
  const time = last.time < point.time ? last.time : point.time;
  return { point: point.withSeries(batch.series, batch.group), time };
}

export const runningAlert = implement(alertNode, (ctx) => new AlertNode(ctx), {
  checkTexts: alertTemplates,
});
