// The catalog of a service on a simulated disk: several clients change it at once, syncs take as
// long as a seed decides and fail, the disk is full, the process is killed and the power fails. A
// checker that notices something throws a `Finding`.
import { messageOf } from '@tidemark/core';

import { Scheduler, settled } from '../../../packages/storage/src/testing/simulation/scheduler.ts';
import { SimulatedDisk } from '../../../packages/storage/src/testing/simulated-disk.ts';
import { readCatalog } from '../../../packages/tsdb/src/catalog/catalog-file.ts';
import { printCatalogState } from '../../../packages/tsdb/src/catalog/catalog-record.ts';
import { Catalog } from '../../../packages/tsdb/src/catalog/catalog.ts';
import { EMPTY_CATALOG } from '../../../packages/tsdb/src/catalog/model.ts';
import type { CatalogState } from '../../../packages/tsdb/src/catalog/model.ts';
import { randomChange } from './changes.ts';

const FOLDER = '/catalog';
const LIVES = 5;
const CLIENTS = 3;
const CHANGES_OF_CLIENT = 7;
/** Operations of the disk after which the power may fail: more than a life has. */
const OPERATIONS_OF_LIFE = 260;
const STEPS_MAX = 20_000;

/** What is promised about the catalog, by the checker that notices when it does not hold. */
export type Checker =
  /** What is acknowledged, or visible, is found after a power failure. */
  | 'durable'
  /** Changes follow each other: each is made of the state that the last one has left. */
  | 'in order'
  /** What was refused is not visible, and a start does not find it. */
  | 'refused'
  /** What a start has found, the next one finds, too. */
  | 'settled'
  /** After a failure of the disk, changes are taken again. */
  | 'goes on'
  /** A damaged byte costs nothing. */
  | 'damage';

export class Finding extends Error {
  readonly checker: Checker;

  constructor(checker: Checker, what: string) {
    super(`${checker}: ${what}`);
    this.checker = checker;
  }
}

/** How often something happened that a simulation is for. */
export type Marks = Map<string, number>;

/** Lives of a catalog, in the order of a seed. Throws `Finding`. */
export async function simulate(seed: number, marks: Marks = new Map()): Promise<void> {
  const scheduler = new Scheduler(seed, () => undefined);
  let disk = new SimulatedDisk();
  disk.makeDirectory(FOLDER);
  let last = EMPTY_CATALOG;
  for (let life = 0; life < LIVES; life++) {
    const one = new Life(disk, last, { scheduler, marks });
    await one.run();
    disk = one.left;
    last = one.found(disk);
  }
}

type Context = { readonly scheduler: Scheduler; readonly marks: Marks };

/** From a start to the end of the process, or of the machine. */
class Life {
  readonly #disk: SimulatedDisk;
  readonly #scheduler: Scheduler;
  readonly #marks: Marks;
  /** The last acknowledged or visible state. */
  #last: CatalogState;
  /** What may be found besides: changes on their way, or refused since the last visible one. */
  #maybe: CatalogState[] = [];
  #isOff = false;
  /** The contents that the next life begins with. */
  left: SimulatedDisk;

  constructor(disk: SimulatedDisk, last: CatalogState, { scheduler, marks }: Context) {
    this.#disk = disk;
    this.#scheduler = scheduler;
    this.#marks = marks;
    this.#last = last;
    this.left = disk;
  }

