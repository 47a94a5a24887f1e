// Something that others wait for, and its way to tell them.

export type Opening = { readonly promise: Promise<void>; readonly resolve: () => void };

export function opening(): Opening {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
