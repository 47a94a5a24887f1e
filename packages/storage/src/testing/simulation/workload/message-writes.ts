// Writes of a simulation on their way: as in the service, those that wait for the same message come
// to the engine together.
import type { WriteLinesRequest, WriteOutcome } from '@tidemark/storage-api';

import type { Scheduler } from '../scheduler.ts';
import type { Subject } from './subject.ts';

type Waiting = {
  readonly request: WriteLinesRequest;
  readonly resolve: (outcome: Promise<WriteOutcome>) => void;
  readonly reject: (error: unknown) => void;
};

export class MessageWrites {
  readonly #engine: Subject['engine'];
  readonly #scheduler: Scheduler;
  readonly #onJointMessage: () => void;
  #waiting: Waiting[] = [];

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
  }

  write(request: WriteLinesRequest): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (this.#waiting.length === 1) this.#scheduler.run('message', () => this.#deliver());
    });
  }

  #deliver(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    if (writes.length > 1) this.#onJointMessage();
    try {
      const outcomes = this.#engine.writeTogether(writes.map(({ request }) => request));
      for (const [i, { resolve }] of writes.entries()) resolve(outcomes[i]!);
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }
}
