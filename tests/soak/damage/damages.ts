// Kinds of damage to a file, and their positions.
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';

/** Positions in a file: its ends have other content than its middle. */
const POSITIONS = {
  first: () => 0,
  header: (size: number, random: () => number) => Math.floor(random() * Math.min(16, size)),
  early: (size: number, random: () => number) => Math.floor((random() * size) / 10),
  middle: (size: number, random: () => number) => Math.floor(size * (0.1 + 0.8 * random())),
  late: (size: number, random: () => number) => Math.max(0, size - 1 - Math.floor(random() * 64)),
  last: (size: number) => size - 1,
} as const;

type Position = keyof typeof POSITIONS;

export type Damage = {
  /** As it is printed. */
  readonly name: string;
  readonly kind: 'flip' | 'garble' | 'cut' | 'extend' | 'delete';
  /** Byte of the file that is the first to be another one. */
  readonly at: number;
  readonly apply: (path: string) => void;
};

/** One damage of each kind at each position of a file of that size. */
export function damagesOf(size: number, random: () => number): Damage[] {
  const damages: Damage[] = [
    { name: 'delete', kind: 'delete', at: 0, apply: (path) => rmSync(path) },
    { name: 'empty', kind: 'cut', at: 0, apply: (path) => truncateSync(path, 0) },
    ...extensions(size, random),
  ];
  if (size === 0) return damages;
  for (const position of Object.keys(POSITIONS) as Position[]) {
    const at = POSITIONS[position](size, random);
    const bit = 1 << Math.floor(random() * 8);
    const change = (make: (bytes: Buffer) => void) => (path: string) => {
      const bytes = readFileSync(path);
      make(bytes);
      writeFileSync(path, bytes);
    };
    const flip = change((bytes) => void (bytes[at]! ^= bit));
    damages.push({ name: `flip ${bit} at ${at} of ${size}`, kind: 'flip', at, apply: flip });
    const garble = change((bytes) => {
      for (let i = at; i < Math.min(size, at + 64); i++) bytes[i]! ^= 0xff;
    });
    damages.push({ name: `garble at ${at} of ${size}`, kind: 'garble', at, apply: garble });
    if (at === 0) continue;
    const apply = (path: string): void => truncateSync(path, at);
    damages.push({ name: `cut at ${at} of ${size}`, kind: 'cut', at, apply });
  }
  return damages;
}

function extensions(size: number, random: () => number): Damage[] {
  const count = 1 + Math.floor(random() * 200);
  const noise = Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
  return [
    {
      name: `extend by ${count}`,
      kind: 'extend',
      at: size,
      apply: (path) => appendFileSync(path, noise),
    },
    {
      name: 'extend by itself',
      kind: 'extend',
      at: size,
      apply: (path) => appendFileSync(path, readFileSync(path)),
    },
  ];
}
