// The order of changes.
import { expect, test } from 'vitest';
import { ChangeLock } from './change-lock.ts';

/** Work that ends when it is told, and what has begun and ended so far. */
class Works {
  readonly events: string[] = [];
  readonly #ends = new Map<string, { resolve: () => void; reject: (reason: Error) => void }>();

  run(name: string): () => Promise<string> {
    return () => {
      this.events.push(`${name} begins`);
      return new Promise((resolve, reject) => {
        this.#ends.set(name, { resolve: () => resolve(name), reject });
      });
    };
  }

  async end(name: string, failure?: Error): Promise<void> {
    this.events.push(`${name} ends`);
    if (failure === undefined) this.#ends.get(name)?.resolve();
    else this.#ends.get(name)?.reject(failure);
    await settled();
  }
}

/** Everything that only waits for promises has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('changes of one id follow each other, those of others do not wait', async () => {
  const lock = new ChangeLock();
  const works = new Works();
  const first = lock.one('a', works.run('a1'));
  const second = lock.one('a', works.run('a2'));
  void lock.one('b', works.run('b'));
  await settled();
  await works.end('a1');

  expect(works.events).toEqual(['a1 begins', 'b begins', 'a1 ends', 'a2 begins']);
  expect(await first).toBe('a1');
  await works.end('a2');
  expect(await second).toBe('a2');
});

test('a change of everything waits for all before it, and all after it wait for it', async () => {
  const lock = new ChangeLock();
  const works = new Works();
  void lock.one('a', works.run('a1'));
  void lock.one('b', works.run('b1'));
  void lock.whole(works.run('whole'));
  void lock.one('a', works.run('a2'));
  void lock.one('c', works.run('c1'));
  await settled();
  await works.end('a1');
  await works.end('b1');
  await works.end('whole');

  expect(works.events).toEqual([
    'a1 begins',
    'b1 begins',
    'a1 ends',
    'b1 ends',
    'whole begins',
    'whole ends',
    'a2 begins',
    'c1 begins',
  ]);
});

test('a change that fails tells its caller and lets the next one begin', async () => {
  const lock = new ChangeLock();
  const works = new Works();
  const failing = lock.whole(works.run('whole'));
  const failure = expect(failing).rejects.toThrow('no');
  void lock.one('a', works.run('a'));
  await settled();
  await works.end('whole', new Error('no'));

  await failure;
  expect(works.events).toEqual(['whole begins', 'whole ends', 'a begins']);
});
