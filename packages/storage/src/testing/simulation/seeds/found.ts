// Plans that once failed, shrunk. They run together with the other seeds.
import { planInWords } from '../workload/plan-words.ts';
import type { Found } from './plans.ts';

export const FOUND: readonly Found[] = [
  {
    what: 'the list named a log file that could not be begun and was removed',
    plan: planInWords(
      1339,
      'fsync always, background work, 4 at once',
      `
        write a.p: m,t=z 5
        fail 2 syncs of files
      `,
    ),
  },
  {
    what: 'a damaged last record of a file that was just finished looked like a torn write',
    plan: planInWords(
      1000961,
      'fsync always, 5 at once',
      `
        write a.p: n,t=y 3; m,t=y 0; n,t=x 11
        flush
        kill
      `,
    ),
  },
  {
    what: 'a flush removed segments that the manifest named, of a shard that was being dropped',
    plan: planInWords(
      4112,
      'fsync always, background work, 3 at once',
      `
        close
        drop measurement a.n
        write b.q: m,t=y 11; m,t=y 9; m,t=y 8
        write a.q: n,t=z 4
        answer a.q.m
        2 x compact
        delete a.q.n times 11 to 11
        write b.p: n,t=y 1; n,t=z 7; n,t=y 5; n,t=z 4
        write a.p: n,t=x 7; n,t=x 4
        write a.p: m,t=y 3; m,t=x 0; m,t=y 7; n,t=x 1
        answer a.p.m
        scan a.p.n
        kill
        drop measurement a.m
        delete a.*.m
        flush
        kill
        write a.p: n,t=z 8; m,t=z 5
        delete a.p.n where t=y
        write b.q: m,t=x 9; m,t=x 8; n,t=y 9
        drop policy a.p
        flush
        delete b.*.* where t=x
        power-cut
      `,
    ),
  },
  {
    what: 'a log that was closed twice at once listed a file that never was',
    plan: planInWords(
      9354,
      'fsync interval, background work, 5 at once',
      `
        flush
        delete a.*.n where t=z
        delete a.*.* where t=y
        scan a.p.m
        write b.q: n,t=x 9; m,t=y 6; m,t=z 6; n,t=z 6
        backup
        write a.q: m,t=x 10; m,t=y 8; m,t=y 10
        write a.q: m,t=z 11; m,t=x 11
        write b.p: n,t=y 0
        close
        drop measurement a.n
        write a.p: n,t=z 7; m,t=y 2
        backup
        drop measurement a.m
        backup
        write a.p: n,t=y 9; m,t=z 8; m,t=x 4
        close
      `,
    ),
  },
  {
    what: 'a flush with a rebuilt index removed the index of a database that the manifest named',
    plan: planInWords(
      2010590,
      'fsync always, background work, 3 at once',
      `
        write a.p: n,t=z 11; m,t=x 1; m,t=x 3
        delete a.*.* where t=x
        compact
        backup
        drop database b
        restore
        write b.q: n,t=x 6
        restore
        drop policy a.q
        flush
        delete a.*.m where t=x times 4 to 10
        drop policy b.p
        drop policy a.p
        kill
      `,
    ),
  },
  {
    what: 'an index file whose first sync failed had no durable name afterwards',
    plan: planInWords(
      13475,
      'fsync always, 4 at once',
      `
        compact
        write a.p: m,t=z 11; m,t=z 2; n,t=y 5; m,t=y 8
        write a.p: m,t=z 4
        compact
        delete a.p.m
        delete b.*.n
        flush
        expire the oldest shard of a.q
        compact
        delete a.*.*
        kill
        write b.q: n,t=z 7; n,t=z 2
        flush
        fail 1 syncs of files
        write a.p: m,t=y 1; m,t=z 8; n,t=y 2; n,t=x 11
        answer a.p.n
        2 x flush
        power-cut
      `,
    ),
  },
  {
    what: 'a list of log files whose name was never synced was missed after a power cut',
    plan: planInWords(
      1040721,
      'fsync always, parts, 2 at once',
      `
        fail 3 syncs of folders
        close
        flush
        power-cut
      `,
    ),
  },
  {
    what: 'a start took for durable what a failed sync had left in the page cache',
    plan: planInWords(
      5007592,
      'fsync always, background work, 4 at once',
      `
        write a.q: m,t=x 7; m,t=x 11
        write a.p: n,t=z 7; n,t=y 3
        fail 4 syncs of files
        write a.q: m,t=z 10; n,t=z 3; m,t=y 7
        kill
        delete a.*.* where t=x times 5 to 5
        compact
        power-cut
      `,
    ),
  },
  {
    what: 'a shard of a refused write kept its database at a drop, and a start let its rows go',
    plan: planInWords(
      6975,
      'fsync always, 5 at once',
      `
        flush
        write a.q: n,t=z 3
        scan a.q.m
        write a.q: n,t=x 8; m,t=z 0
        fail 2 syncs of files
        write a.p: n,t=x 10; n,t=z 8; n,t=y 10; m,t=y 7
        compact
        wait
        write b.p: n,t=y 2
        fail 2 syncs of files
        drop policy a.q
        compact
        write a.p: n,t=y 1; m,t=z 10; m,t=z 8; n,t=x 2
        compact
        write a.p: n,t=z 0; m,t=x 11; m,t=x 11
        power-cut
      `,
    ),
  },
  {
    what: 'two log files that were not begun, and no list, looked like a damaged log',
    plan: planInWords(
      4009442,
      'fsync always, background work, parts, 3 at once',
      `
        fail 3 syncs of folders
        backup
        write a.q: m,t=y 1; m,t=x 9
        flush
        power-cut
        write a.p: n,t=y 11; m,t=z 4
        power-cut
      `,
    ),
  },
  {
    what: 'a manifest was ahead of the log, whose sync was delayed',
    plan: planInWords(
      4069664,
      'fsync interval, background work, parts, 3 at once',
      `
        write a.q: m,t=z 9; n,t=y 0; m,t=x 2
        backup
        delete a.*.* times 10 to 10
        write a.p: m,t=y 9; m,t=x 11
        drop policy a.q
        expire the oldest shard of a.p
        write a.p: n,t=z 9
        power-cut
        write a.p: m,t=x 0
        delete a.q.* where t=z
      `,
    ),
  },
  {
    what: 'a manifest named a restored database and the empty one that it replaced',
    plan: planInWords(
      387492,
      'fsync always, parts, 4 at once',
      `
        power-cut
        backup
        flush
        write a.p: n,t=x 5; m,t=z 11; m,t=x 9
        backup
        restore
        drop database a
        drop database r
        flush
        restore
      `,
    ),
  },
  {
    what: 'a checkpoint lacked a series whose delete was lost with a power cut',
    plan: planInWords(
      2388251,
      'fsync interval, 3 at once',
      `
        write a.q: n,t=x 7; n,t=y 2
        write b.p: m,t=x 2
        write b.p: n,t=x 0; m,t=z 1; n,t=z 7
        flush
        write a.q: m,t=x 8; m,t=x 7
        drop measurement b.m
        expire the oldest shard of a.p
        power-cut
        write b.p: m,t=z 8; m,t=y 7; m,t=x 8
      `,
    ),
  },
  {
    what: 'a backup held a later series with the key of one that was deleted meanwhile',
    plan: planInWords(
      4363265,
      'fsync interval, background work, 5 at once',
      `
        expire the oldest shard of a.q
        drop policy a.q
        write a.p: m,t=z 0; m,t=x 3
        delete b.*.* where t=z times 2 to 8
        backup
        delete a.*.* where t=y times 11 to 11
        backup
        delete a.*.* where t=x
        answer a.q.m
        delete b.*.n where t=z times 7 to 9
        delete b.q.* where t=z
        write a.p: m,t=x 8; m,t=x 11; n,t=y 10; m,t=y 2
        delete b.*.* where t=z times 6 to 11
        restore
        compact
        restore
        drop measurement a.m
        wait
        write b.p: n,t=z 9; m,t=x 11; m,t=y 3; n,t=x 7
        write b.p: m,t=y 2
        flush
        write b.p: m,t=y 6; n,t=x 2; m,t=y 6; m,t=y 9
        power-cut
        expire the oldest shard of a.p
      `,
    ),
  },
  {
    what: 'a restore whose manifest was not synced removed the files that it named',
    plan: planInWords(
      1332858,
      'fsync interval, background work, 2 at once',
      `
        write a.q: n,t=x 4
        backup
        answer a.p.m
        compact
        write a.q: m,t=y 4
        restore
        write a.q: m,t=x 6; m,t=x 0; m,t=x 6; m,t=z 7
        write a.p: n,t=x 6; n,t=y 5
        fail 4 syncs of folders
      `,
    ),
  },
  {
    what: 'a database got the number of an index file that was removed, and a power cut brought back',
    plan: planInWords(
      5455807,
      'fsync always, 3 at once',
      `
        write a.p: n,t=y 0
        flush
        drop measurement a.n
        compact
        write a.q: m,t=x 7; m,t=y 7; m,t=y 10
        flush
        restore
        drop policy a.p
        flush
        drop policy a.p
        compact
        fail 3 syncs of files
        flush
        write a.q: n,t=y 0; m,t=x 9; n,t=z 11
        scan a.p.m
        wait
        close
        write a.p: m,t=z 0
        write b.q: n,t=y 1; m,t=z 7; n,t=y 3
        scan a.p.n
        answer a.p.n
        drop policy a.q
        power-cut
      `,
    ),
  },
  {
    what: 'a start could not add rows of series that the index files had forgotten already',
    plan: planInWords(
      1452146,
      'fsync always, background work, 5 at once',
      `
        scan a.p.m
        write a.q: m,t=x 7; n,t=z 0; n,t=z 9; m,t=y 9
        flush
        delete a.*.n
        flush
        restore
        delete b.*.m
        scan b.q.n
        backup
        drop policy b.p
        restore
        write b.q: m,t=x 11
        drop measurement b.n
        write b.p: n,t=z 3; m,t=z 1; m,t=y 10
        drop policy b.p
        answer a.q.m
        write a.q: n,t=z 8
        delete a.*.*
        delete a.*.* times 8 to 9
        write b.p: m,t=y 2
        wait
        compact
        scan a.p.m
        write a.p: m,t=z 9; m,t=z 5; n,t=y 11
        restore
        write a.p: n,t=z 7; n,t=z 11
        flush
        delete b.*.m where t=y
        drop policy a.p
        delete b.*.n times 0 to 11
        flush
        kill
      `,
    ),
  },
  {
    what: 'a failed sync of the log took a mark that was not written again',
    plan: planInWords(
      2017585,
      'fsync interval, background work, 4 at once',
      `
        write a.p: n,t=z 5; n,t=z 6
        write a.q: n,t=x 1; n,t=y 7; m,t=x 5
        answer b.q.m
        2 x flush
        write a.p: m,t=z 6; m,t=y 10; n,t=x 7; n,t=y 8
        delete a.*.* where t=x times 8 to 9
        write a.p: m,t=y 5; m,t=z 8; n,t=z 7
        fail 3 syncs of files
        write a.p: n,t=y 1; m,t=y 0; m,t=y 1; m,t=z 11
        write b.p: n,t=x 6
        drop measurement a.n
        write b.p: n,t=x 6; n,t=z 1; n,t=y 0
        power-cut
      `,
    ),
  },
];
