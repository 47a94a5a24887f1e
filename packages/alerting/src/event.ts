// Events as topics store them, as handlers receive them and as JSON for other systems.
import {
  formatClockDuration,
  formatRfc3339,
  InvalidRequest,
  parseRfc3339,
  parseClockDuration,
} from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { jsonFloat } from '@tidemark/runtime';
import type { AlertEvent, AlertLevelName, RememberedState, ResultRow } from '@tidemark/runtime';
import { parseLevel } from './level.ts';

/** The state of an event id without its texts. */
export type EventSummary = RememberedState;

export type EventTexts = { readonly message: string; readonly details: string };

/** The state of an event id in a topic. */
export type EventState = EventSummary & EventTexts;

/** An event on its way to handlers. */
export type TopicEvent = AlertEvent & {
  readonly topic: string;
  /** Level of the previous event with this id in the topic; OK when there was none. */
  readonly previousLevel: AlertLevelName;
  /** How often `publish` and `aggregate` have moved it from topic to topic. */
  readonly hops: number;
};

/** A state as API answers show it. */
export type EventStateJson = {
  readonly message: string;
  readonly details: string;
  readonly time: string;
  readonly duration: string;
  readonly level: AlertLevelName;
};

export function printState(state: EventState): EventStateJson {
  return {
    message: state.message,
    details: state.details,
    time: formatRfc3339(state.time),
    duration: formatClockDuration(state.durationNanos),
    level: state.level,
  };
}

/** Reads a state as API answers show it. Throws `InvalidRequest`. */
export function readState(value: unknown): EventState {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const found = given[name] ?? '';
    if (typeof found === 'string') return found;
    throw new InvalidRequest(`invalid event state: ${name} must be a string`);
  };
  const level = parseLevel(text('level'));
  const time = parseRfc3339(text('time'));
  const duration = text('duration');
  const durationNanos = duration === '' ? 0n : parseClockDuration(duration);
  if (level === undefined) throw new InvalidRequest('invalid event state: unknown level');
  if (time === undefined) throw new InvalidRequest('invalid event state: time must be RFC 3339');
  if (durationNanos === undefined) throw new InvalidRequest('invalid event state: bad duration');
  return { message: text('message'), details: text('details'), level, time, durationNanos };
}

/**
 * The event as one JSON object without a line end: the body of `post`, `tcp`, `exec`, `log` and
 * `kafka`. Written by hand because integers keep all their digits, and only the column
 * distinguishes times from integers.
 */
export function printEventJson(event: TopicEvent): string {
  const { id, message, details, level, previousLevel, isRecoverable } = event;
  return (
    `{"id":${JSON.stringify(id)},"message":${JSON.stringify(message)},"details":${JSON.stringify(details)}` +
    `,"time":"${formatRfc3339(event.time)}","duration":${event.durationNanos},"level":"${level}"` +
    `,"data":${printDataJson(event.data)},"previousLevel":"${previousLevel}","recoverable":${isRecoverable}}`
  );
}

/** `{"series":[…]}`; times as RFC 3339. */
export function printDataJson(rows: readonly ResultRow[]): string {
  return rows.length === 0 ? '{"series":null}' : `{"series":[${rows.map(printRow).join(',')}]}`;
}

function printRow(row: ResultRow): string {
  let json = `{"name":${JSON.stringify(row.name)}`;
  if (row.tags !== undefined && Object.keys(row.tags).length > 0) {
    json += `,"tags":${JSON.stringify(row.tags)}`;
  }
  if (row.columns !== undefined) json += `,"columns":${JSON.stringify(row.columns)}`;
  if (row.values !== undefined) json += `,"values":[${row.values.map(printValues).join(',')}]`;
  return `${json}}`;
}

function printValues(values: readonly (FieldValue | null)[]): string {
  const cells = values.map((value, column) =>
    column === 0 && typeof value === 'bigint' ? `"${formatRfc3339(value)}"` : printFieldJson(value),
  );
  return `[${cells.join(',')}]`;
}

/**
 * A field value as JSON: integers with all digits, NaN and infinities as texts (see `jsonFloat`).
 */
export function printFieldJson(value: FieldValue | null): string {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'number' ? jsonFloat(value) : JSON.stringify(value);
}

/** Texts of an event as JSON strings, which its state and its entries in the outbox share. */
export type QuotedTexts = {
  readonly id: string;
  readonly message: string;
  readonly details: string;
};

export function quoteTexts({ id, message, details }: QuotedTexts): QuotedTexts {
  return {
    id: JSON.stringify(id),
    message: JSON.stringify(message),
    details: JSON.stringify(details),
  };
}

/** Turns an event into JSON text; 64-bit integers, NaN and infinities survive. */
export function encodeEvent(event: TopicEvent, texts = quoteTexts(event)): string {
  // Joined from parts, because a replacer function would be called for every value of every event:
  // 3 µs, not 15.
  const { level, previousLevel, isRecoverable, topic, hops } = event;
  return (
    `{"id":${texts.id},"message":${texts.message},"details":${texts.details}` +
    `,"time":${encodeValue(event.time)},"durationNanos":${encodeValue(event.durationNanos)}` +
    `,"level":"${level}","previousLevel":"${previousLevel}","isRecoverable":${isRecoverable}` +
    `,"topic":${JSON.stringify(topic)},"hops":${hops},"data":[${event.data.map(encodeRow).join(',')}]` +
    `,"context":${encodeContext(event.context)}}`
  );
}

function encodeRow({ name, tags, columns, values }: ResultRow): string {
  let json = `{"name":${JSON.stringify(name)}`;
  if (tags !== undefined) json += `,"tags":${JSON.stringify(tags)}`;
  if (columns !== undefined) json += `,"columns":${JSON.stringify(columns)}`;
  if (values !== undefined) {
    const lines = values.map((row) => `[${row.map(encodeValue).join(',')}]`);
    json += `,"values":[${lines.join(',')}]`;
  }
  return `${json}}`;
}

type Context = TopicEvent['context'];

// Every part is named: copying the rest of an object would cost as much as everything else here.
function encodeContext(context: Context): string {
  const { name, taskName, group, category, tags, fields } = context;
  return (
    `{"name":${JSON.stringify(name)},"taskName":${JSON.stringify(taskName)},"group":${JSON.stringify(group)}` +
    `,"category":${JSON.stringify(category)},"tags":${JSON.stringify(tags)},"fields":${encodeFields(fields)}}`
  );
}

function encodeFields(fields: Context['fields']): string {
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${JSON.stringify(name)}:${encodeValue(value)}`,
  );
  return `{${pairs.join(',')}}`;
}

function encodeValue(value: FieldValue | null): string {
  if (typeof value === 'bigint') return `{"$int":"${value}"}`;
  const isStrange = typeof value === 'number' && !Number.isFinite(value);
  return isStrange ? `{"$float":"${value}"}` : JSON.stringify(value);
}

/** Reads what `encodeEvent` wrote. */
export function decodeEvent(json: string): TopicEvent {
  return JSON.parse(json, (_key, value: unknown) => {
    if (value === null || typeof value !== 'object') return value;
    if ('$int' in value) return BigInt(String(value.$int));
    return '$float' in value ? Number(value.$float) : value;
  }) as TopicEvent;
}
