// A number that grows whenever a schema look-up could answer differently: series that appear or go,
// fields, shards. It lies in shared memory, so that another thread may keep answers and see without
// a message that they still hold.

/** One counter per thread: engines that share a thread only make each other look busier. */
let counter = new Int32Array(new SharedArrayBuffer(4));

/** Counts in `shared` from now on; its present value must not have been seen with other answers. */
export function shareSchemaVersion(shared: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(shared, 0, schemaVersion());
  counter = shared;
}

/** To be called in the turn of the event loop in which the schema changes. */
export function schemaChanged(): void {
  Atomics.add(counter, 0, 1);
}

export function schemaVersion(): number {
  return Atomics.load(counter, 0);
}
