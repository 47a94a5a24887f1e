// A value that others can wait for, and the function that sets it.

export type Deferred = { readonly promise: Promise<void>; readonly resolve: () => void };

export function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
