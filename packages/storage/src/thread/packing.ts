// How batches of a read cross between threads. Large arrays are transferred; small ones are packed
// into a few buffers, because each buffer of a message costs as much as copying some kilobytes, and
// each object as much as some values.
import { MessageBuffers } from './message-buffers.ts';

/** The packing of batches `B`, of which `P` stands for several consecutive ones. */
export type BatchPacking<B, P = never> = {
  /** Size of a batch, texts included: limits the size of messages. */
  sizeOf(batch: B): number;
  /** Packs the batches from `at` on; `undefined` if they have to cross one by one. */
  packRun?(batches: readonly B[], at: number, buffers: MessageBuffers): PackedRun<P> | undefined;
  /** Moves the arrays of a batch to buffers of the message. */
  packOne?(batch: B, buffers: MessageBuffers): B;
  /** The batches of a run; `undefined` for a batch that crossed alone. */
  unpackRun?(sent: B | P): readonly B[] | undefined;
};

export type PackedRun<P> = { readonly sent: P; readonly count: number };

/** A batch as it is sent, or a run of them. */
export type Prepared<B, P> = {
  readonly prepared: readonly (B | P)[];
  readonly transfer: readonly ArrayBuffer[];
};

/** Prepares batches, which must not be used any more, and lists the buffers to transfer. */
export function prepareBatches<B, P>(
  packing: BatchPacking<B, P>,
  batches: readonly B[],
): Prepared<B, P> {
  const buffers = new MessageBuffers();
  const prepared: (B | P)[] = [];
  for (let at = 0; at < batches.length;) {
    const run = packing.packRun?.(batches, at, buffers);
    if (run === undefined) {
      const batch = batches[at++]!;
      prepared.push(packing.packOne?.(batch, buffers) ?? batch);
    } else {
      prepared.push(run.sent);
      at += run.count;
    }
  }
  return { prepared, transfer: buffers.all };
}

/** Restores the batches of a message. Arrays of packed batches are views of the message. */
export function receivedBatches<B, P>(
  packing: BatchPacking<B, P>,
  sent: readonly (B | P)[],
): readonly B[] {
  if (packing.unpackRun === undefined) return sent as readonly B[];
  const batches: B[] = [];
  for (const each of sent) {
    const run = packing.unpackRun(each);
    if (run === undefined) batches.push(each as B);
    else for (const batch of run) batches.push(batch);
  }
  return batches;
}
