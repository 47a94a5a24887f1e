// Widths of the columns of a log: as wide as their values, so that rows stand in line although only
// some of them are drawn.
import { eventTime, textOf } from './events.ts';
import type { LogEvent } from './events.ts';
import type { RowLook } from './event-row.tsx';

/** Rows that are looked at. */
const ROWS_MAX = 200;
const LETTERS_MIN = 4;
const LETTERS_MAX = 24;
const TIME_LETTERS_MAX = 29;
const TEXT_WIDTH = 'minmax(22rem, 1fr)';

/**
 * A template of a grid. `widest` keeps what was found in letters, so that columns do not become
 * narrower as events come and go.
 */
export function columnWidths(
  widest: Map<string, number>,
  events: readonly LogEvent[],
  look: RowLook | undefined,
): string {
  if (look === undefined) return TEXT_WIDTH;
  const { source, columns, zone } = look;
  const names = [...(source.level === undefined ? [] : [source.level]), ...columns];
  const first = events.slice(0, ROWS_MAX);
  const widthOf = (key: string, letters: (event: LogEvent) => number, max: number): string => {
    const found = first.reduce(
      (most, event) => Math.max(most, letters(event)),
      Math.max(widest.get(key) ?? LETTERS_MIN, 0),
    );
    widest.set(key, found);
    return `${Math.min(found, max)}ch`;
  };
  return [
    widthOf('time', (event) => eventTime(event, zone).length, TIME_LETTERS_MAX),
    ...names.map((name) =>
      widthOf(
        `${source.measurement} ${name}`,
        (event) => Math.max(name.length, textOf(event, name).length),
        LETTERS_MAX,
      ),
    ),
    TEXT_WIDTH,
  ].join(' ');
}
