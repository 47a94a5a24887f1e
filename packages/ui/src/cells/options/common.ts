// Options that every cell with queries has, and those that every cell has.
import { textOf } from '../../dashboards/fields.ts';
import { texts } from '../../texts/texts.ts';
import { text } from '../option.ts';
import type { OptionRow } from '../option.ts';
import { REPEAT, REPEAT_DIRECTION, REPEAT_MAX } from './repeat.ts';

const t = texts.cells;

export const DESCRIPTION = text({
  name: 'description',
  group: 'cell',
  label: t.description,
  grafanaPaths: ['description'],
  fromGrafana: ({ panel }) => textOf(panel['description']) || undefined,
});

const DURATION = /^>?=?(\d+(?:ms|s|m|h|d|w))$/;

/** Older files write `>10s` for `10s`. */
const durationOf = (value: unknown): string | undefined => DURATION.exec(textOf(value).trim())?.[1];

export const MIN_INTERVAL = text({
  name: 'interval',
  group: 'query',
  label: t.interval,
  hint: t.intervalHint,
  grafanaPaths: ['interval'],
  fromGrafana: ({ panel }) => durationOf(panel['interval']),
});

export const TIME_FROM = text({
  name: 'timeFrom',
  group: 'query',
  label: t.timeFrom,
  hint: t.timeFromHint,
  grafanaPaths: ['timeFrom', 'hideTimeOverride'],
  fromGrafana: ({ panel }) => durationOf(panel['timeFrom']),
});

export const TIME_SHIFT = text({
  name: 'timeShift',
  group: 'query',
  label: t.timeShift,
  hint: t.timeShiftHint,
  grafanaPaths: ['timeShift', 'hideTimeOverride'],
  fromGrafana: ({ panel }) => durationOf(panel['timeShift']),
});

/** Read by `cells/link.ts`. */
export const LINK = text({
  name: 'link',
  label: t.link,
  hint: t.linkHint,
});

export const OF_ALL: readonly OptionRow<unknown>[] = [
  DESCRIPTION,
  REPEAT,
  REPEAT_DIRECTION,
  REPEAT_MAX,
];

export const OF_QUERIES: readonly OptionRow<unknown>[] = [MIN_INTERVAL, TIME_FROM, TIME_SHIFT];
