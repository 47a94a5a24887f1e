// The states of a topic's events without their texts, one record for each slot. Everything that a
// topic remembers of an event in memory is listed here.
import { recordOf } from '@tidemark/runtime';
import type { StateSource } from '@tidemark/runtime';
import type { EventSummary } from './event.ts';
import { LEVELS, levelRank } from './level.ts';

const FIRST_CAPACITY = 8;

/** Offsets of the fields of a record. */
const TIME = 0;
const DURATION = 8;
/** A float64; records of the log of points begin with 1, and 0 is none. */
const LOG_RECORD = 16;
const RANK = 24;
const RECORD_BYTES = 32;

export class EventRecords {
  #view = new DataView(new ArrayBuffer(FIRST_CAPACITY * RECORD_BYTES));

  /** The rank of the event's level (`levelRank`). */
  rank(slot: number): number {
    return this.#view.getUint8(slot * RECORD_BYTES + RANK);
  }

  /** Time of the event in nanoseconds, rounded to a float64: enough to order events. */
  approximateTime(slot: number): number {
    return Number(this.#view.getBigInt64(slot * RECORD_BYTES + TIME));
  }

  read(slot: number): EventSummary {
    const at = slot * RECORD_BYTES;
    const record = this.#view.getFloat64(at + LOG_RECORD);
    return {
      level: LEVELS[this.rank(slot)] ?? 'OK',
      time: this.#view.getBigInt64(at + TIME),
      durationNanos: this.#view.getBigInt64(at + DURATION),
      ...(record === 0 ? {} : { record }),
    };
  }

  /** Slots are written first in their order. */
  write(slot: number, state: StateSource): void {
    const at = slot * RECORD_BYTES;
    if (at === this.#view.byteLength) this.#grow();
    this.#view.setBigInt64(at + TIME, state.time);
    this.#view.setBigInt64(at + DURATION, state.durationNanos);
    this.#view.setFloat64(at + LOG_RECORD, recordOf(state) ?? 0);
    this.#view.setUint8(at + RANK, levelRank(state.level));
  }

  #grow(): void {
    const bytes = new Uint8Array(this.#view.byteLength * 2);
    bytes.set(new Uint8Array(this.#view.buffer));
    this.#view = new DataView(bytes.buffer);
  }
}
