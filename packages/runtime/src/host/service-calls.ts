// Calls of the tasks of a host to services in the engine's thread, until they are answered.
import type { HostItem, ServiceCall } from './protocol.ts';

type Call = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

export class ServiceCalls {
  readonly #tell: (item: HostItem) => void;
  readonly #calls = new Map<number, Call>();
  #nextCall = 1;

  constructor(tell: (item: HostItem) => void) {
    this.#tell = tell;
  }

  /** Rejects when the service refuses, or when it is cancelled by the signal. */
  call(task: number, call: ServiceCall, signal?: AbortSignal): Promise<unknown> {
    const id = this.#nextCall++;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Error('cancelled'));
        return;
      }
      const onAbort = (): void => {
        this.#tell({ kind: 'cancel', id });
        this.refuse(id, 'cancelled');
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const settled = (): void => signal?.removeEventListener('abort', onAbort);
      this.#calls.set(id, {
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#tell({ kind: 'call', id, task, call });
    });
  }

  reply(id: number, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  refuse(id: number, message: string): void {
    this.#take(id)?.reject(new Error(message));
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }
}
