// Values of vars as typed text.
import type { TaskVar } from '@tidemark/client';
import { parseDuration } from '@tidemark/tickscript';

/** The value of a var as text; empty without a value. */
export function printVar(type: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (type === 'duration') return `${String(value)}ns`;
  if (!Array.isArray(value)) return String(value);
  return value.map((each: { readonly value?: unknown }) => String(each.value ?? '')).join(', ');
}

/**
 * Converts a text to a var of a type. Invalid texts are left to the engine, which reports the
 * error.
 */
export function readVar(type: string, text: string): TaskVar {
  switch (type) {
    case 'bool':
      return { type, value: text.trim().toLowerCase() === 'true' };
    case 'int':
      return { type, value: /^-?\d+$/.test(text.trim()) ? BigInt(text.trim()) : text };
    case 'float':
      return {
        type,
        value: text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text),
      };
    case 'duration': {
      const parsed = parseDuration(text.trim());
      return { type, value: parsed ?? text };
    }
    case 'list':
      return {
        type,
        value: text.split(',').map((each) => ({ type: 'string', value: each.trim() })),
      };
    default:
      return { type, value: text };
  }
}
