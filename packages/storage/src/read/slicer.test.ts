import { Cancelled } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { expect, test } from 'vitest';

import { MemoryTotal, RequestMemory } from './request-memory.ts';
import { Turns } from '../schedule/turns.ts';
import { sliced } from './slicer.ts';

const SLICE_MS = 3;

/** Endless work of a millisecond a step, and the rounds of the event loop that it waits for. */
function endlessWork(signal: AbortSignal) {
  const state = { nowMs: 0, steps: 0, isClosed: false, rounds: [] as (() => void)[] };
  const clock = { now: () => 0n, monotonicMs: () => state.nowMs, sleep: () => Promise.resolve() };
  const nextRound = (run: () => void): void => void state.rounds.push(run);
  const turns = new Turns({ clock, sliceMs: SLICE_MS, nextRound });
  function* work(): Generator<undefined> {
    try {
      for (;;) {
        state.nowMs++;
        state.steps++;
        yield undefined;
      }
    } finally {
      state.isClosed = true;
    }
  }
  const memory = new RequestMemory(undefined, new MemoryTotal());
  const driven = eachBatch(sliced<never>(work(), { turns, signal, memory }));
  return { state, first: driven.next() };
}

async function playRound(rounds: (() => void)[]): Promise<void> {
  for (const run of rounds.splice(0)) run();
  await new Promise((resolve) => setImmediate(resolve));
}

test('a query works a slice per round of the event loop', async () => {
  const { state, first } = endlessWork(new AbortController().signal);
  first.catch(() => undefined); // It goes on for ever.
  await playRound([]);
  expect(state.steps).toBe(SLICE_MS);

  // The rest of the round in which it came.
  await playRound(state.rounds);
  for (let round = 2; round <= 10; round++) {
    await playRound(state.rounds);
    expect(state.steps).toBe(round * SLICE_MS);
  }
});

test('a cancelled query makes no further step and is closed', async () => {
  const abort = new AbortController();
  const { state, first } = endlessWork(abort.signal);
  await playRound([]);
  await playRound(state.rounds);
  await playRound(state.rounds);

  abort.abort(new Error('enough'));
  const ended = expect(first).rejects.toThrow(Cancelled);
  await playRound(state.rounds);
  await ended;

  expect(state.steps).toBe(2 * SLICE_MS);
  expect(state.isClosed).toBe(true);
});
