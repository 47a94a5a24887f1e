// Guards of the catalog and of its journal, each of which the simulation has to miss.
import type { Edit, Mutant } from '../mutants/mutant.ts';
import type { Checker } from './simulate.ts';

const catalog = (from: string, to: string): Edit => ({
  file: 'packages/tsdb/src/catalog/catalog.ts',
  from,
  to,
});
const catalogFile = (from: string, to: string): Edit => ({
  file: 'packages/tsdb/src/catalog/catalog-file.ts',
  from,
  to,
});
const record = (from: string, to: string): Edit => ({
  file: 'packages/tsdb/src/catalog/catalog-record.ts',
  from,
  to,
});
const journal = (from: string, to: string): Edit => ({
  file: 'packages/storage/src/disk/journal.ts',
  from,
  to,
});

type CatalogMutant = Mutant & { readonly foundBy: Checker; readonly seed: number };

export const MUTANTS: readonly CatalogMutant[] = [
  {
    what: 'a change does not wait for the one before it',
    edits: [
      catalog(
        'const result = this.#tail.then(async',
        'const result = Promise.resolve().then(async',
      ),
    ],
    foundBy: 'in order',
    seed: 1,
  },
  {
    what: 'after a refused change, all later ones are refused',
    edits: [catalog('this.#tail = result.catch(() => undefined);', 'this.#tail = result;')],
    foundBy: 'goes on',
    seed: 1,
  },
  {
    what: 'a change is visible before it is on the disk',
    edits: [
      catalog(
        'await this.#persist(after, before);\n      this.#state = after;',
        'this.#state = after;\n      await this.#persist(after, before);',
      ),
    ],
    foundBy: 'refused',
    seed: 1,
  },
  {
    what: 'a change is acknowledged before it is on the disk',
    edits: [
      catalog(
        'await this.#persist(after, before);',
        'this.#persist(after, before).catch(() => undefined);',
      ),
    ],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'what a start has found may be gone at the next one',
    edits: [catalogFile('await journal.settle();', '')],
    foundBy: 'settled',
    seed: 1,
  },
  {
    what: 'a checkpoint has a change that is refused afterwards',
    edits: [
      catalogFile(
        'async append(change: string, before: CatalogState)',
        'async append(change: string, _: CatalogState, before = parsed(change, _))',
      ),
      catalogFile(
        'function textOf(',
        'const parsed = (change: string, of: CatalogState): CatalogState => applyCatalogChange(of, parseCatalogChange(change)!);\n\nfunction textOf(',
      ),
    ],
    foundBy: 'refused',
    seed: 1,
  },
  {
    what: 'a dropped user is back after a start',
    edits: [record('goneUsers: gone(before.users, after.users),', 'goneUsers: [],')],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'ids are given again after a start',
    edits: [record('const { nextId } = after;', 'const { nextId } = before;')],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'a change is acknowledged without a sync',
    edits: [journal('putTwice(frame, end);\n        await file.sync();', 'putTwice(frame, end);')],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'a change whose sync failed is not taken back',
    edits: [journal('putTwice(new Uint8Array(frame.length), end);', '')],
    foundBy: 'refused',
    seed: 1,
  },
  {
    what: 'a change is refused although only its mark does not fit',
    edits: [
      journal('return;\n      }\n    } finally', 'throw new Error();\n      }\n    } finally'),
    ],
    foundBy: 'refused',
    seed: 1,
  },
  {
    what: 'a journal goes on after a failure where it stood before',
    edits: [
      journal(
        '    // Whatever fails from here on, a checkpoint precedes the next change.\n    this.#open = undefined;',
        '',
      ),
    ],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'a change is written to one half only',
    edits: [
      journal(
        'for (const half of [0, halfBytes]) file.write(bytes, half + at);\n    };',
        'for (const half of [0]) file.write(bytes, half + at);\n    };',
      ),
    ],
    foundBy: 'damage',
    seed: 1,
  },
  {
    what: 'the journal of the checkpoint that is visible goes',
    edits: [
      journal(
        'this.#removeOthers(this.#number, this.#visibleNumber());',
        'this.#removeOthers(this.#number);',
      ),
    ],
    foundBy: 'durable',
    seed: 1,
  },
  {
    what: 'a checkpoint names a journal that is not durable',
    edits: [
      journal(
        'for (const half of [0, halfBytes]) file.write(frameFileHeader(), half);\n      await file.sync();',
        'for (const half of [0, halfBytes]) file.write(frameFileHeader(), half);',
      ),
    ],
    foundBy: 'durable',
    seed: 1,
  },
];
