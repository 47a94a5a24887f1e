// Keys and values of the tables of alerting: how states of events, entries of the outbox, dead
// letters and causes are written, and read back.
import { createHash } from 'node:crypto';
import { Corruption } from '@tidemark/core';
import { recordOf } from '@tidemark/runtime';
import type { AlertLevelName, EventCause, StateSource } from '@tidemark/runtime';
import type { EventState, EventSummary, EventTexts, QuotedTexts, TopicEvent } from './event.ts';
import { decodeEvent, encodeEvent } from './event.ts';
import { KEY_BYTES_MAX } from './limits.ts';

/** Topic and id, or handler and sequence. */
export type PairKey = [string, string | number];

type StoredState = {
  readonly id: string;
  readonly message: string;
  readonly details: string;
  readonly time: string;
  readonly duration: string;
  readonly level: AlertLevelName;
  readonly record?: number | undefined;
};

/** A state as JSON. Written by hand, because it is written for every event. */
export function encodeState(state: EventState & StateSource, texts: QuotedTexts): string {
  const number = recordOf(state);
  const record = number === undefined ? '' : `,"record":${number}`;
  return (
    `{"id":${texts.id},"message":${texts.message},"details":${texts.details}` +
    `,"time":"${state.time}","duration":"${state.durationNanos}","level":"${state.level}"${record}}`
  );
}

/** Throws `Corruption`. */
export function readSummary(bytes: Buffer): EventSummary & { readonly id: string } {
  const { id, level, time, duration, record } = parseState(bytes);
  return {
    id,
    level,
    time: readInt(time, `state of event ${id}`),
    durationNanos: readInt(duration, `state of event ${id}`),
    record,
  };
}

export function readTexts(bytes: Buffer): EventTexts {
  return parseState(bytes);
}

function parseState(bytes: Buffer): StoredState {
  return JSON.parse(bytes.toString('utf8')) as StoredState;
}

/** An entry of the outbox as lines: the step, the handler's key, the event as JSON. */
export function printEntry(handlerKey: string, step: number, eventJson: string): string {
  return `${step}\n${handlerKey}\n${eventJson}`;
}

/** Throws `Corruption`. */
export function readEntry(bytes: Buffer): {
  readonly step: number;
  readonly handlerKey: string;
  readonly event: string;
} {
  const text = bytes.toString('utf8');
  const first = text.indexOf('\n');
  const second = text.indexOf('\n', first + 1);
  if (second < 0)
    throw new Corruption('entry of the outbox is cut', { file: 'engine.mdb', offset: 0 });
  return {
    step: Number(text.slice(0, first)),
    handlerKey: text.slice(first + 1, second),
    event: text.slice(second + 1),
  };
}

/** An event that could not be delivered, without its key. */
export type Letter = {
  readonly handlerKey: string;
  readonly event: TopicEvent;
  /** The action of the handler's chain that failed. */
  readonly step: number;
  readonly reason: string;
  /** Wall time in nanoseconds. */
  readonly time: bigint;
};

type StoredLetter = {
  readonly handler: string;
  readonly event: string;
  readonly step: number;
  readonly reason: string;
  readonly time: string;
};

/** A dead letter as JSON. */
export function printLetter({ handlerKey, event, step, reason, time }: Letter): string {
  const letter: StoredLetter = {
    handler: handlerKey,
    event: encodeEvent(event),
    step,
    reason,
    time: String(time),
  };
  return JSON.stringify(letter);
}

/** Throws `Corruption`. */
export function readLetter(sequence: number, bytes: Buffer): Letter {
  const letter = JSON.parse(bytes.toString('utf8')) as StoredLetter;
  return {
    handlerKey: letter.handler,
    event: decodeEvent(letter.event),
    step: letter.step,
    reason: letter.reason,
    time: readInt(letter.time, `dead letter ${sequence}`),
  };
}

/** The cause of a unit's last event as JSON; the unit is the key. */
export function printCause({ record, row }: EventCause): string {
  return `{"record":${record},"row":${row}}`;
}

export function readCause(unit: string, bytes: Buffer): EventCause {
  return { ...(JSON.parse(bytes.toString('utf8')) as Omit<EventCause, 'unit'>), unit };
}

/** Prefix of keys that stand for longer ones; no topic has it. */
const HASHED = '#';

export function keyOf(topic: string, id: string): PairKey {
  if (Buffer.byteLength(topic) + Buffer.byteLength(id) <= KEY_BYTES_MAX) return [topic, id];
  return [topic, HASHED + createHash('sha256').update(id).digest('hex')];
}

/** The longest ids and topics do not fit into a key together. */
export function shortKey(handlerKey: string): string {
  if (Buffer.byteLength(handlerKey) <= KEY_BYTES_MAX) return handlerKey;
  return HASHED + createHash('sha256').update(handlerKey).digest('hex');
}

type PairRange = { readonly start: PairKey; readonly end: PairKey };

/** A handler's entries in the outbox, both sequence numbers included. */
export function rangeOf(
  handlerKey: string,
  first: number,
  last = Number.MAX_SAFE_INTEGER - 1,
): PairRange {
  const key = shortKey(handlerKey);
  return { start: [key, first], end: [key, last + 1] };
}

/** Where the entries of handlers are whose key has a prefix; others may be there too. */
export function rangesOfPrefix(prefix: string): readonly PairRange[] {
  return [prefix, HASHED].map((start) => ({ start: [start, 0], end: [`${start}\uffff`, 0] }));
}

function readInt(text: string, what: string): bigint {
  if (!/^-?\d{1,20}$/.test(text)) {
    throw new Corruption(`${what} holds no integer`, { file: 'engine.mdb', offset: 0 });
  }
  return BigInt(text);
}
