// A hash of text that may come in several pieces.

/** A random initial value, so that clients cannot choose texts that collide. */
export function hashSeed(): number {
  const [seed = 0] = crypto.getRandomValues(new Int32Array(1));
  return seed;
}

/** Continues a hash with the characters `[start, end)` of a text. */
export function hashText(hash: number, text: string, start = 0, end = text.length): number {
  let h = hash;
  for (let i = start; i < end; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x5bd1e995);
    h ^= h >>> 15;
  }
  return h;
}
