// Options of handlers and of configuration sections as typed text, based on the tables of the
// engine.

/** The properties of an option that its field needs. */
export type OptionRow = {
  readonly type: string;
  readonly doc: string;
  readonly allowed?: readonly string[] | undefined;
};

/** The text of an option's value in its field; '' if it is not set. */
export function printOption(value: unknown, type = ''): string {
  if (value === undefined || value === null) return '';
  if (type === 'json' && typeof value === 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${String(each)}`)
    .join('\n');
}

/** Options with several lines: lists have one item a line, maps `name: value`. */
export const isLong = ({ type }: Pick<OptionRow, 'type'>): boolean =>
  ['strings', 'string-map', 'json'].includes(type);

/**
 * Converts a text to an option's value; `undefined` for an empty one. Invalid texts are left to the
 * engine, which reports them.
 */
export function readOption({ type }: Pick<OptionRow, 'type'>, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  switch (type) {
    case 'boolean':
      return trimmed === 'true';
    case 'integer':
    case 'float':
      return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
    case 'strings':
      return linesOf(trimmed);
    case 'string-map':
      return Object.fromEntries(
        linesOf(trimmed).map((line) => {
          const colon = line.indexOf(':');
          if (colon < 0) return [line, ''];
          return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
        }),
      );
    case 'json':
      return jsonOf(trimmed);
    default:
      return text;
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A text that is not JSON is a plain text.
    return text;
  }
}
