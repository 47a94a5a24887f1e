import { expect, test } from 'vitest';

import { Pipe } from './pipe.ts';

async function readAll(pipe: Pipe<number>): Promise<number[]> {
  const values: number[] = [];
  for await (const value of pipe) values.push(value);
  return values;
}

test('values arrive in order and a write waits until the reader wants more', async () => {
  const pipe = new Pipe<number>();
  const reader = pipe[Symbol.asyncIterator]();
  let isWritten = false;
  const first = reader.next();
  const write = pipe.write(1).then(() => {
    isWritten = true;
  });

  expect(await first).toEqual({ done: false, value: 1 });
  expect(isWritten).toBe(false);
  const second = reader.next();
  await write;
  const next = pipe.write(2);
  expect(await second).toEqual({ done: false, value: 2 });
  pipe.end();
  expect(await reader.next()).toEqual({ done: true, value: undefined });
  await next;
});

test('a value that was written before the end is read', async () => {
  const pipe = new Pipe<number>();
  const all = readAll(pipe);
  await pipe.write(1);
  await pipe.write(2);
  pipe.end();

  expect(await all).toEqual([1, 2]);
});

test('a broken pipe tells both ends why', async () => {
  const pipe = new Pipe<number>();
  const all = readAll(pipe);
  await pipe.write(1);
  const reason = new Error('enough');
  pipe.breakOff(reason);

  await expect(all).rejects.toThrow(reason);
  await expect(pipe.write(2)).rejects.toThrow(reason);
});

test('a reader that leaves breaks the pipe', async () => {
  const pipe = new Pipe<number>();
  const first = (async () => {
    for await (const value of pipe) return value;
    return 0;
  })();
  const write = pipe.write(1);

  expect(await first).toBe(1);
  await expect(write).rejects.toThrow('nobody reads');
  await expect(pipe.write(2)).rejects.toThrow('nobody reads');
});
