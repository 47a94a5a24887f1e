// A table of figures, a column for each server that is measured.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Subject } from './beside-influxdb.ts';
import { processorMs } from './processor.ts';

/** Nothing is written to disk any more when its size has been the same for so long. */
const REST_MS = 10_000;
const REST_MAX_MS = 60_000;

export function showNames(subjects: readonly Subject[]): void {
  const names = subjects.map(({ name }) => name.padStart(12)).join('');
  process.stdout.write(`${''.padEnd(72)}${names}\n`);
}

export function show(what: string, figures: readonly number[]): void {
  const cells = figures.map((figure) => figure.toFixed(figure < 100 ? 2 : 0).padStart(12));
  process.stdout.write(`${what.padEnd(72)}${cells.join('')}\n`);
}

/** One after the other. */
export async function each<T>(
  subjects: readonly Subject[],
  figure: (subject: Subject) => Promise<T> | T,
): Promise<T[]> {
  const figures: T[] = [];
  for (const subject of subjects) figures.push(await figure(subject));
  return figures;
}

/** Shows time on the clock and CPU of some work; the time. */
export async function note(
  subjects: readonly Subject[],
  what: string,
  work: (subject: Subject) => Promise<void>,
): Promise<number[]> {
  const cpu: number[] = [];
  const costs = await each(subjects, async (subject) => {
    const before = processorMs(subject.pid);
    const began = performance.now();
    await work(subject);
    const ms = performance.now() - began;
    cpu.push(processorMs(subject.pid) - before);
    return ms;
  });
  show(`${what}, ms`, costs);
  show(`${what}, CPU ms`, cpu);
  return costs;
}

/** Resolves when the server writes nothing any more. */
export async function rest({ directory }: Pick<Subject, 'directory'>): Promise<void> {
  const end = performance.now() + REST_MAX_MS;
  let size = -1;
  for (let since = 0; performance.now() < end;) {
    const now = sizeMb(directory);
    if (now !== size) since = performance.now();
    size = now;
    if (performance.now() - since > REST_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Files that hold data: not the room that is kept in reserve. */
export function sizeMb(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('RESERVE') || name.endsWith('reserve')) continue;
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.size;
  }
  return bytes / 1e6;
}
