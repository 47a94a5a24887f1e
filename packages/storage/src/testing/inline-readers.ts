// Readers in the same thread: what crosses is cloned as between threads, in the order in which it
// is sent.
import { ReadKernels } from '../columns/read-kernels.ts';
import type { Disk } from '../disk/disk.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { MakeReaders } from '../read/leased-read.ts';
import { systemClock } from '@tidemark/core';
import { ReaderServer } from '../thread/reader-server.ts';
import { Readers } from '../thread/readers.ts';
import type { FromReader, Generated, RunningReader } from '../thread/readers.ts';

/** What a test knows of the readers, and may change. */
export type InlineReaders = {
  readonly make: MakeReaders;
  rowsMin: number;
  readonly started: number;
  /** Ends the running reader, as a thread that fails. */
  kill(): void;
  /** Whether messages to readers wait, until this is set to false. */
  isHeld: boolean;
};

export function inlineReaders(disk: Disk = nodeDisk()): InlineReaders {
  let started = 0;
  let kill = (): void => undefined;
  let held: (() => void)[] | undefined;
  const deliver = (run: () => void): void => {
    if (held === undefined) setImmediate(run);
    else held.push(run);
  };
  const start = (
    directory: string,
    onMessage: (message: Generated<FromReader>) => void,
    onEnd: (reason: Error) => void,
  ): RunningReader => {
    started++;
    let isOver = false;
    const server = new ReaderServer({
      disk,
      directory,
      kernels: new ReadKernels(1 << 20),
      clock: systemClock(),
      sliceMs: 5,
      post: (message, transfer = []) => {
        const clone = structuredClone(message, { transfer: [...transfer] });
        setImmediate(() => {
          if (!isOver) onMessage(clone);
        });
      },
    });
    const end = (): void => {
      isOver = true;
      server.close();
    };
    kill = () => {
      if (isOver) return;
      end();
      onEnd(new Error('killed'));
    };
    return {
      post: (message) => {
        const clone = structuredClone(message);
        deliver(() => {
          if (!isOver) server.handle(clone);
        });
      },
      end: async () => end(),
    };
  };
  const inline: InlineReaders = {
    make: ({ directory, leases }) =>
      new Readers({
        start: (onMessage, onEnd) => start(directory, onMessage, onEnd),
        leases,
        generation: 1,
        idleMs: 60_000,
        get rowsMin() {
          return inline.rowsMin;
        },
      }),
    rowsMin: 0,
    get started() {
      return started;
    },
    kill: () => kill(),
    get isHeld() {
      return held !== undefined;
    },
    set isHeld(isHeld) {
      const runs = held ?? [];
      held = isHeld ? [] : undefined;
      for (const run of runs) deliver(run);
    },
  };
  return inline;
}
