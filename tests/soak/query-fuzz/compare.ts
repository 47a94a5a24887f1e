// Compares two results. Everything is compared exactly except floats, whose last digits depend on
// the order of summation.

/** The relative difference that two floats may have. */
export const FLOAT_TOLERANCE = 1e-9;

/** Integers that a float cannot hold exactly are compared as text. */
const LONG_INTEGER = /([[,:]\s*)(-?\d{16,})(?=\s*[,\]}])/g;

/**
 * Describes the first difference of two answers, as a path and both values; `undefined` when they
 * agree.
 */
export function firstDifference(reference: string, candidate: string): string | undefined {
  if (reference.trim() === candidate.trim()) return undefined;
  const left = parseAnswer(reference);
  const right = parseAnswer(candidate);
  if (left === undefined || right === undefined) return '$: not JSON';
  return differenceAt('$', left.value, right.value);
}

/** The document of an answer; `undefined` when it is none. */
export function parseAnswer(answer: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(answer.replace(LONG_INTEGER, '$1"$2"')) };
  } catch {
    // The reference server answers with bare text where a number cannot be written as JSON.
    return undefined;
  }
}

function differenceAt(path: string, left: unknown, right: unknown): string | undefined {
  if (Object.is(left, right)) return undefined;
  if (typeof left === 'number' && typeof right === 'number') {
    const size = Math.max(Math.abs(left), Math.abs(right));
    if (Math.abs(left - right) <= size * FLOAT_TOLERANCE) return undefined;
  } else if (Array.isArray(left) && Array.isArray(right)) {
    return differenceOfLists(path, left, right);
  } else if (isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const difference = differenceAt(`${path}.${key}`, left[key], right[key]);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return `${path}: ${shown(left)} against ${shown(right)}`;
}

function differenceOfLists(
  path: string,
  left: readonly unknown[],
  right: readonly unknown[],
): string | undefined {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = differenceAt(`${path}[${i}]`, left[i], right[i]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200);
}
