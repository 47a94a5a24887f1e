// Tests of the storage engine that do two things at once: they may notice what the simulation has
// to notice. All others do one thing at a time (`npm run soak:mutants -- --ordinary`).

export const AT_ONCE: readonly { readonly file: string; readonly because: string }[] = [
  { file: 'testing/simulation/simulation.test.ts', because: 'it is the simulation' },
  {
    file: 'write/deletes.test.ts',
    because: 'writes, flushes, drops and other deletes come in the steps of a delete or a drop',
  },
  { file: 'write/joint-write.test.ts', because: 'several writes come together' },
  {
    file: 'engine/failed-drops.test.ts',
    because: 'a name is written to while a drop is owed',
  },
  {
    file: 'series/index-files.test.ts',
    because: 'an index is given up while it is written',
  },
];
