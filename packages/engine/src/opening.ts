// A value that others can wait for, and the function that sets it.

export type Opening = { readonly promise: Promise<void>; readonly resolve: () => void };

export function opening(): Opening {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
