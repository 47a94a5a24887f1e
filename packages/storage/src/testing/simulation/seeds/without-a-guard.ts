// Plans that fail in some order when a guard is taken out (`tests/soak/simulation/mutants.ts`),
// shrunk. They run together with the other seeds.
import { planInWords } from '../workload/plan-words.ts';
import type { Found } from './plans.ts';

export const WITHOUT_A_GUARD: readonly Found[] = [
  {
    what: 'a drop went on behind the end',
    plan: planInWords(
      1,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0; n,t=y 1
        wait
        flush
        2 x wait
        drop policy a.p
        close
      `,
    ),
  },
  {
    what: 'a restore went on behind the end',
    plan: planInWords(
      1,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0; n,t=y 1
        wait
        backup
        3 x wait
        restore
        close
      `,
    ),
  },
  {
    what: 'a rebuild went on behind the end',
    plan: planInWords(
      1,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0; n,t=y 1
        write a.p: m,t=y 2
        wait
        flush
        2 x wait
        delete a.*.m where t=x
        wait
        compact
        close
      `,
    ),
  },
  {
    what: 'what a failed sync of the log took was not written again',
    plan: planInWords(
      1,
      'fsync interval, background work, 2 at once',
      `
        write a.p: m,t=x 0
        wait
        write a.p: m,t=y 1
        fail 1 syncs of files
        3 x wait
        power-cut
      `,
    ),
  },
  {
    what: 'a backup had rows of a policy whose drop was owed',
    plan: planInWords(
      1,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0
        write a.q: m,t=y 1
        wait
        flush
        2 x wait
        fail 2 syncs of files
        drop policy a.p
        wait
        backup
        2 x wait
        restore
      `,
    ),
  },
  {
    what: 'a compaction dropped the tombstone of rows that a flush was writing',
    plan: planInWords(
      1,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0
        flush
        2 x wait
        write a.p: m,t=y 1
        flush
        2 x wait
        write b.q: n,t=z 8
        write b.p: n,t=z 8
        write a.q: n,t=z 8
        write a.p: m,t=x 2
        wait
        flush
        delete a.*.m times 2 to 2
        compact
      `,
    ),
  },
  {
    what: 'a drop of a measurement left rows that a flush was writing',
    plan: planInWords(
      23,
      'fsync always, 5 at once',
      `
        write a.p: m,t=x 0; m,t=y 8
        flush
        scan a.p.m
        drop measurement a.m
        scan a.p.m
      `,
    ),
  },
  {
    what: 'rows of a dropped database came back under the one that was restored under its name',
    plan: planInWords(
      1,
      'fsync always, 2 at once',
      `
        write a.p: m,t=x 0
        wait
        backup
        6 x wait
        restore
        6 x wait
        backup
        6 x wait
        write r.p: n,t=z 1
        wait
        drop database r
        2 x wait
        restore
        4 x wait
        kill
      `,
    ),
  },
  {
    what: 'a part of a body went to the database that had been there before',
    plan: planInWords(
      1,
      'fsync always, parts, 5 at once',
      `
        write b.p: n,t=x 9; n,t=y 0
        expire the oldest shard of b.p
      `,
    ),
  },
  {
    what: 'rows of a policy whose drop was owed were seen',
    plan: planInWords(
      7,
      'fsync always, parts, 4 at once',
      `
        write a.p: m,t=z 4; m,t=y 2
        drop policy a.p
        fail 4 syncs of files
      `,
    ),
  },
  {
    what: 'rows went to a dropped policy',
    plan: planInWords(
      1,
      'fsync interval, background work, 5 at once',
      `
        write a.p: m,t=y 8; m,t=x 1; n,t=x 4; m,t=x 4
        drop database a
        write a.p: m,t=y 4; m,t=x 10; n,t=x 8
        write a.p: n,t=x 7
        answer a.q.m
        power-cut
      `,
    ),
  },
  {
    what: 'a finished file of the log was closed unsynced',
    plan: planInWords(
      37,
      'fsync interval, parts, 4 at once',
      `
        answer a.p.m
        write a.p: n,t=z 6; m,t=y 3; n,t=y 8
        drop measurement a.m
        2 x flush
        write a.p: n,t=y 11; m,t=x 5; n,t=y 7
      `,
    ),
  },
  {
    what: 'the list had a length of the log that was not synced',
    plan: planInWords(
      2,
      'fsync interval, 2 at once',
      `
        write a.p: m,t=x 6
        fail 1 syncs of files
        close
        power-cut
      `,
    ),
  },
  {
    what: 'a compaction lost the files of a shard that was dropped',
    plan: planInWords(
      9,
      'fsync always, 3 at once',
      `
        write a.p: m,t=x 1
        flush
        write a.p: m,t=x 1
        flush
        wait
        compact
        expire the oldest shard of a.p
        scan a.p.m
      `,
    ),
  },
  {
    what: 'a finished file of the log ended without a mark',
    plan: planInWords(
      4,
      'fsync always, 3 at once',
      `
        write a.p: m,t=x 0; n,t=y 3; n,t=x 8; m,t=y 10
        backup
        kill
      `,
    ),
  },
  {
    what: 'a flush that went on left later rows out of a backup',
    plan: planInWords(
      1,
      'fsync always, background work, 4 at once',
      `
        fail 1 syncs of files
        flush
        write a.p: m,t=x 6
        backup
        wait
        restore
      `,
    ),
  },
  {
    what: 'a manifest named a segment whose name was not durable',
    plan: planInWords(
      32,
      'fsync always, 3 at once',
      `
        delete a.*.* where t=y
        flush
        write b.p: n,t=x 9; m,t=x 0
        flush
        drop measurement a.n
        write b.p: n,t=z 10; n,t=z 9
        compact
        write a.q: n,t=z 9
        scan b.p.n
        flush
        delete a.*.m where t=y times 9 to 10
        scan a.p.n
        power-cut
      `,
    ),
  },
  {
    what: 'rows in memory had the ordinals of the old index',
    plan: planInWords(
      2,
      'fsync always, 4 at once',
      `
        write a.p: m,t=z 0; n,t=z 3
        write a.q: n,t=y 1; m,t=y 1; m,t=y 8; m,t=y 4
        drop policy a.p
        compact
        drop policy a.p
        write a.q: n,t=y 9
      `,
    ),
  },
  {
    what: 'a backup lost the segments of its snapshot',
    plan: planInWords(
      20,
      'fsync always, background work, 5 at once',
      `
        write a.q: n,t=x 5; m,t=z 11
        write a.q: m,t=z 10; n,t=y 5; m,t=y 3; m,t=z 4
        write a.p: n,t=z 11
        flush
        write a.p: m,t=x 9; n,t=y 3; m,t=y 10
        delete a.*.m times 11 to 11
        backup
        drop database r
        write a.p: m,t=x 6; n,t=z 8; n,t=z 0
      `,
    ),
  },
  {
    what: 'a manifest named restored files that were not durable',
    plan: planInWords(
      1,
      'fsync always, background work, 3 at once',
      `
        drop measurement b.n
        write a.p: n,t=y 10
        backup
        compact
        write a.p: n,t=x 0; n,t=x 11
        restore
        flush
        write a.q: m,t=z 9; n,t=z 9; m,t=z 4
        power-cut
      `,
    ),
  },
  {
    what: 'merged segments went before the manifest that named them',
    plan: planInWords(
      5,
      'fsync always, background work, parts, 4 at once',
      `
        flush
        write a.p: m,t=z 9; m,t=x 5; n,t=y 3; m,t=y 11
        write a.q: m,t=x 7
        expire the oldest shard of a.p
        drop policy a.p
        write a.p: n,t=y 11; m,t=x 8
        write a.q: n,t=z 6; n,t=z 4
        write a.p: m,t=z 10; n,t=z 2; n,t=z 2; m,t=y 11
        write b.p: m,t=x 10; n,t=y 2; n,t=y 0; m,t=x 3
        write a.p: n,t=y 1
        write b.q: m,t=y 7; m,t=y 2; n,t=x 10
        wait
        backup
        write a.p: m,t=z 4; m,t=x 10
        write b.p: m,t=y 6; n,t=y 4; n,t=x 2
        delete a.*.* times 5 to 10
      `,
    ),
  },
  {
    what: 'rows came for a policy whose drop had begun',
    plan: planInWords(
      6,
      'fsync always, background work, parts, 4 at once',
      `
        write a.p: n,t=y 5; m,t=x 9
        compact
        power-cut
        drop policy a.p
        write a.p: n,t=z 9; m,t=y 6
        write a.p: m,t=y 6; m,t=x 10; n,t=y 9
      `,
    ),
  },
  {
    what: 'files of a shard went before the manifest that named them',
    plan: planInWords(
      13,
      'fsync always, 4 at once',
      `
        write b.p: n,t=z 0
        delete a.*.* where t=z
        write a.p: m,t=x 7
        flush
        drop database a
        fail 2 syncs of files
      `,
    ),
  },
  {
    what: 'a file of the log was closed while it was synced',
    plan: planInWords(
      2,
      'fsync interval, background work, 4 at once',
      `
        write b.q: m,t=y 4; m,t=x 6; n,t=z 11; m,t=x 8
        flush
      `,
    ),
  },
  {
    what: 'files went that the manifest on disk still named',
    plan: planInWords(
      13,
      'fsync always, 4 at once',
      `
        write b.p: n,t=z 0
        delete a.*.* where t=z
        write a.p: m,t=x 7
        flush
        drop database a
        fail 2 syncs of files
      `,
    ),
  },
  {
    what: 'a shard that the log never had kept a database',
    plan: planInWords(
      5,
      'fsync always, parts, 2 at once',
      `
        fail 2 syncs of files
        write a.q: m,t=x 2
        write a.p: n,t=z 6
        expire the oldest shard of a.p
        write a.p: n,t=y 6; n,t=y 3; m,t=z 9; m,t=z 3
      `,
    ),
  },
  {
    what: 'a file that could not be begun was removed, though it was listed',
    plan: planInWords(
      1,
      'fsync always, parts, 3 at once',
      `
        write b.q: n,t=y 4; m,t=z 6
        fail 4 syncs of folders
      `,
    ),
  },
  {
    what: 'a flush began behind the end',
    plan: planInWords(
      5,
      'fsync always, 4 at once',
      `
        2 x close
        2 x flush
        close
      `,
    ),
  },
  {
    what: 'a start removed files before the names that it had read were durable',
    plan: planInWords(
      4,
      'fsync interval, parts, 5 at once',
      `
        fail 3 syncs of folders
        close
        flush
        power-cut
      `,
    ),
  },
  {
    what: 'what a failed sync had left was taken for durable',
    plan: planInWords(
      33,
      'fsync interval, background work, 2 at once',
      `
        write a.p: m,t=x 1
        fail 1 syncs of files
        write a.p: m,t=x 8
        write a.p: m,t=x 3
        kill
        power-cut
      `,
    ),
  },
  {
    what: 'a log file stood behind one that was never begun',
    plan: planInWords(
      3,
      'fsync always, 3 at once',
      `
        power-cut
        fail 3 syncs of files
        write a.p: m,t=x 10
        power-cut
        write a.p: m,t=x 9
        power-cut
      `,
    ),
  },
  {
    what: 'a flush removed its segments of a shard that the manifest named',
    plan: planInWords(
      4,
      'fsync interval, background work, 2 at once',
      `
        wait
        flush
        write a.p: m,t=x 0
        flush
        expire the oldest shard of a.p
        kill
      `,
    ),
  },
  {
    what: 'a compaction removed its segment of a shard that the manifest named',
    plan: planInWords(
      35,
      'fsync always, parts, 2 at once',
      `
        write a.p: m,t=x 0
        write a.p: m,t=x 6
        2 x wait
        flush
        3 x wait
        write a.p: m,t=x 0
        wait
        flush
        wait
        compact
        expire the oldest shard of a.p
        kill
      `,
    ),
  },
  {
    what: 'an index file went that the manifest on disk named',
    plan: planInWords(
      80,
      'fsync always, 2 at once',
      `
        write a.p: m,t=x 1
        write a.p: m,t=y 0
        wait
        flush
        wait
        delete a.*.m where t=x
        wait
        compact
        wait
        drop database a
        kill
      `,
    ),
  },
  {
    what: 'the name of an index file was not durable after a failed sync',
    plan: planInWords(
      20,
      'fsync interval, parts, 2 at once',
      `
        fail 3 syncs of files
        write a.p: m,t=x 6
        2 x flush
        write a.p: m,t=x 6
        power-cut
      `,
    ),
  },
  {
    what: 'a backup had half of a delete',
    plan: planInWords(
      38,
      'fsync interval, 3 at once',
      `
        2 x scan a.p.m
        write a.p: m,t=x 1
        backup
        scan a.p.m
        delete a.*.*
        write a.p: m,t=x 3
        restore
      `,
    ),
  },
];
