// The slices in a directory, and the time each took.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Cost } from './cluster-service.ts';

/** The same rows both ways. */
export type Slice = { readonly own: Cost; readonly plain: Cost };

const fileOf = (directory: string): string => join(directory, 'slices.jsonl');

/** Those that are loaded, in their order. */
export function slicesOf(directory: string): readonly Slice[] {
  const file = fileOf(directory);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Slice);
}

/** Says that the next slice is loaded. */
export function noteSlice(directory: string, slice: Slice): void {
  appendFileSync(fileOf(directory), `${JSON.stringify(slice)}\n`);
}
