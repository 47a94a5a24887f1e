// What a log shows of a measurement: which of its columns is the text, which one the level.
import type { MeasurementDetails } from '../schema.ts';

/** The measurement of a log, and its columns. */
export type LogSource = {
  /** Empty for the default retention policy. */
  readonly policy: string;
  readonly measurement: string;
  /** The field that is searched and counted. */
  readonly text: string;
  /** A tag or a field; `undefined` without levels. */
  readonly level: string | undefined;
  /** Fields by name. Any other column is a tag. */
  readonly fieldTypes: ReadonlyMap<string, string>;
  readonly tags: readonly string[];
};

/** Usual names, the likeliest first. */
const TEXT_NAMES = ['message', 'msg', 'text', 'log', 'line', 'body', 'event', 'description'];
const LEVEL_NAMES = ['level', 'severity', 'lvl', 'loglevel', 'log_level', 'levelname', 'priority'];
const SYSLOG = 'syslog';

/** In place of a name: levels are not wanted. */
export const NO_LEVEL = '-';

/** Tags shown at first. */
const COLUMNS_MAX = 3;

export type LogColumns = {
  readonly text?: string | undefined;
  readonly level?: string | undefined;
};

/** Columns that are wanted, or else those with usual names. `undefined` without a text. */
export function sourceOf(
  { policy, measurement }: { readonly policy: string; readonly measurement: string },
  details: MeasurementDetails,
  wanted: LogColumns,
): LogSource | undefined {
  const strings = details.fields.filter(({ type }) => type === 'string').map(({ name }) => name);
  const tags = details.tags.map(({ name }) => name);
  const levels = [...tags, ...strings];
  const level =
    wanted.level === NO_LEVEL
      ? undefined
      : (levels.find((name) => name === wanted.level) ?? usualOf(LEVEL_NAMES, levels));
  const texts = strings.filter((name) => name !== level);
  const text =
    strings.find((name) => name === wanted.text) ??
    usualOf(TEXT_NAMES, texts) ??
    texts[0] ??
    strings[0];
  if (text === undefined) return undefined;
  return {
    policy,
    measurement,
    text,
    level: level === text ? undefined : level,
    fieldTypes: new Map(details.fields.map(({ name, type }) => [name, type])),
    tags,
  };
}

const usualOf = (usual: readonly string[], names: readonly string[]): string | undefined =>
  usual
    .map((each) => names.find((name) => name.toLowerCase() === each))
    .find((name) => name !== undefined);

/** Tags that distinguish events, for a log whose columns nobody chose. */
export function usualColumns(source: LogSource, details: MeasurementDetails): readonly string[] {
  return details.tags
    .filter(({ name, valueCount }) => valueCount > 1 && name !== source.level)
    .slice(0, COLUMNS_MAX)
    .map(({ name }) => name);
}

export type TextMeasurement = { readonly name: string; readonly texts: readonly string[] };

/** The measurement that is most likely a log: with a usual name, or a usual text. */
export function likeliest(measurements: readonly TextMeasurement[]): string | undefined {
  const score = ({ name, texts }: TextMeasurement): number =>
    (/(^|[^a-z])(logs?|events?)([^a-z]|$)/i.test(name) || name.toLowerCase() === SYSLOG ? 2 : 0) +
    (usualOf(TEXT_NAMES, texts) === undefined ? 0 : 1);
  return measurements.toSorted((a, b) => score(b) - score(a))[0]?.name;
}
