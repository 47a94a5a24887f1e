// A reader of a simulation: its messages are slow, it dies, and files cannot be opened. It is older
// than the engine that is opened again after a crash, as a thread would be that has not ended yet.
import { ReadKernels } from '../../../columns/read-kernels.ts';
import type { Disk } from '../../../disk/disk.ts';
import type { MakeReaders } from '../../../read/leased-read.ts';
import { ReaderServer } from '../../../thread/reader-server.ts';
import { Readers } from '../../../thread/readers.ts';
import type {
  FromReader,
  Generated,
  RunningReader,
  StartReader,
  ToReader,
} from '../../../thread/readers.ts';
import type { SimulatedDisk } from '../../simulated-disk.ts';
import type { Scheduler } from '../scheduler.ts';

/** Shared by all readers: they hold nothing that belongs to one run. */
let kernels: ReadKernels | undefined;

const DIRECTORY = '/data';
/** One message in this many kills the reader. */
const DEATH_ONE_OF = 50;
/** One file in this many is not there when it is opened. */
const MISSING_ONE_OF = 40;
/** One aggregate in this many is left to the reader. */
const LEASED_ONE_OF = 2;

/** Part of the texts of errors that a reader of the simulation may give. */
export const READER_FAULT = /the reader of the query has ended|made missing/;

export class SimulatedReader {
  readonly #scheduler: Scheduler;
  readonly #onError: (error: unknown) => void;
  readonly #onMark: (name: string) => void;
  #disk: SimulatedDisk | undefined;
  #server: ReaderServer | undefined;
  #post: Parameters<StartReader>[0] = () => undefined;
  #generation = 0;
  readonly #queues: unknown[][] = [];

  constructor(
    scheduler: Scheduler,
    on: {
      readonly error: (error: unknown) => void;
      readonly mark: (name: string) => void;
    },
  ) {
    this.#scheduler = scheduler;
    this.#onError = on.error;
    this.#onMark = on.mark;
  }

  /** The readers of an engine that is opened on a disk. */
  for(disk: SimulatedDisk): MakeReaders {
    this.#disk = disk;
    this.#generation++;
    // What was on its way when the engine ended does not arrive.
    for (const queue of this.#queues) queue.length = 0;
    const scheduler = this.#scheduler;
    return ({ leases }) =>
      new Readers({
        start: (onMessage, onEnd) => this.#start(onMessage, onEnd),
        leases,
        generation: this.#generation,
        idleMs: 60_000,
        get rowsMin() {
          return scheduler.isOneOf(LEASED_ONE_OF) ? 0 : Number.POSITIVE_INFINITY;
        },
      });
  }

  #start(onMessage: Parameters<StartReader>[0], onEnd: Parameters<StartReader>[1]): RunningReader {
    let isOver = false;
    this.#post = (message) => {
      if (!isOver) onMessage(message);
    };
    const die = (): void => {
      isOver = true;
      this.#server?.close();
      this.#server = undefined;
    };
    const inbox = this.#queue<Generated<ToReader>>('to a reader', (message) => {
      if (isOver) return;
      if (message.message.kind === 'read') this.#onMark('leased');
      if (this.#scheduler.isOneOf(DEATH_ONE_OF)) {
        this.#onMark('dead reader');
        die();
        onEnd(new Error('the reader of the query has ended'));
      } else (this.#server ??= this.#serve()).handle(message);
    });
    return {
      post: (message) => inbox(structuredClone(message)),
      end: async () => {
        await this.#scheduler.wait('end of a reader');
        die();
      },
    };
  }

  /** Delivers messages in their order, each when the seed chooses it. */
  #queue<T>(what: string, take: (message: T) => void): (message: T) => void {
    const waiting: T[] = [];
    this.#queues.push(waiting);
    const deliver = (): void => {
      this.#scheduler.run(`message ${what}`, () => {
        const message = waiting.shift()!;
        if (waiting.length > 0) deliver();
        take(message);
      });
    };
    return (message) => {
      if (waiting.push(message) === 1) deliver();
    };
  }

  #serve(): ReaderServer {
    const scheduler = this.#scheduler;
    const { clock } = scheduler;
    kernels ??= new ReadKernels(1 << 20);
    const outbox = this.#queue<Generated<FromReader>>('from a reader', (message) =>
      this.#post(message),
    );
    return new ReaderServer({
      disk: this.#openDisk(),
      directory: DIRECTORY,
      kernels,
      clock,
      sliceMs: 1,
      nextRound: (run) => scheduler.run('turn of a reader', run),
      post: (message) => outbox(structuredClone(message)),
      onError: (error) => {
        if (!READER_FAULT.test(String(error))) this.#onError(error);
      },
    });
  }

  /** The disk of the present engine, on which some files are missing for a moment. */
  #openDisk(): Disk {
    const open: Disk['open'] = (path, mode) => {
      if (this.#scheduler.isOneOf(MISSING_ONE_OF)) throw new Error(`made missing: ${path}`);
      return this.#disk!.open(path, mode);
    };
    return { open } as Disk;
  }
}
