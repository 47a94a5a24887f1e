// Hash of a text that lies in pieces.

/** Where a hash begins. Random, so that clients can not choose texts that collide. */
export function hashSeed(): number {
  const [seed = 0] = crypto.getRandomValues(new Int32Array(1));
  return seed;
}

/** Goes on with the characters `[start, end)` of a text. */
export function hashText(hash: number, text: string, start = 0, end = text.length): number {
  let h = hash;
  for (let i = start; i < end; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x5bd1e995);
    h ^= h >>> 15;
  }
  return h;
}
