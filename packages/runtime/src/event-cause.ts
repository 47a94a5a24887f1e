// The cause of an event, as a position in the log of points. Events that a unit has published at or
// before its last position are not published again (docs/adr/0027-told-events.md).
import type { RowSource } from './data/row-source.ts';

/**
 * The row of the log at which a unit published something. Everything caused by one row is stored,
 * or nothing is.
 */
export type EventCause = {
  /** See `unitName`. */
  readonly unit: string;
  /** Number of the record of the log. */
  readonly record: number;
  /** The row in it, from 0 on. */
  readonly row: number;
};

/** A row of a log that a unit is given again. */
export type ReplayedRow = {
  /** Number of its record. */
  readonly record: number;
  /** Its events were published before. */
  readonly isPublished: boolean;
};

/** What a unit published before it was given a log again. */
export type PublishedBefore = {
  /** Number of the last record that its state contains; `undefined` when unknown. */
  readonly record: number | undefined;
  /** The cause of its last event. */
  readonly last: EventCause | undefined;
};

/** The present row as a cause; `undefined` outside of a row of a log. */
export function causeOf(unit: string, source: RowSource | undefined): EventCause | undefined {
  const record = source?.batch.record;
  if (source === undefined || record === undefined) return undefined;
  return { unit, record, row: source.row };
}

/** The present row of a unit that is given a log again. */
export function replayedRow(
  present: EventCause | undefined,
  { record: contained, last }: PublishedBefore,
): ReplayedRow | undefined {
  if (present === undefined || contained === undefined) return undefined;
  const { record, row } = present;
  // A log that was lost with its coordinator begins again, with small numbers.
  if (last === undefined || record <= contained) return { record, isPublished: false };
  const isBehind = record === last.record ? row > last.row : record > last.record;
  return { record, isPublished: !isBehind };
}
