// Estimates the memory of a plan: plain data, walked without recursion. Data that several plans
// share counts for each of them.

// Measured with V8: headers, slots and hash tables of small objects.
const OBJECT_BYTES = 32;
const SLOT_BYTES = 8;
const ENTRY_BYTES = 40;
const TEXT_BYTES = 24;

/** The size of `values` in bytes, or any larger number than `maxBytes` if it is exceeded. */
export function weightOf(values: readonly unknown[], maxBytes: number): number {
  const seen = new Set<object>();
  const waiting: unknown[] = [...values];
  let bytes = 0;
  while (waiting.length > 0 && bytes <= maxBytes) {
    const value = waiting.pop();
    if (typeof value === 'string') bytes += TEXT_BYTES + value.length;
    else if (typeof value === 'bigint') bytes += TEXT_BYTES;
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    bytes += OBJECT_BYTES;
    if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (value instanceof Map) {
      bytes += ENTRY_BYTES * value.size;
      // Without a look at the thousands of fields of a measurement.
      if (bytes > maxBytes) return bytes;
      for (const [key, inner] of value) waiting.push(key, inner);
    } else {
      const inner: readonly unknown[] =
        value instanceof Set ? [...(value as Set<unknown>)] : Object.values(value);
      bytes += (value instanceof Set ? ENTRY_BYTES : SLOT_BYTES) * inner.length;
      waiting.push(...inner);
    }
  }
  return bytes;
}