  async run(): Promise<void> {
    const disk = this.#disk;
    const scheduler = this.#scheduler;
    disk.gate = (kind) => scheduler.wait(kind);
    const endsBy = scheduler.pick(3);
    if (endsBy > 0) disk.crashAt = disk.operations + scheduler.pick(OPERATIONS_OF_LIFE);
    const opened = Catalog.open(FOLDER, { disk });
    const isOpen = await this.#drive(opened);
    if (isOpen) {
      const catalog = await opened;
      this.#check('settled', catalog.state);
      const clients = Array.from({ length: CLIENTS }, () => this.#client(catalog));
      catalog.onChange((state, before) => this.#seen(state, before));
      const work = Promise.all(clients);
      if (await this.#drive(work)) await this.#end(catalog);
    }
    scheduler.forgetAll();
    disk.crashAt = Number.POSITIVE_INFINITY;
    this.#mark(endsBy === 1 ? 'power failures' : 'kills');
    this.left =
      endsBy === 1 ? disk.afterCrash(() => scheduler.pick(1 << 20) / (1 << 20)) : disk.afterKill();
    if (this.#isOff || scheduler.pick(2) === 0) return;
    this.#damage();
  }

  /** The state that a start finds. */
  found(disk: SimulatedDisk): CatalogState {
    const state = stateOn(disk, 'durable');
    const known = [this.#last, ...this.#maybe].map(printCatalogState);
    const found = printCatalogState(state);
    if (known.includes(found)) {
      if (found !== known[0]) this.#mark('found without an acknowledgement');
      return state;
    }
    throw new Finding('durable', `after the end, found ${found}, not ${known.join(' or ')}`);
  }

  /** Steps until the promise is settled: whether it was, before the machine was off. */
  async #drive(work: Promise<unknown>): Promise<boolean> {
    let outcome: { readonly error?: unknown } | undefined;
    work.then(
      () => (outcome = {}),
      (error: unknown) => (outcome = { error }),
    );
    await settled();
    for (let step = 0; outcome === undefined; step++) {
      if (step > STEPS_MAX) throw new Finding('goes on', 'nothing ends');
      if ((await this.#scheduler.step()) === 'nothing' && outcome === undefined) {
        throw new Finding('goes on', 'a change waits for nothing');
      }
    }
    const { error } = outcome as { readonly error?: unknown };
    if (error === undefined) return true;
    if (error instanceof Finding) throw error;
    if (!this.#machineIsOff) throw error;
    this.#isOff = true;
    return false;
  }

  get #machineIsOff(): boolean {
    return this.#disk.operations >= this.#disk.crashAt;
  }

  async #client(catalog: Catalog): Promise<void> {
    const scheduler = this.#scheduler;
    for (let i = 0; i < CHANGES_OF_CLIENT; i++) {
      await scheduler.wait('client');
      this.#disturb();
      const make = randomChange((end) => scheduler.pick(end));
      let made: CatalogState | undefined;
      try {
        const after = await catalog.change((state) => {
          if (printCatalogState(state) !== printCatalogState(this.#last)) {
            throw new Finding('in order', 'a change was not made of the last state');
          }
          made = make(state);
          if (made !== state) this.#maybe.push(made);
          return made;
        });
        this.#mark('acknowledged');
        if (made === undefined || printCatalogState(after) !== printCatalogState(made)) {
          throw new Finding('in order', 'a change was answered with another state');
        }
      } catch (error) {
        if (error instanceof Finding) throw error;
        if (this.#machineIsOff) return;
        // The name is taken, or there is no such entry: nothing was written.
        if (made === undefined) continue;
        this.#refused(catalog, made, messageOf(error));
      }
    }
  }

  /** A change is visible, and about to be acknowledged. */
  #seen(state: CatalogState, before: CatalogState): void {
    if (printCatalogState(before) !== printCatalogState(this.#last)) {
      throw new Finding('in order', 'a change replaced another one');
    }
    this.#last = state;
    this.#maybe = [];
    for (const left of [this.#withoutPower(), this.#disk.afterKill()]) {
      if (printCatalogState(stateOn(left, 'durable')) === printCatalogState(state)) continue;
      throw new Finding('durable', 'a visible change is not on the disk');
    }
  }

  #refused(catalog: Catalog, refused: CatalogState, why: string): void {
    this.#mark('refused');
    const last = printCatalogState(this.#last);
    if (printCatalogState(catalog.state) !== last) {
      throw new Finding('refused', `a change that was refused (${why}) is visible`);
    }
    // The next change may be on its way already.
    const found = printCatalogState(stateOn(this.#disk.afterKill(), 'refused'));
    if (found === last || found !== printCatalogState(refused)) return;
    throw new Finding('refused', `a start finds a change that was refused (${why})`);
  }

  /** Something fails now and then, never for long. */
  #disturb(): void {
    const disk = this.#disk;
    const scheduler = this.#scheduler;
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    const what = scheduler.pick(24);
    if (what === 0) disk.failSyncs = 1 + scheduler.pick(2);
    else if (what < 4) disk.failDirectorySyncs = 1;
    else if (what < 6) disk.fill();
    disk.keepsFailed = scheduler.pick(2) === 0;
  }

  /** The disk works again: a change is taken, and everything is closed. */
  async #end(catalog: Catalog): Promise<void> {
    const disk = this.#disk;
    disk.failSyncs = 0;
    disk.failDirectorySyncs = 0;
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    const change = catalog.change((state) => {
      const after = { ...state, nextId: state.nextId + 1 };
      this.#maybe.push(after);
      return after;
    });
    try {
      if (!(await this.#drive(change)) || !(await this.#drive(catalog.close()))) return;
    } catch (error) {
      if (error instanceof Finding) throw error;
      throw new Finding('goes on', messageOf(error));
    }
    this.#mark('closed');
  }

  #check(checker: Checker, state: CatalogState): void {
    const wanted = printCatalogState(this.#last);
    if (printCatalogState(state) !== wanted) {
      throw new Finding(checker, 'another state than at the last start');
    }
    const left = this.#withoutPower();
    if (printCatalogState(stateOn(left, checker)) !== wanted) {
      throw new Finding(checker, 'the state that was found is not on the disk');
    }
  }

  /** What a power failure now might leave of the contents of files. */
  #withoutPower(): SimulatedDisk {
    return this.#disk.afterKill().afterCrash(() => this.#scheduler.pick(1 << 20) / (1 << 20));
  }

  /** A byte of a file of the catalog that was closed. */
  #damage(): void {
    const disk = this.left;
    const paths = disk.paths().filter((path) => path.startsWith(`${FOLDER}/`));
    const path = paths[this.#scheduler.pick(paths.length)];
    if (path === undefined) return;
    const bytes = disk.bytes(path);
    if (bytes.length === 0) return;
    const sound = printCatalogState(stateOn(disk, 'durable'));
    bytes[this.#scheduler.pick(bytes.length)]! ^= 1 + this.#scheduler.pick(255);
    this.#mark('damaged');
    const found = printCatalogState(stateOn(disk, 'damage'));
    if (found !== sound) throw new Finding('damage', 'another state than before');
  }

  #mark(what: string): void {
    this.#marks.set(what, (this.#marks.get(what) ?? 0) + 1);
  }
}

/** The state that a start would find; what cannot be read is found by the checker. */
function stateOn(disk: SimulatedDisk, checker: Checker): CatalogState {
  try {
    return readCatalog(FOLDER, disk)?.state ?? EMPTY_CATALOG;
  } catch (error) {
    throw new Finding(checker, messageOf(error));
  }
}
