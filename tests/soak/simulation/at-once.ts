// Tests of the storage engine that do two things at once: they may notice what the simulation has
// to notice. All others do one thing at a time (`npm run soak:mutants -- --ordinary`).

type AtOnce = {
  readonly file: string;
  /** Beginning of the name of the only such test of the file; else all of its tests are. */
  readonly test?: string;
  readonly because: string;
};

export const AT_ONCE: readonly AtOnce[] = [
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
  {
    file: 'tools/orphans.test.ts',
    test: 'a shard whose drop is in the log is no orphan',
    because: 'the process is killed in the middle of a drop',
  },
  {
    file: 'backup/backup.test.ts',
    test: 'files that a reading backup needs are kept until it ends',
    because: 'a backup is read while files are merged and dropped',
  },
  { file: 'thread/readers.test.ts', because: 'a reader reads while files are merged and removed' },
  {
    file: 'thread/reader-thread.test.ts',
    because: 'a reader is another thread',
  },
  {
    file: 'engine/segments.test.ts',
    test: 'a snapshot keeps its rows while they are',
    because: 'a query reads while its rows are overwritten, flushed, merged and dropped',
  },
  {
    file: 'engine/index-rebuild.test.ts',
    test: 'a snapshot from before goes on reading',
    because: 'a query reads while series are deleted and the index is rebuilt',
  },
];
