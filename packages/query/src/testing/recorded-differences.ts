// Recorded answers that are not ours, each with the reason. Keys are group and query.

const MERGE_ORDER =
  'the order of equal times across series is not defined; ours is by series key (line protocol §8)';
const NOT_EXECUTED =
  'a failing statement answers its error, every later one `not executed` (query semantics §1)';
const ABSOLUTE =
  'abs gives absolute values (query semantics §3.3); the recorded server kept integers below zero';

export const RECORDED_DIFFERENCES: ReadonlyMap<string, string> = new Map([
  ["where|SELECT temp FROM station WHERE site = 'alpha' OR temp < 8.25", MERGE_ORDER],
  [
    "where|SELECT temp FROM station WHERE site = 'alpha' OR temp < 8.25 AND zone = 'north'",
    MERGE_ORDER,
  ],
  [
    'where|SELECT temp FROM station WHERE abs(temp - 10) < 1',
    'math in WHERE is evaluated; the recorded server has a defect there (query language §4)',
  ],
  [
    'functions/top-bottom|SELECT top(temp, 3) FROM station LIMIT 3 OFFSET 1',
    'LIMIT counts emitted rows of top (query semantics §3.1)',
  ],
  [
    'subquery|SELECT v FROM (SELECT v FROM price GROUP BY sym LIMIT 1)',
    'an inner LIMIT applies per inner series (query semantics §4, subqueries)',
  ],
  [
    'subquery|SELECT percentile(v, 50) FROM (SELECT v FROM price)',
    'among equal values the point is picked in the order of time; the recorded sort is not stable',
  ],
  ['math|SELECT abs(n) FROM trig', ABSOLUTE],
  ['math|SELECT abs(*) FROM trig', ABSOLUTE],
  ['format|SELECT level FROM river LIMIT 2|epoch=µ', 'µ is microseconds (specification)'],
  ['format|SELECT level INTO copy FROM river', 'the warning comes from the service'],
  [
    'format|SELECT level FROM river LIMIT 1; SELECT bad(level) FROM river; SELECT flow FROM river',
    NOT_EXECUTED,
  ],
  [
    'format|SELECT level FROM river LIMIT 1; SELECT level FROM nodb..river; SHOW MEASUREMENTS; SHOW TAG KEYS',
    NOT_EXECUTED,
  ],
  [
    "extra/subquery-fill-limit|SELECT mean(m) * 2 AS twice, max(m) FROM (SELECT mean(sales) AS m FROM shop WHERE time >= '2023-01-01T00:00:00Z' AND time < '2023-01-01T12:00:00Z' GROUP BY time(1h)) GROUP BY time(6h)",
    'the answer ends at the time of the recording',
  ],
  [
    'fuzz|SELECT count(f) FROM (SELECT last(f) AS f FROM n GROUP BY time(90m)) WHERE time > 26909287m AND time <= 26909410m',
    'the recorded server stops at a window that begins before the range, and answers nothing',
  ],
]);
