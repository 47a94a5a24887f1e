// Options of handlers and of configuration sections as typed text, based on the tables of the
// engine.

/** What a field has to know of an option. */
export type OptionRow = {
  readonly type: string;
  readonly doc: string;
  readonly allowed?: readonly string[] | undefined;
};

/** How a value of an option is shown in its field; '' where it is not given. */
export function printOption(value: unknown, type = ''): string {
  if (value === undefined || value === null) return '';
  if (type === 'json' && typeof value === 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${String(each)}`)
    .join('\n');
}

/** Options with several lines: lists have one a line, maps `name: value`. */
export const isLong = ({ type }: Pick<OptionRow, 'type'>): boolean =>
  ['strings', 'string-map', 'json'].includes(type);

/**
 * What a text means for an option; `undefined` where it says nothing. What it cannot mean is left
 * to the engine, which says so.
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
    // A text that is no JSON is that text.
    return text;
  }
}
