// Secrets among options: their positions, their printed form, and their references.
import type {
  JsonValue,
  Options,
  OptionsOf,
  OptionSpec,
  OptionTable,
  OptionValue,
} from './options.ts';
import { optionsOf } from './options.ts';
import { HIDDEN, hideSecret, hideUrlSecrets, isReference, isSecretHeader } from './secrets.ts';

/** The position of a text in options: the option, then keys and indices inside it. */
export type OptionPath = readonly (string | number)[];

// Deeper options are refused when they are checked.
const DEPTH_MAX = 64;

/** Options with references replaced by their secrets. Throws like `resolve`. */
export function resolveSecrets<Table extends OptionTable>(
  table: Table,
  options: Options,
  resolve: (text: string) => string,
): OptionsOf<Table> {
  return optionsOf(table, (spec, name) => {
    const value = options[name] ?? spec.default;
    if (typeof value === 'string') {
      const isUsed = spec.isSecret === true ? value !== '' : holdsCredentials(spec, value);
      return isUsed ? resolve(value) : value;
    }
    if (!isTextMap(spec, value)) return value;
    const resolved = Object.entries(value).map(
      ([key, text]) =>
        [key, isSecretText(spec, key) && text !== '' ? resolve(text) : text] as const,
    );
    return Object.fromEntries(resolved);
  });
}

/** Position of the marker in place of a secret; `undefined` if there is none. */
export function findHidden(options: Options): string | undefined {
  let found: string | undefined;
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === 'bigint') continue;
    mapTexts(value, [name], (text, path) => {
      if (text.includes(HIDDEN)) found ??= pathText(path);
      return text;
    });
  }
  return found;
}

/** A printed value of an option, without secrets. */
export function showOption(spec: OptionSpec, value: JsonValue): JsonValue {
  return mapTexts(value, [''], (text, path) => shownText(spec, path, text));
}

/** A printed text of an option; for an option in no table, without secrets in its URLs. */
export function shownText(spec: OptionSpec | undefined, path: OptionPath, text: string): string {
  if (spec === undefined) return hideUrlSecrets(text);
  const key = path[1];
  const isSecret = spec.isSecret === true || (typeof key === 'string' && isSecretText(spec, key));
  return isSecret ? hideSecret(text) : hideUrlSecrets(text);
}

// `basic-auth` is a map that is a secret as a whole.
function isSecretText(spec: OptionSpec, key: string): boolean {
  if (spec.isSecret === true) return key === 'password';
  return spec.isHeaders === true && isSecretHeader(key);
}

function holdsCredentials(spec: OptionSpec, value: string): boolean {
  return spec.isReceiver === true && (isReference(value) || hideUrlSecrets(value) !== value);
}

function isTextMap(
  spec: OptionSpec,
  value: OptionValue | undefined,
): value is Readonly<Record<string, string>> {
  return spec.type === 'string-map' && value !== null && typeof value === 'object';
}

/** A value with every text in it replaced. */
export function mapTexts(
  value: JsonValue,
  path: OptionPath,
  change: (text: string, path: OptionPath) => string,
): JsonValue {
  if (typeof value === 'string') return change(value, path);
  if (value === null || typeof value !== 'object' || path.length > DEPTH_MAX) return value;
  if (isList(value)) return value.map((item, i) => mapTexts(item, [...path, i], change));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, [...path, key], change)]),
  );
}

// `Array.isArray` does not know lists that are read-only.
function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A position, as errors name it. */
export function pathText(path: OptionPath): string {
  return path.join('.');
}
