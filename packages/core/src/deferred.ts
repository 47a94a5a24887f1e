// A value that others can wait for, and the function that sets it.

export type Deferred<T = void> = {
  readonly promise: Promise<T>;
  /** Only the first call counts. */
  readonly resolve: (value: T) => void;
};

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
