// Copies messages between the threads of a simulation, as `structuredClone` does, in a fraction of
// its time: neither side sees what the other one changes, and nothing but data gets through.

export function copied<T>(message: T): T {
  return copyOf(message) as T;
}

function copyOf(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`a message between threads cannot carry a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  if (Buffer.isBuffer(value)) return Uint8Array.from(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyOfFields(value);
  if (value instanceof Map)
    return new Map([...value].map(([key, each]) => [copyOf(key), copyOf(each)]));
  if (value instanceof Set) return new Set([...value].map(copyOf));
  return structuredClone(value);
}

function copyOfFields(fields: object): object {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) copy[name] = copyOf(value);
  return copy;
}
