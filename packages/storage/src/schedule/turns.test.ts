import { beforeEach, expect, test } from 'vitest';

import { Turns } from './turns.ts';
import type { Work } from './turns.ts';

const SLICE_MS = 3;

let nowMs: number;
let rounds: (() => void)[];
let turns: Turns;
let order: string[];

beforeEach(() => {
  nowMs = 0;
  rounds = [];
  order = [];
  const clock = { now: () => 0n, monotonicMs: () => nowMs, sleep: () => Promise.resolve() };
  turns = new Turns({ clock, sliceMs: SLICE_MS, nextRound: (run) => rounds.push(run) });
});

/** Waits for the next round of the event loop; work that got its turn has begun by then. */
async function nextRound(): Promise<void> {
  for (const run of rounds.splice(0)) run();
  await Promise.resolve();
}

/** Work in steps of a millisecond, like a flush or a query. */
async function work(kind: Work, name: string, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    const turn = turns.isOver ? turns.enter(kind, i) : undefined;
    if (turn !== undefined) await turn;
    order.push(name);
    nowMs++;
  }
}

test('work goes on at once while there is time, and nobody is left to be called', async () => {
  expect(turns.enter('query')).toBeUndefined();
  nowMs += SLICE_MS - 1;
  expect(turns.enter('write')).toBeUndefined();
  expect(turns.isOver).toBe(false);
  nowMs += 1;
  expect(turns.isOver).toBe(true);

  await nextRound();
  await nextRound();
  expect(rounds).toEqual([]);
  expect(turns.enter('background')).toBeUndefined();
});

test('work that arrives after a used-up slice waits one round, not for the end of other work', async () => {
  void work('background', 'flush', 9);
  expect(order).toEqual(['flush', 'flush', 'flush']);

  void work('query', 'query', 1);
  expect(order).not.toContain('query');
  // The rest of the round in which the flush began, and the next one.
  await nextRound();
  await nextRound();
  expect(order.slice(3)).toEqual(['query']);
  while (rounds.length > 0) await nextRound();
  expect(order.filter((name) => name === 'flush')).toHaveLength(9);
});

test('kinds of work take turns, those of one kind come in order', async () => {
  for (const name of ['a', 'b', 'c']) void work('query', name, SLICE_MS);
  void work('write', 'w', SLICE_MS);
  void work('background', 'f', 2 * SLICE_MS);
  void work('write', 'x', SLICE_MS);
  while (rounds.length > 0) await nextRound();

  const slices = order.filter((_, i) => i % SLICE_MS === 0);
  // The first query found nobody waiting; then every second turn is a query's while one waits.
  expect(slices).toEqual(['a', 'w', 'b', 'f', 'c', 'x', 'f']);
});

test('of queries that wait, the one that has used least time is next', async () => {
  void work('query', 'report', 10 * SLICE_MS);
  await nextRound();
  await nextRound();
  for (const name of ['a', 'b']) void work('query', name, 2 * SLICE_MS);
  while (rounds.length > 0) await nextRound();

  const slices = order.filter((_, i) => i % SLICE_MS === 0);
  // Both panels are answered before the report goes on.
  expect(slices.lastIndexOf('b')).toBeLessThan(slices.indexOf('report', 2));
  expect(slices.filter((name) => name === 'report')).toHaveLength(10);
  expect(slices.slice(-7)).toEqual(Array.from({ length: 7 }, () => 'report'));
});

test('a query that has used much goes on when it has waited long, however many others come', async () => {
  const REPORT_MS = 40;
  void work('query', 'report', REPORT_MS + SLICE_MS);
  while (nowMs < REPORT_MS) await nextRound();
  const from = order.length;
  // There is always one that waits.
  for (let i = 0; i < 400; i++) {
    void work('query', 'panel', SLICE_MS);
    if (i === 0) void work('query', 'panel', SLICE_MS);
    await nextRound();
  }

  const waitedMs = order.slice(from).indexOf('report');
  expect(waitedMs).toBeGreaterThan(2 * SLICE_MS);
  expect(waitedMs).toBeLessThan(10 * REPORT_MS);
});

test('a query that comes alone is next, however many others wait', async () => {
  for (const kind of ['write', 'background', 'flush'] as const) {
    for (let i = 0; i < 5; i++) void work(kind, kind, 2 * SLICE_MS);
  }
  for (let round = 0; round < 12; round++) {
    await nextRound();
    const before = order.length;
    void work('query', `query ${round}`, 1);
    await nextRound();
    expect(order.slice(before)).toEqual([`query ${round}`]);
    // The next turn belongs to others.
    await nextRound();
    expect(order.length).toBeGreaterThan(before + 1);
  }
});

test('work that arrives while messages are read waits for the next turn', async () => {
  void work('write', 'first', 2 * SLICE_MS);
  void work('write', 'second', SLICE_MS);
  // The round in which the first has begun ends, and messages are read again.
  await nextRound();
  void work('query', 'query', 1);
  await nextRound();

  expect(order.slice(SLICE_MS)).toEqual(['query']);
});

test('no slice is longer than allowed, whatever is under way', async () => {
  const began: number[] = [];
  const kinds: readonly Work[] = ['query', 'write', 'background'];
  const steps = Array.from({ length: 30 }, (_, i) => 1 + (i % 7));
  steps.forEach((count, i) => void work(kinds[i % 3]!, String(i), count));
  let before = nowMs;
  do {
    began.push(nowMs - before);
    before = nowMs;
    await nextRound();
  } while (rounds.length > 0);

  expect(Math.max(...began)).toBe(SLICE_MS);
  expect(order).toHaveLength(steps.reduce((sum, count) => sum + count, 0));
});

test('a flush has three turns for each of a compaction, and writes half as many as both', async () => {
  expect(turns.enter('query')).toBeUndefined();
  nowMs += SLICE_MS;
  void work('background', 'compaction', 60);
  void work('flush', 'flush', 30);
  void work('write', 'write', 30);
  while (rounds.length > 0) await nextRound();

  const ended = order.lastIndexOf('flush');
  const before = order.slice(0, ended + 1);
  const compactions = before.filter((name) => name === 'compaction').length;
  // Writes have the first turn.
  const turnsOfOthers = (30 + compactions) / SLICE_MS;
  const writes = before.filter((name) => name === 'write');
  expect(writes).toHaveLength(Math.ceil(turnsOfOthers / 2) * SLICE_MS);
  expect(compactions).toBeLessThanOrEqual(12);
  expect(before).toContain('compaction');
});
