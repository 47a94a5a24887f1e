// Parameters of a request: from the URL, from a form, or both. Values keep their order and may
// repeat.

import { InvalidRequest } from '@tidemark/core';

/** Decodes `%41` and `+`; a percent sign that starts no byte stays as it is. */
function decodeFormText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Not UTF-8, or a stray percent sign: decode what can be decoded.
    return decodeBytes(spaced);
  }
}

function decodeBytes(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const hex = bytes[i] === 0x25 ? bytes.toString('latin1', i + 1, i + 3) : '';
    if (/^[0-9a-f]{2}$/i.test(hex)) {
      out[length++] = Number.parseInt(hex, 16);
      i += 2;
    } else out[length++] = bytes[i] ?? 0;
  }
  return out.toString('utf8', 0, length);
}

function limitCount(text: string, maxCount: number): void {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count <= maxCount) continue;
    throw new InvalidRequest(tooManyParameters(maxCount), { hint: 'raise http.max-parameters' });
  }
}

/** The error of a request with too many parameters. */
export function tooManyParameters(maxCount: number): string {
  return `max-parameters limit exceeded: (${maxCount}). setting=\`http.max-parameters\``;
}

/**
 * Named values. `get` returns the first one; an absent one is the empty text, as clients expect.
 */
export class Parameters {
  readonly #values = new Map<string, string[]>();

  /**
   * Reads `a=1&b=2`; a name without `=` has the empty value. Throws `InvalidRequest` if there are
   * more than `maxCount`; 0 is no limit.
   */
  static parse(text: string, maxCount = 0): Parameters {
    const parameters = new Parameters();
    if (text === '') return parameters;
    if (maxCount > 0) limitCount(text, maxCount);
    for (const part of text.split('&')) {
      if (part === '') continue;
      const equals = part.indexOf('=');
      const name = equals < 0 ? part : part.slice(0, equals);
      const value = equals < 0 ? '' : part.slice(equals + 1);
      parameters.add(decodeFormText(name), decodeFormText(value));
    }
    return parameters;
  }

  add(name: string, value: string): void {
    const values = this.#values.get(name);
    if (values === undefined) this.#values.set(name, [value]);
    else values.push(value);
  }

  get(name: string): string {
    return this.#values.get(name)?.[0] ?? '';
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Values of a form come before those of the URL. */
  merge(other: Parameters): void {
    for (const [name, values] of other.#values) {
      this.#values.set(name, [...values, ...(this.#values.get(name) ?? [])]);
    }
  }
}
