// Writes of a simulation on their way to the engine: as in the service, they lie in a ring, and
// what comes while a group becomes durable is the next group.
import { assert } from '@tidemark/core';
import type { WriteLinesRequest, WriteOutcome } from '@tidemark/storage-api';

import { GatheredWrites } from '../../../thread/gathered-writes.ts';
import { RingReader, ringMemory, RingWriter } from '../../../thread/write-ring.ts';
import type { SmallWrite } from '../../../thread/write-ring.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Subject } from './subject.ts';

type Waiting = {
  readonly resolve: (outcome: Promise<WriteOutcome>) => void;
  readonly reject: (error: unknown) => void;
};

export class MessageWrites {
  readonly #engine: Subject['engine'];
  readonly #scheduler: Scheduler;
  readonly #onJointMessage: () => void;
  readonly #ring: RingWriter;
  readonly #gathered: GatheredWrites;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(
    engine: Subject['engine'],
    {
      scheduler,
      onJointMessage,
    }: { readonly scheduler: Scheduler; readonly onJointMessage: () => void },
  ) {
    this.#engine = engine;
    this.#scheduler = scheduler;
    this.#onJointMessage = onJointMessage;
    const memory = ringMemory();
    this.#ring = new RingWriter(memory);
    this.#gathered = new GatheredWrites({
      ring: new RingReader(memory),
      clock: scheduler.clock,
      make: (writes, onDone) => this.#make(writes, onDone),
    });
  }

  write(request: WriteLinesRequest): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      assert(this.#ring.add(id, request), 'a simulation has few and small writes');
      if (this.#ring.mustWake()) this.#scheduler.run('message', () => this.#gathered.take());
    });
  }

  #make(writes: readonly SmallWrite[], onDone: () => void): void {
    if (writes.length > 1) this.#onJointMessage();
    const waiting = writes.map(({ id }) => {
      const one = this.#waiting.get(id);
      assert(one !== undefined, 'a write is taken once');
      this.#waiting.delete(id);
      return one;
    });
    try {
      const outcomes = this.#engine.writeTogether(writes.map(({ request }) => request));
      for (const [i, { resolve }] of waiting.entries()) resolve(outcomes[i]!);
      void Promise.allSettled(outcomes).then(onDone); // Never rejects.
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      onDone();
    }
  }
}
