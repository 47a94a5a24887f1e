// Reads fields of documents. They come from the server and from imported files, so nothing about
// their contents is assumed.
export type Fields = Readonly<Record<string, unknown>>;

/** Fields of an object; empty for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown, missing = ''): string =>
  typeof value === 'string' ? value : missing;

export const numberOf = <T>(value: unknown, missing: T): number | T =>
  typeof value === 'number' && Number.isFinite(value) ? value : missing;

export function oneOf<T extends string>(options: readonly T[], value: unknown, missing: T): T {
  return options.find((each) => each === value) ?? missing;
}

/** The field at the end of a path. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((at, name) => fieldsOf(at)[name], value);
}
