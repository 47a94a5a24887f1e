// Repairs that the simulation protects: each taken out, as a change of the source, must be found.

/** In a file below `packages/engine/src`, wherever it stands. */
type Edit = { readonly file: string; readonly from: string; readonly to: string };

export type Mutant = Edit & { readonly what: string; readonly also?: Edit };

export const MUTANTS: readonly Mutant[] = [
  {
    what: 'a leader changes its tables before the log has the change',
    file: 'store/metadata.ts',
    from: 'await log.commit(sealed, (made) => this.#transact(made));',
    to: 'await this.#transact(sealed); await log.commit(sealed, (made) => this.#transact(made));',
  },
  {
    what: 'a record is appended whatever the last one is',
    file: 'cluster/leader-log.ts',
    from: 'after: this.#last, signal });',
    to: 'signal });',
  },
  {
    what: 'a term that has begun counts as everything',
    file: 'cluster/replica.ts',
    from: 'if (this.#isFilled) await this.#write([], record);',
    to: 'if (record.sequence > 0) await this.#fill([], record);',
  },
  {
    what: 'another instance begins a cluster that waits for definitions',
    file: 'cluster/instance-role.ts',
    from: 'if (!replica.isFilled && begins !== undefined &&',
    to: 'if (replica.isFilled && begins !== undefined &&',
  },
  {
    what: 'a copy believes whatever log there is',
    file: 'cluster/replica.ts',
    from: 'throw new OtherHistory(',
    to: 'void new OtherHistory(',
    also: {
      file: 'cluster/instance-role.ts',
      from: 'throw new OtherHistory(',
      to: 'void new OtherHistory(',
    },
  },
];
