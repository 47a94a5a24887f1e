// Further cases for record-oracle-cases.mjs, where the built-in list is thin: nested subqueries, selectors with tags in
// groups, daylight-saving changes, integer overflow, field types that differ between shards, descending order with
// fill, INTO with types, conditions over fields and tags together, series that do not overlap. Recorded into
// extra-cases.jsonl:
//
//   node record-oracle-cases.mjs --url http://127.0.0.1:28086 --no-builtin --cases extra-cases.mjs --out extra-cases.jsonl

// The recorder imports the default export.
/* oxlint-disable import/no-default-export */

const groups = [];
const add = (group, data, cases) => groups.push({ group: `extra/${group}`, ...data, cases });
/** All combinations of a template's placeholders: combine('a {x}', {x: [1, 2]}) is ['a 1', 'a 2']. */
function combine(template, values) {
  let texts = [template];
  for (const [name, list] of Object.entries(values)) {
    texts = texts.flatMap((text) => list.map((value) => text.replaceAll(`{${name}}`, value)));
  }
  return texts;
}

// ------------------------------------------------ data set: shop (two tags, gaps, all field types)
const OPEN = 1672531200; // 2023-01-01T00:00:00Z, a Sunday
const shopLines = [];
// A small generator with a fixed seed: enough variety, always the same lines.
let state = 12345;
const random = (below) => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor((state / 2147483648) * below);
};
for (const [store, region] of [
  ['s1', 'north'],
  ['s2', 'north'],
  ['s3', 'south'],
  ['s4', ''],
]) {
  const tags = region === '' ? `store=${store}` : `store=${store},region=${region}`;
  for (let i = 0; i < 24; i++) {
    if (random(4) === 0) continue;
    const fields = [`sales=${random(500) / 4}`];
    if (random(3) > 0) fields.push(`items=${random(40) - 10}i`);
    if (random(3) > 0) fields.push(`open=${random(2) === 1}`);
    if (random(3) > 0) fields.push(`clerk="${['ann', 'bob', 'cyd'][random(3)]}"`);
    shopLines.push(`shop,${tags} ${fields.join(',')} ${OPEN + i * 1800 + random(600)}`);
  }
}
const shop = {
  db: 'shopdb',
  setup: ['CREATE DATABASE shopdb'],
  writes: [{ db: 'shopdb', precision: 's', lines: shopLines }],
};
const DAY = "time >= '2023-01-01T00:00:00Z' AND time < '2023-01-01T12:00:00Z'";

add('subquery-fill-limit', shop, [
  ...combine(
    `SELECT {outer}(m) FROM (SELECT {inner}(sales) AS m FROM shop WHERE ${DAY} GROUP BY time({every}), store fill(none))`,
    { outer: ['mean', 'max', 'count'], inner: ['mean', 'max'], every: ['2h', '30m'] },
  ),
  // A fill inside needs its tag outside, too: otherwise the recorded server fills again at every change of the tag.
  ...combine(
    `SELECT {outer}(m) FROM (SELECT {inner}(sales) AS m FROM shop WHERE ${DAY} GROUP BY time({every}), store fill({fill})) GROUP BY store`,
    {
      outer: ['mean', 'count'],
      inner: ['mean', 'max'],
      every: ['2h', '30m'],
      fill: ['0', 'previous', 'linear'],
    },
  ),
  ...combine(
    `SELECT {outer}(m) FROM (SELECT {inner}(sales) AS m FROM shop WHERE ${DAY} GROUP BY time({every}) fill({fill}))`,
    {
      outer: ['mean', 'count'],
      inner: ['mean', 'last'],
      every: ['2h', '20m'],
      fill: ['0', 'previous', 'linear'],
    },
  ),
  ...combine(
    `SELECT sum(m) FROM (SELECT {inner}(items) AS m FROM shop WHERE ${DAY} GROUP BY time(1h), store) WHERE ${DAY} GROUP BY {group}`,
    { inner: ['sum', 'count', 'last'], group: ['store', 'time(4h)', 'time(4h), store'] },
  ),
  ...combine(
    `SELECT * FROM (SELECT {inner}(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(3h), store fill({fill})) {tail}`,
    {
      inner: ['first', 'mean'],
      fill: ['none', '7'],
      tail: ['GROUP BY store', 'GROUP BY store LIMIT 2 OFFSET 1'],
    },
  ),
  `SELECT max(d) FROM (SELECT difference(m) AS d FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(1h)))`,
  `SELECT d FROM (SELECT derivative(m, 1h) AS d FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(2h) fill(linear)))`,
  `SELECT mean(total) FROM (SELECT sales + items AS total FROM shop WHERE ${DAY})`,
  `SELECT mean(total) FROM (SELECT sales + items AS total FROM shop) WHERE ${DAY} GROUP BY time(6h)`,
  `SELECT count(sales) FROM (SELECT sales FROM shop WHERE ${DAY} AND sales > 50 GROUP BY store)`,
  `SELECT sales FROM (SELECT sales, items FROM shop WHERE ${DAY}) WHERE items > 20`,
  `SELECT sales FROM (SELECT sales, items FROM shop WHERE ${DAY} GROUP BY store) WHERE items < 0 AND store = 's2'`,
  `SELECT cumulative_sum(s) FROM (SELECT sum(items) AS s FROM shop WHERE ${DAY} GROUP BY time(3h))`,
  `SELECT moving_average(m, 2) FROM (SELECT max(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(3h))`,
  `SELECT top(m, 2) FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(3h))`,
  `SELECT percentile(m, 50), store FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(3h), store) GROUP BY store`,
  `SELECT mean(sales) FROM (SELECT sales FROM shop WHERE store = 's1'), (SELECT sales FROM shop WHERE store = 's2') WHERE ${DAY} GROUP BY time(6h)`,
  `SELECT distinct(c) FROM (SELECT last(clerk) AS c FROM shop WHERE ${DAY} GROUP BY time(2h), store)`,
  `SELECT count(distinct(clerk)) FROM (SELECT clerk FROM shop WHERE ${DAY})`,
  `SELECT mean(m) * 2 AS twice, max(m) FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(1h)) GROUP BY time(6h)`,
  `SELECT mean(m) FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(1h) fill(0)) WHERE ${DAY} GROUP BY time(4h) fill(previous)`,
  `SELECT sum(n) FROM (SELECT count(n) AS n FROM (SELECT items AS n FROM shop WHERE ${DAY} GROUP BY store) GROUP BY store)`,
  `SELECT x FROM (SELECT sales AS x FROM shop WHERE ${DAY} AND store = 's1' LIMIT 4) ORDER BY time ASC`,
  `SELECT x FROM (SELECT sales AS x FROM shop WHERE ${DAY} AND store = 's1' ORDER BY time DESC LIMIT 4) ORDER BY time DESC`,
]);

add('selectors-in-groups', shop, [
  ...combine(`SELECT {call}(sales), {extra} FROM shop WHERE ${DAY} GROUP BY {group}`, {
    call: ['first', 'last', 'min', 'max'],
    extra: ['store', 'clerk, items'],
    group: ['region', 'time(4h)', 'region, time(6h)'],
  }),
  ...combine(`SELECT {call}, store FROM shop WHERE ${DAY} GROUP BY region`, {
    call: ['percentile(sales, 75)', 'percentile(items, 20)', 'top(sales, 2)', 'bottom(items, 2)'],
  }),
  ...combine(`SELECT {call}(items, store, 2) FROM shop WHERE ${DAY} {group}`, {
    call: ['top', 'bottom'],
    group: ['', 'GROUP BY region', 'GROUP BY time(6h)', 'GROUP BY time(6h), region'],
  }),
  `SELECT max(sales), min(items), last(clerk) FROM shop WHERE ${DAY} GROUP BY region`,
  `SELECT first(open), last(open) FROM shop WHERE ${DAY} GROUP BY store`,
  `SELECT min(open), max(open) FROM shop WHERE ${DAY} GROUP BY store`,
  `SELECT max(*) FROM shop WHERE ${DAY} GROUP BY region`,
  `SELECT last(*) FROM shop WHERE ${DAY} GROUP BY store`,
  `SELECT first(/s$/) FROM shop WHERE ${DAY} GROUP BY region, time(6h)`,
  `SELECT mode(clerk), count(clerk) FROM shop WHERE ${DAY} GROUP BY region`,
  `SELECT spread(items), stddev(sales), median(items) FROM shop WHERE ${DAY} GROUP BY region`,
  `SELECT last(sales) - first(sales) AS change FROM shop WHERE ${DAY} GROUP BY store`,
  `SELECT max(sales) AS top, region FROM shop WHERE ${DAY} GROUP BY store LIMIT 1`,
  `SELECT max(sales) FROM shop WHERE ${DAY} GROUP BY * SLIMIT 2`,
  `SELECT max(sales) FROM shop WHERE ${DAY} GROUP BY * SLIMIT 2 SOFFSET 1`,
  `SELECT max(sales) FROM shop WHERE ${DAY} GROUP BY /^r/`,
  `SELECT distinct(clerk) FROM shop WHERE ${DAY} GROUP BY region`,
  `SELECT count(distinct(items)) FROM shop WHERE ${DAY} GROUP BY region, time(6h)`,
]);

add('descending-fill', shop, [
  ...combine(
    `SELECT {call}(sales) FROM shop WHERE ${DAY} AND store = '{store}' GROUP BY time(1h) fill({fill}) ORDER BY time DESC`,
    {
      call: ['mean', 'max', 'count'],
      store: ['s1', 's4'],
      fill: ['null', 'none', '3', 'previous', 'linear'],
    },
  ),
  ...combine(
    `SELECT {call} FROM shop WHERE ${DAY} AND store = 's2' GROUP BY time(1h) fill({fill}) ORDER BY time DESC LIMIT 6`,
    {
      call: ['last(clerk)', 'sum(items)', 'first(open)'],
      fill: ['null', 'previous', 'linear', '5'],
    },
  ),
  ...combine(`SELECT {call} FROM shop WHERE ${DAY} GROUP BY {group} ORDER BY time DESC LIMIT 2`, {
    call: ['sales', 'max(sales)', 'items, clerk'],
    group: ['store', 'region', '*'],
  }).filter((text) => !text.includes('GROUP BY * ORDER') || !text.includes('max')),
  `SELECT cumulative_sum(sum(items)) FROM shop WHERE ${DAY} GROUP BY time(2h) ORDER BY time DESC`,
  `SELECT difference(mean(sales)) FROM shop WHERE ${DAY} GROUP BY time(3h) ORDER BY time DESC`,
  `SELECT integral(sales) FROM shop WHERE ${DAY} AND store = 's1' GROUP BY time(3h) ORDER BY time DESC`,
  `SELECT top(sales, 3) FROM shop WHERE ${DAY} ORDER BY time DESC`,
  `SELECT sales FROM shop WHERE ${DAY} ORDER BY time DESC LIMIT 5 OFFSET 2`,
  `SELECT mean(sales) FROM shop WHERE ${DAY} GROUP BY time(2h) ORDER BY time DESC LIMIT 2 OFFSET 1`,
]);

add('conditions', shop, [
  ...combine(`SELECT sales, items FROM shop WHERE ${DAY} AND {a} {op} {b}`, {
    a: ['store =~ /^s[12]$/', 'items > 10', "region = ''"],
    op: ['AND', 'OR'],
    b: ['clerk =~ /^(ann|bob)$/', 'clerk !~ /n/', 'open = true', 'sales < 20.5'],
  }),
  `SELECT sales FROM shop WHERE ${DAY} AND (store = 's1' OR items > 25) AND (open = false OR clerk = 'cyd')`,
  `SELECT sales FROM shop WHERE ${DAY} AND (store = 's1' AND items > 5 OR store = 's3' AND items < 5)`,
  `SELECT count(sales) FROM shop WHERE ${DAY} AND (region =~ /north/ OR sales > 100) GROUP BY store`,
  `SELECT sales FROM shop WHERE ${DAY} AND store != 's1' AND region != 'south'`,
  `SELECT sales FROM shop WHERE ${DAY} AND region !~ /.+/`,
  `SELECT sales FROM shop WHERE ${DAY} AND items = sales`,
  `SELECT sales, items FROM shop WHERE ${DAY} AND items * 2 > sales`,
  `SELECT sales, items FROM shop WHERE ${DAY} AND items + sales > 100 AND items % 2 = 0`,
  `SELECT sales FROM shop WHERE ${DAY} AND sales > 50 AND sales <= 75.5`,
  `SELECT items FROM shop WHERE ${DAY} AND items >= -3 AND items < 3`,
  `SELECT items FROM shop WHERE ${DAY} AND items & 1 = 1 AND store = 's1'`,
  `SELECT clerk FROM shop WHERE ${DAY} AND clerk != 'ann' AND store = 's2'`,
  `SELECT clerk FROM shop WHERE ${DAY} AND clerk > 'ann'`,
  `SELECT open FROM shop WHERE ${DAY} AND open != true AND store = 's3'`,
  `SELECT sales FROM shop WHERE ${DAY} AND 100 < sales`,
  `SELECT sales FROM shop WHERE ${DAY} AND store = 's1' AND true`,
  `SELECT sales FROM shop WHERE ${DAY} AND store = 's1' AND false`,
  `SELECT sales FROM shop WHERE ${DAY} AND nosuch = 'x'`,
  `SELECT sales FROM shop WHERE ${DAY} AND nosuch = '' AND store = 's1' LIMIT 2`,
  `SELECT mean(sales) FROM shop WHERE ${DAY} AND items > 0 GROUP BY time(4h), region fill(0)`,
  `SELECT mean(sales) FROM shop WHERE time >= '2023-01-01T03:17:00Z' AND time <= '2023-01-01T09:00:00Z' GROUP BY time(2h, 45m)`,
  `SELECT mean(sales) FROM shop WHERE time >= '2023-01-01T03:17:00Z' AND time <= '2023-01-01T09:00:00Z' GROUP BY time(2h, -45m)`,
  `SELECT count(sales) FROM shop WHERE time > '2023-01-01T03:00:00Z' + 30m AND time < '2023-01-01T09:00:00Z' - 1h`,
  `SELECT count(sales) FROM shop WHERE time >= 1672531200s AND time < 1672531200s + 6h`,
  `SELECT count(sales) FROM shop WHERE time >= 1672531200000000000 AND '2023-01-01T06:00:00Z' > time`,
]);

// ------------------------------------------------ data set: zones (changes of daylight saving)
const zoneLines = [];
const every3h = (start, hours) => {
  for (let h = 0; h < hours; h += 3)
    zoneLines.push(`load,grid=g1 v=${h},n=${h}i ${start + h * 3600}`);
};
every3h(1678492800, 72); // 2023-03-11T00:00:00Z: New York changes on the 12th at 07:00Z
every3h(1679702400, 72); // 2023-03-25: Berlin on the 26th at 01:00Z
every3h(1698451200, 72); // 2023-10-28: Berlin on the 29th at 01:00Z
every3h(1699056000, 72); // 2023-11-04: New York on the 5th at 06:00Z
every3h(1680220800, 72); // 2023-03-31: Lord Howe on April 1st at 15:00Z, by half an hour
const zones = {
  db: 'zonedb',
  setup: ['CREATE DATABASE zonedb'],
  writes: [{ db: 'zonedb', precision: 's', lines: zoneLines }],
};
const spans = {
  'America/New_York': [
    ["'2023-03-11'", "'2023-03-14'"],
    ["'2023-11-04'", "'2023-11-07'"],
  ],
  'Europe/Berlin': [
    ["'2023-03-25'", "'2023-03-28'"],
    ["'2023-10-28'", "'2023-10-31'"],
  ],
  'Australia/Lord_Howe': [["'2023-03-31'", "'2023-04-03'"]],
};
const zoneCases = [];
for (const [zone, ranges] of Object.entries(spans)) {
  for (const [from, to] of ranges) {
    zoneCases.push(
      ...combine(
        `SELECT {call} FROM load WHERE time >= ${from} AND time < ${to} GROUP BY time({every}) fill({fill}) tz('${zone}')`,
        { call: ['count(v)', 'sum(n)'], every: ['1d', '12h'], fill: ['none', '0'] },
      ),
      `SELECT mean(v) FROM load WHERE time >= ${from} AND time < ${to} GROUP BY time(1d) ORDER BY time DESC tz('${zone}')`,
      `SELECT first(v), last(v) FROM load WHERE time >= ${from} AND time < ${to} GROUP BY time(1d) tz('${zone}')`,
      `SELECT v FROM load WHERE time >= ${from} AND time < ${to} LIMIT 6 tz('${zone}')`,
      `SELECT count(v) FROM load WHERE time >= ${from} AND time < ${to} GROUP BY time(1d, 6h) fill(none) tz('${zone}')`,
      `SELECT max(v) FROM load WHERE time >= ${from} AND time < ${to} tz('${zone}')`,
    );
  }
}
add('time-zones', zones, [
  ...zoneCases,
  "SELECT count(v) FROM load WHERE time >= '2023-03-01' AND time < '2023-04-15' GROUP BY time(1w) fill(none) tz('America/New_York')",
  "SELECT count(v) FROM load WHERE time >= '2023-03-01' AND time < '2023-04-15' GROUP BY time(1w) fill(0) tz('Europe/Berlin')",
  "SELECT count(v) FROM load WHERE time >= '2023-03-11T12:00:00Z' AND time < '2023-03-12T12:00:00Z' GROUP BY time(6h) fill(none) tz('Asia/Kolkata')",
  "SELECT count(v) FROM load WHERE time >= '2023-03-11 12:00:00' AND time < '2023-03-12 12:00:00' GROUP BY time(6h) fill(none) tz('Asia/Kathmandu')",
  "SELECT difference(mean(v)) FROM load WHERE time >= '2023-03-11' AND time < '2023-03-14' GROUP BY time(1d) tz('America/New_York')",
]);

// ------------------------------------------------ data set: limits (64-bit integers, extreme floats)
const edge = {
  db: 'edgedb',
  setup: ['CREATE DATABASE edgedb'],
  writes: [
    {
      db: 'edgedb',
      precision: 's',
      lines: [
        'e,k=a n=9223372036854775807i,m=1i,f=1e15 1600000000',
        'e,k=a n=-9223372036854775808i,m=-1i,f=-1e-9 1600000060',
        'e,k=a n=9223372036854775806i,m=9007199254740993i,f=123456789.123456789 1600000120',
        'e,k=b n=4611686018427387904i,m=3i,f=0.1 1600000000',
        'e,k=b n=4611686018427387904i,m=0i,f=0.2 1600000060',
        'e,k=b n=-1i,m=7i,f=-0.3 1600000120',
      ],
    },
  ],
};
add('overflow', edge, [
  ...combine('SELECT n {op} {operand} FROM e', {
    op: ['+', '-', '*', '/', '%'],
    operand: ['m', '1', '-1', '2'],
  }),
  ...combine("SELECT n {op} m FROM e WHERE k = 'b'", { op: ['&', '|', '^'] }),
  ...combine('SELECT {call} FROM e GROUP BY k', {
    call: [
      'sum(n)',
      'mean(n)',
      'spread(n)',
      'median(n)',
      'stddev(n)',
      'sum(m)',
      'mean(m)',
      'sum(f)',
      'mean(f)',
      'stddev(f)',
      'median(f)',
    ],
  }),
  ...combine("SELECT {call} FROM e WHERE k = '{k}'", {
    call: [
      'difference(n)',
      'non_negative_difference(n)',
      'derivative(n, 1m)',
      'non_negative_derivative(n, 1m)',
      'cumulative_sum(n)',
      'moving_average(n, 2)',
      'integral(n, 1h)',
      'elapsed(n, 7s)',
    ],
    k: ['a', 'b'],
  }),
  'SELECT n::float, m::float, f::integer FROM e',
  'SELECT m * 1.5, m / 2, m % 2 FROM e',
  'SELECT -n, -m FROM e',
  'SELECT n + 9223372036854775807 FROM e',
  'SELECT n - 9223372036854775807 - 2 FROM e',
  'SELECT m / 0, m % 0, f / 0 FROM e',
  'SELECT count(n) FROM e WHERE n > 9223372036854775806',
  'SELECT n FROM e WHERE n = 9223372036854775807',
  'SELECT n FROM e WHERE n < -9223372036854775807',
  'SELECT n FROM e WHERE m = 9007199254740993',
  'SELECT n FROM e WHERE f > 1e15',
  'SELECT f FROM e WHERE f > 999999999999999.5',
  'SELECT floor(f), ceil(f), round(f) FROM e',
  'SELECT round(n), floor(n), ceil(m) FROM e',
  'SELECT pow(m, 2), sqrt(m) FROM e',
  'SELECT percentile(n, 50), max(m) FROM e',
  'SELECT top(n, 2) FROM e',
  'SELECT mode(n) FROM e',
  'SELECT distinct(n) FROM e',
]);

// ------------------------------------------------ data set: types (a field whose type differs between shards)
const types = {
  db: 'typedb',
  setup: [
    'CREATE DATABASE typedb',
    'CREATE RETENTION POLICY daily ON typedb DURATION INF REPLICATION 1 SHARD DURATION 1d DEFAULT',
  ],
  writes: [
    {
      db: 'typedb',
      precision: 's',
      lines: [
        't,k=a v=1.5,w=1i 1577836800', // 2020-01-01
        't,k=b v=2.5,w=2i 1577840400',
        't,k=a v=3i,w=3.25 1577923200', // 2020-01-02
        't,k=b v=4i,w=4.75 1577926800',
        't,k=a v="five",w=5i 1578009600', // 2020-01-03
        't,k=b v=true,w="six" 1578096000', // 2020-01-04
      ],
    },
  ],
};
const ranges = {
  all: "time >= '2020-01-01' AND time < '2020-01-05'",
  integers: "time >= '2020-01-02' AND time < '2020-01-03'",
  texts: "time >= '2020-01-03' AND time < '2020-01-04'",
  booleans: "time >= '2020-01-04' AND time < '2020-01-05'",
};
add('shard-types', types, [
  ...combine('SELECT {call} FROM t WHERE {range}', {
    call: [
      'v',
      'w',
      'v, w',
      'v::integer',
      'v::string',
      'v::boolean',
      'count(v)',
      'sum(v)',
      'last(v)',
      'max(w)',
      'v + w',
    ],
    range: Object.values(ranges),
  }),
  ...combine(`SELECT {call} FROM t WHERE ${ranges.all} GROUP BY {group}`, {
    call: ['count(v)', 'first(v)', 'mean(w)'],
    group: ['k', 'time(1d)', 'time(1d), k'],
  }),
  'SELECT * FROM t',
  'SHOW FIELD KEYS',
  "SELECT count(*) FROM t WHERE time >= '2020-01-01' AND time < '2020-01-05'",
  "SELECT v FROM t WHERE v > 2 AND time < '2020-01-05'",
  "SELECT v FROM t WHERE v = 'five'",
  'SELECT difference(v) FROM t',
]);

// ------------------------------------------------ data set: apart (series and measurements that do not overlap)
const apart = {
  db: 'apartdb',
  setup: ['CREATE DATABASE apartdb'],
  writes: [
    {
      db: 'apartdb',
      precision: 's',
      lines: [
        'a,x=1 p=1 1577836800',
        'a,x=1 p=2 1577840400',
        'a,x=2,y=1 q=3i 1577851200',
        'a,x=2,y=1 q=4i 1577854800',
        'a,y=2 p=5,q=6i 1577865600',
        'a r="only" 1577876400',
        'b,x=1 p=10 1577840400',
        'b,z=9 s=true 1577847600',
      ],
    },
  ],
};
const WHOLE = "time >= '2020-01-01T00:00:00Z' AND time < '2020-01-01T12:00:00Z'";
add('disjoint-series', apart, [
  ...combine('SELECT {fields} FROM {source} {group}', {
    fields: ['*', 'p, q', 'p, x', 'q + 1', 'p + q'],
    source: ['a', 'a, b', '/./'],
    group: ['', 'GROUP BY x', 'GROUP BY *'],
  }),
  ...combine(`SELECT {call} FROM {source} WHERE ${WHOLE} GROUP BY {group}`, {
    call: ['count(p), count(q)', 'max(p), last(q)', 'sum(p) + sum(q)', 'mean(*)'],
    source: ['a', 'a, b'],
    group: ['x', 'time(4h)', 'time(4h), x fill(none)', 'time(6h), x, y fill(0)'],
  }),
  'SELECT count(*) FROM /./',
  'SELECT last(*) FROM a GROUP BY y',
  `SELECT first(p), q FROM a WHERE ${WHOLE} GROUP BY x`,
  'SELECT p FROM a GROUP BY nosuch',
  'SELECT p FROM a, a',
  'SELECT p::tag, x::field FROM a',
  'SHOW TAG VALUES WITH KEY =~ /x|y/',
  "SHOW TAG VALUES WITH KEY IN (x, z) WHERE y = '1'",
  "SHOW SERIES WHERE x = '1'",
  "SHOW TAG KEYS WHERE z = '9'",
]);

// ------------------------------------------------ windows before the range
const steadyLines = [];
for (let i = 0; i < 144; i++)
  steadyLines.push(`d v=${(i * 7) % 53},i=${(i * 11) % 37}i ${OPEN + i * 600}`);
const steady = {
  db: 'steadydb',
  setup: ['CREATE DATABASE steadydb'],
  writes: [{ db: 'steadydb', precision: 's', lines: steadyLines }],
};
add('windows-before', steady, [
  ...combine(
    "SELECT {call} FROM d WHERE time >= '2023-01-01T06:00:00Z' AND time < '2023-01-01T12:00:00Z' GROUP BY time(30m) ORDER BY time {order}",
    {
      call: [
        'difference(mean(v))',
        'derivative(mean(v), 1h)',
        'elapsed(mean(v), 1m)',
        'cumulative_sum(mean(v))',
        'moving_average(mean(v), 2)',
        'moving_average(mean(v), 5)',
        'exponential_moving_average(mean(v), 3)',
        'double_exponential_moving_average(sum(i), 3)',
        'triple_exponential_moving_average(mean(v), 3)',
        "triple_exponential_moving_average(mean(v), 3, -1, 'simple')",
        'relative_strength_index(max(i), 3)',
        'triple_exponential_derivative(mean(v), 3)',
        'kaufmans_efficiency_ratio(mean(v), 3)',
        'kaufmans_adaptive_moving_average(mean(v), 3)',
        'chande_momentum_oscillator(mean(v), 3)',
      ],
      order: ['ASC', 'DESC'],
    },
  ),
  ...combine(
    "SELECT {call} FROM (SELECT mean(v) AS m FROM d GROUP BY time(30m)) WHERE time >= '2023-01-01T06:00:00Z' AND time < '2023-01-01T08:00:00Z'",
    { call: ['difference(m)', 'moving_average(m, 3)', 'cumulative_sum(m)'] },
  ),
  ...combine(
    "SELECT {call} FROM (SELECT v AS m FROM d) WHERE time >= '2023-01-01T06:00:00Z' AND time < '2023-01-01T08:00:00Z' GROUP BY time(30m)",
    { call: ['difference(mean(m))', 'moving_average(mean(m), 3)', 'cumulative_sum(mean(m))'] },
  ),
  // An outer interval is inherited by an inner aggregate; its windows may begin before the range.
  ...combine(
    "SELECT {outer}(m) FROM (SELECT {inner}(v) AS m FROM d) WHERE time >= '2023-01-01T06:10:00Z' AND time < '2023-01-01T08:00:00Z' GROUP BY time({every})",
    { outer: ['max', 'mean', 'count'], inner: ['mean', 'min', 'last'], every: ['30m', '1h'] },
  ),
]);

// ------------------------------------------------ INTO with types
const SELF = 'SELECT * FROM copy';
add('into-types', shop, [
  ...[
    "SELECT sales, items, open, clerk INTO copy FROM shop WHERE store = 's1'",
    "SELECT sales, items INTO copy FROM shop WHERE store = 's1' GROUP BY *",
    `SELECT mean(sales), count(items), last(clerk), last(open) INTO copy FROM shop WHERE ${DAY} GROUP BY time(3h)`,
    `SELECT mean(sales), count(items) INTO copy FROM shop WHERE ${DAY} GROUP BY time(3h), store fill(0)`,
    `SELECT sum(items) AS total INTO copy FROM shop WHERE ${DAY} GROUP BY region`,
    `SELECT max(sales), store INTO copy FROM shop WHERE ${DAY} GROUP BY region`,
    `SELECT difference(mean(sales)) AS d INTO copy FROM shop WHERE ${DAY} GROUP BY time(2h)`,
    "SELECT items / 2 AS half, items % 2 AS rest INTO copy FROM shop WHERE store = 's2'",
    `SELECT top(sales, store, 2) INTO copy FROM shop WHERE ${DAY}`,
    `SELECT m INTO copy FROM (SELECT mean(sales) AS m FROM shop WHERE ${DAY} GROUP BY time(4h), store)`,
    "SELECT clerk::string INTO copy FROM shop WHERE store = 's3'",
  ].map((text) => ({
    q: text.includes(', store fill(0)') ? `${SELF} GROUP BY store` : SELF,
    pre: [text],
  })),
  {
    q: 'SHOW FIELD KEYS FROM copy',
    pre: [
      `SELECT mean(items), sum(items), last(open), mode(clerk) INTO copy FROM shop WHERE ${DAY}`,
    ],
  },
  {
    q: 'SHOW FIELD KEYS FROM shop',
    pre: [{ text: 'SELECT mean(sales) AS items INTO shop FROM shop', mayFail: true }],
  },
  { q: 'SELECT mean(sales) AS items INTO shop FROM shop', fresh: true },
  { q: 'SELECT nosuch INTO copy FROM shop', fresh: true },
]);

// ------------------------------------------------ statements about the schema, every form
add('show-schema', shop, [
  ...combine('SHOW {what} CARDINALITY', {
    what: ['SERIES', 'SERIES EXACT', 'MEASUREMENT', 'MEASUREMENT EXACT', 'TAG KEY', 'TAG KEY EXACT'],
  }),
  ...combine('SHOW {what} CARDINALITY ON shopdb', {
    what: ['SERIES', 'MEASUREMENT', 'TAG KEY EXACT', 'FIELD KEY', 'FIELD KEY EXACT'],
  }),
  ...combine('SHOW {what} CARDINALITY FROM shop', {
    what: ['SERIES', 'SERIES EXACT', 'MEASUREMENT EXACT', 'TAG KEY', 'TAG KEY EXACT', 'FIELD KEY'],
  }),
  ...combine("SHOW {what} CARDINALITY FROM /sh/ WHERE region = 'north' {rest}", {
    what: ['SERIES', 'SERIES EXACT', 'TAG KEY'],
    rest: ['', 'GROUP BY region', 'GROUP BY store LIMIT 1'],
  }),
  ...combine('SHOW TAG VALUES {exact} CARDINALITY {from} WITH KEY {key}', {
    exact: ['', 'EXACT'],
    from: ['', 'FROM shop', 'ON shopdb'],
    key: ['= store', 'IN (store, region)', '=~ /r/', '!= region'],
  }),
  "SHOW TAG VALUES CARDINALITY FROM shop WITH KEY = store WHERE region = 'north'",
  ...combine('SHOW {what} LIMIT 1 OFFSET 1', {
    what: ['MEASUREMENTS', 'SERIES', 'TAG KEYS', 'FIELD KEYS', 'TAG VALUES WITH KEY = store'],
  }),
  ...combine("SHOW {what} WHERE store = 's1'", {
    what: ['MEASUREMENTS', 'SERIES', 'TAG KEYS', 'TAG VALUES WITH KEY = region'],
  }),
  ...combine('SHOW MEASUREMENTS WITH MEASUREMENT {which}', {
    which: ['= shop', '= nosuch', '=~ /^s/', "=~ /^x/ WHERE store = 's1'"],
  }),
  ...combine('SHOW {what} ON nosuchdb', {
    what: ['MEASUREMENTS', 'SERIES', 'TAG KEYS', 'FIELD KEYS', 'RETENTION POLICIES'],
  }),
  ...combine('SHOW {what}', {
    what: ['SERIES EXACT', 'FIELD KEYS FROM shopdb.autogen.shop', 'TAG KEYS FROM /hop/, nosuch'],
  }),
]);

// ------------------------------------------------ bind parameters of every type, comments, several statements
const bound = (q, params) => ({ q, params: { params: JSON.stringify(params) } });
add('parameters', shop, [
  bound("SELECT sales FROM shop WHERE items = $v AND store = 's1' LIMIT 3", { v: 7 }),
  bound('SELECT sales FROM shop WHERE sales > $v LIMIT 2', { v: 99.5 }),
  bound('SELECT sales FROM shop WHERE open = $v LIMIT 2', { v: true }),
  bound('SELECT sales FROM shop WHERE clerk = $v LIMIT 2', { v: 'bob' }),
  bound('SELECT sales FROM shop WHERE clerk = $v LIMIT 2', { v: "b'o\\b" }),
  bound('SELECT sales FROM shop WHERE time >= $from AND time < $to LIMIT 2', {
    from: '2023-01-01T03:00:00Z',
    to: '2023-01-01 05:00:00',
  }),
  bound('SELECT sales FROM shop LIMIT $n OFFSET $o', { n: 2, o: 1 }),
  bound('SELECT sales FROM shop GROUP BY store SLIMIT $n SOFFSET $o', { n: 1, o: 2 }),
  bound('SELECT percentile(sales, $p) FROM shop', { p: 60 }),
  bound(`SELECT mean(sales) FROM shop WHERE ${DAY} GROUP BY time(6h) fill($f)`, { f: 7 }),
  bound('SELECT sales FROM shop WHERE sales > $v LIMIT 2', { v: -1 }),
  bound("SELECT sales FROM shop WHERE store = $v; SHOW TAG KEYS; SELECT $v FROM shop", { v: 's1' }),
  bound('SELECT sales FROM shop WHERE sales > $absent', {}),
  bound('SELECT sales FROM shop WHERE $v', { v: true }),
  'SELECT sales -- the price\nFROM shop LIMIT /* one\nof them */ 1',
  '/* nothing */ ; -- at all\n;',
  'SELECT sales FROM shop LIMIT 1; -- one\n; /* two */ SHOW TAG KEYS;',
  'SELECT sales/**/FROM shop LIMIT/**/1/**/',
  'SELECT sales FROM shop LIMIT 1 /* not closed',
  'SELECT sales FROM shop -- LIMIT 1',
]);

// ------------------------------------------------ INTO with back references
add('into-back-references', shop, [
  ...combine('SELECT * INTO {target} FROM {source} {group}', {
    target: ['autogen.:MEASUREMENT', 'shopdb.autogen.:MEASUREMENT', 'shopdb..:MEASUREMENT'],
    source: ['shop', '/sh/'],
    group: ['GROUP BY *'],
  }).map((q) => ({ q, method: 'POST' })),
  ...['', 'GROUP BY *', 'GROUP BY store', `WHERE ${DAY} GROUP BY time(6h), store`].map((rest) => ({
    q: 'SELECT * FROM copy GROUP BY *',
    pre: [
      {
        text: `SELECT ${rest.includes('time') ? 'mean(sales) AS sales, count(items) AS n' : '*'} INTO copy FROM shop ${rest}`,
        mayFail: true,
      },
    ],
  })),
  { q: 'SELECT * INTO nosuch..:MEASUREMENT FROM shop', method: 'POST' },
  { q: 'SELECT * INTO nosuch.:MEASUREMENT FROM shop', method: 'POST' },
]);

const twoDatabases = { ...shop, setup: [...shop.setup, 'CREATE DATABASE other WITH NAME archive'] };
add('into-other-database', twoDatabases, [
  {
    q: 'SELECT count(*) FROM other.archive./.*/ GROUP BY *',
    pre: ['SELECT sales, items INTO other.archive.:MEASUREMENT FROM /.*/ GROUP BY *'],
  },
]);

// ------------------------------------------------ casts to unsigned, times relative to now()
add('unsigned-casts', shop, [
  ...combine(`SELECT {field}::unsigned FROM shop WHERE ${DAY} AND store = 's1'`, {
    field: ['sales', 'items', 'open', 'clerk', 'store'],
  }),
  `SELECT items::unsigned + 1 FROM shop WHERE ${DAY} AND store = 's1'`,
  `SELECT items::unsigned * 2, sales::integer FROM shop WHERE ${DAY} AND store = 's1'`,
  `SELECT sum(items::unsigned) FROM shop WHERE ${DAY}`,
  `SELECT max(items::unsigned) FROM shop WHERE ${DAY} GROUP BY store`,
  `SELECT u FROM (SELECT items::unsigned AS u FROM shop WHERE ${DAY} AND store = 's2')`,
  `SELECT items FROM shop WHERE items::unsigned > 5 AND ${DAY}`,
]);
// The data is from 2023, so that the answers are the same in every year to come.
add('times-from-now', shop, [
  'SELECT count(sales) FROM shop WHERE time < now()',
  'SELECT count(sales) FROM shop WHERE time > now()',
  'SELECT last(sales) FROM shop WHERE time >= now() - 50000d',
  'SELECT max(sales) FROM shop WHERE time < now() - 1h AND time > now() - 2500w',
  'SELECT count(sales) FROM shop WHERE now() > time',
  'SELECT count(sales) FROM shop WHERE time < now() + 1d - 2d',
  'SELECT count(sales) FROM shop WHERE time > now() OR store = \'s1\'',
  `SELECT mean(m) FROM (SELECT mean(sales) AS m FROM shop WHERE time < now() GROUP BY store)`,
  'SELECT count(sales) FROM shop WHERE time < now(1)',
  'SELECT count(sales) FROM shop WHERE time < now() * 2',
  `SELECT count(sales) FROM shop WHERE time < '2023-01-01T06:00:00Z' + 1h`,
  `SELECT count(sales) FROM shop WHERE time < '2023-01-01' + 90m AND time > '2023-01-01' - 1d`,
]);

// ------------------------------------------------ ranges that end before they start
const LATE = `'2023-01-01T18:00:00Z'`;
const EARLY = `'2023-01-01T06:00:00Z'`;
add('empty-ranges', shop, [
  ...combine(`SELECT {what} FROM shop WHERE time >= ${LATE} AND time <= ${EARLY} {rest}`, {
    what: ['*', 'sales, store', 'mean(sales)', 'count(items), max(sales)', 'first(clerk)', 'top(items, 2)'],
    rest: ['', 'GROUP BY store', 'ORDER BY time DESC LIMIT 2'],
  }),
  `SELECT mean(sales) FROM shop WHERE time > ${LATE} AND time < ${EARLY} GROUP BY time(1h) fill(0)`,
  `SELECT sum(m) FROM (SELECT mean(sales) AS m FROM shop WHERE time > ${LATE} GROUP BY time(1h)) WHERE time < ${EARLY}`,
  `SHOW TAG VALUES WITH KEY = store WHERE time > ${LATE} AND time < ${EARLY}`,
  `SHOW SERIES WHERE time > ${LATE} AND time < ${EARLY}`,
  {
    q: 'SELECT count(sales) FROM shop',
    pre: [`DELETE FROM shop WHERE time > ${LATE} AND time < ${EARLY}`],
  },
]);

// ------------------------------------------------ times as people write them
add('written-times', shop, [
  ...combine("SELECT count(sales) FROM shop WHERE time >= '{time}'", {
    time: [
      '2023-01-01 6:00:00',
      '2023-01-01 6:00:00.5',
      '2023-01-01  06:00:00',
      '2023-01-01   6:00:00',
      '2023-01-01T6:00:00Z',
      '2023-01-01T6:00:00+02:00',
      '2023-01-01 6:0:00',
      '2023-1-01 06:00:00',
      '2023-01-01 26:00:00',
      '2023-01-01 6:00:00Z',
    ],
  }),
  "SELECT count(sales) FROM shop WHERE time >= '2023-01-01 6:00:00' tz('Europe/Berlin')",
]);

// ------------------------------------------------ tags beside numbers and booleans in SHOW
add('show-conditions', shop, [
  ...combine('SHOW {what} WHERE {condition}', {
    what: ['TAG VALUES WITH KEY = store', 'SERIES', 'TAG KEYS', 'MEASUREMENTS'],
    condition: [
      'region = false',
      'region != false',
      'region = 5',
      'region = 1.5',
      'region = 1s',
      "region = 5 AND store = 's1'",
      "region = 5 OR store = 's1'",
      'region > 5',
    ],
  }),
  ...combine('SHOW {what} CARDINALITY{with} WHERE {condition}', {
    what: ['SERIES', 'MEASUREMENT', 'TAG KEY', 'FIELD KEY'],
    with: [''],
    condition: ['region = false', 'region != 5', "region = 5 OR store = 's1'"],
  }),
  ...combine('SHOW {what}{exact} CARDINALITY {from} {where} GROUP BY {tags} {limit}', {
    what: ['MEASUREMENT', 'FIELD KEY'],
    exact: ['', ' EXACT'],
    from: ['', 'FROM /sh/'],
    where: ['', "WHERE region = 'north'"],
    tags: ['region', 'store, region', '*', '/re/', 'nosuch'],
    limit: [''],
  }),
  ...combine('SHOW {what} WHERE {condition}', {
    what: ['SERIES', 'TAG KEYS', 'MEASUREMENTS'],
    condition: ['5 = region', "store::field = 's1'"],
  }),
  'SHOW MEASUREMENT CARDINALITY GROUP BY store LIMIT 1',
  'SHOW FIELD KEY CARDINALITY GROUP BY store LIMIT 1 OFFSET 1',
  'DELETE FROM shop WHERE region = false',
]);

// ------------------------------------------------ operators beside calls of what nobody knows
add('untyped-calls', shop, [
  ...combine(`SELECT {call}(nosuch) {with} FROM shop WHERE ${DAY}`, {
    call: ['sum', 'max', 'spread', 'distinct', 'mean', 'count', 'cumulative_sum', 'derivative', 'mode'],
    with: ['| 1', '+ true', '& 1', "+ 'a'", '| 1.5'],
  }),
  `SELECT sum(nosuch) | 1, sum(items) FROM shop WHERE ${DAY}`,
  `SELECT abs(sum(nosuch)) | 1, sum(items) FROM shop WHERE ${DAY}`,
  `SELECT sum(nosuch) | 1, sum(items) FROM shop WHERE ${DAY} GROUP BY time(6h) fill(5)`,
  `SELECT sum(items) | 1 FROM shop WHERE time > '2030-01-01'`,
  `SELECT max(store) | 1, max(items) FROM shop WHERE ${DAY}`,
  `SELECT sum(store) + 1 FROM shop WHERE ${DAY}`,
  `SELECT store::field, items FROM shop WHERE ${DAY}`,
  `SELECT store::field FROM shop WHERE ${DAY}`,
  `SELECT items::tag, sales FROM shop WHERE ${DAY}`,
]);

const zeros = {
  setup: ['CREATE DATABASE zerodb'],
  writes: [{ db: 'zerodb', lines: ['z,h=a f=-0 1', 'z,h=b f=0 2', 'z,h=a f=-0 3', 'z,h=a f=1 4'] }],
  db: 'zerodb',
};
add('negative-zero', zeros, [
  ...combine('SELECT {what} FROM z {rest}', {
    what: ['distinct(f)', 'count(distinct(f))', 'f', 'first(f)', 'max(f)', 'min(f)', 'sum(f)'],
    rest: ['', 'GROUP BY h', 'WHERE time > 1'],
  }),
  'SELECT d FROM (SELECT distinct(f) AS d FROM z)',
]);

// ------------------------------------------------ rp= of the request, and names of other databases
const policies = {
  db: 'pa',
  setup: [
    'CREATE DATABASE pa',
    'CREATE DATABASE pb',
    'CREATE RETENTION POLICY r2 ON pa DURATION INF REPLICATION 1',
    'CREATE RETENTION POLICY r2 ON pb DURATION INF REPLICATION 1',
    'CREATE RETENTION POLICY only ON pb DURATION INF REPLICATION 1',
  ],
  writes: ['pa', 'pb'].flatMap((db) => [
    { db, lines: [`m f=1,at="${db}" 1`] },
    { db, rp: 'r2', lines: [`m f=2,at="${db} r2" 1`] },
  ]),
};
add(
  'request-policy',
  policies,
  ['r2', 'nosuch', 'only'].flatMap((rp) =>
    [
      'SELECT at FROM m',
      'SELECT at FROM pa..m',
      'SELECT at FROM pb..m',
      'SELECT at FROM pb.autogen.m',
      'SELECT at FROM pb.r2.m',
      'SELECT count(f) FROM (SELECT f FROM pb..m)',
      'SELECT at FROM pb../m/',
      'SELECT at FROM nosuch..m',
      'SHOW FIELD KEYS FROM pb..m',
      'SHOW FIELD KEYS FROM m',
    ].map((q) => ({ q, params: { rp } })),
  ),
);
add(
  'request-policy-of-lists',
  policies,
  ['r2', 'nosuch'].flatMap((rp) =>
    [
      'SHOW SERIES',
      'SHOW SERIES FROM m',
      'SHOW SERIES FROM pa..m',
      'SHOW SERIES WHERE time > 0',
      'SHOW SERIES ON pb',
      'SHOW MEASUREMENTS',
      'SHOW TAG KEYS',
      'SHOW FIELD KEYS',
      'SHOW SERIES EXACT CARDINALITY',
      'SHOW MEASUREMENT EXACT CARDINALITY',
    ].map((q) => ({ q, params: { rp } })),
  ),
);
const NAMED = 'CREATE CONTINUOUS QUERY c ON pb BEGIN SELECT mean(f) INTO {into} FROM {from} GROUP BY time(1h) END';
add('continuous-query-names', policies, [
  { q: combine(NAMED, { into: ['avg'], from: ['only.m'] })[0], method: 'POST', fresh: true },
]);

// ------------------------------------------------ rows of one time in many series, in two shards and two policies
const tied = { db: 'ties', setup: ['CREATE DATABASE ties', 'CREATE RETENTION POLICY r2 ON ties DURATION INF REPLICATION 1'] };
const tiedLines = Array.from({ length: 23 }, (_, k) => {
  const tags = `host=h${(k * 7) % 23}${k % 4 === 0 ? '' : `,zone=z${k % 3}`}`;
  const fields = [`f=${random(8) / 4}`, `i=${random(5)}i`, `b=${random(2) === 1}`, `s="${['ann', 'bob', 'cyd'][random(3)]}"`];
  const line = (time) => `m,${tags} ${fields.filter(() => random(5) > 0).join() || 'f=9'} ${time}`;
  // The first and the last time of each shard have several series, and not all.
  return [0, 600, 7 * 86_400, 7 * 86_400 + 600].flatMap((time) =>
    random(3) === 0 ? [] : [line(OPEN + time + (random(3) === 0 ? 60 : 0))],
  );
}).flat();
tied.writes = [
  { db: 'ties', precision: 's', lines: tiedLines },
  { db: 'ties', rp: 'r2', precision: 's', lines: tiedLines.map((line) => line.replace(/f=[\d.]+/, 'f=1.5')) },
];
add('equal-times', tied, [
  ...combine('SELECT {end}({field}) FROM m{rest}', {
    end: ['first', 'last'],
    field: ['f', 'i', 'b', 's', '*'],
    rest: ['', ' GROUP BY zone', ' GROUP BY *', " WHERE time < '2023-01-08T00:05:00Z'"],
  }),
  ...combine('SELECT {end}(f), {beside} FROM m{rest}', {
    end: ['first', 'last'],
    beside: ['i', 's', 'host', 'zone, s', 'last(i)', 'first(s), mean(f)', 'median(i)'],
    rest: ['', ' GROUP BY zone'],
  }),
  ...combine('SELECT {end}({field}) FROM {from}', {
    end: ['first', 'last'],
    field: ['f', 'i'],
    from: [
      'autogen.m, r2.m',
      'm WHERE f > 0.5',
      "m WHERE zone = 'z1' OR f < 1",
      'm WHERE f + i > 1',
      'm ORDER BY time DESC',
      'm LIMIT 1',
      "m WHERE time >= '2023-01-01T00:05:00Z' AND time <= '2023-01-08T00:00:00Z'",
      'm GROUP BY time(1w) fill(none)',
      'm GROUP BY time(10m), zone fill(none)',
      '(SELECT f, i FROM m)',
      '(SELECT last(f) AS f, first(i) AS i FROM m)',
    ],
  }),
  ...combine('SELECT {names} FROM m{rest}', {
    names: ['f', 's', 's, zone', 'zone, f', 'host, i', '*'],
    rest: ['', ' ORDER BY time DESC', ' LIMIT 7'],
  }),
  'SELECT f FROM (SELECT first(f) AS f FROM m)',
  'SELECT f FROM (SELECT last(f) AS f FROM m) GROUP BY zone',
]);

// ------------------------------------------------ casts of tags that subqueries select; where reading subqueries ends
add('subquery-tag-casts', shop, [
  ...combine('SELECT {what} FROM (SELECT sales, store FROM shop {group}) {rest}', {
    what: [
      'store::field',
      'store::tag',
      'store::field, sales',
      'store::field, region::field',
      'region::field, sales',
      '*::field',
      '*::tag',
      '*::tag, sales',
      'count(store::field)',
      'count(store::tag)',
      'first(store::tag), sales',
      'last(store::field), sales',
      'distinct(store::tag)',
      'mean(store::tag)',
    ],
    group: ['', 'GROUP BY region'],
    rest: ['', "WHERE store::field = 's1'"],
  }),
  ...combine('SELECT {what} FROM (SELECT sales, store AS at FROM shop)', { what: ['at::field', 'at::tag', '*::tag'] }),
]);
add('several-subqueries-end', apart, [
  ...combine(`SELECT {call} FROM {from} WHERE ${WHOLE}`, {
    call: ['min', 'count', 'sum', 'mean', 'first', 'last', 'max', 'median', 'stddev'].map((name) => `${name}(v)`),
    from: [
      '(SELECT min(p) AS v FROM a GROUP BY time(30m, 19m)), (SELECT p AS v FROM b)',
      '(SELECT p AS v FROM a), (SELECT min(p) AS v FROM b GROUP BY time(2h, 30m))',
    ],
  }),
  `SELECT min(v), max(v) FROM (SELECT min(p) AS v FROM a GROUP BY time(30m, 19m)), (SELECT p AS v FROM b) WHERE ${WHOLE}`,
]);

// ------------------------------------------------ lines between two points: which digits they have
const slopes = {
  db: 'slopes',
  setup: ['CREATE DATABASE slopes'],
  writes: [
    {
      db: 'slopes',
      precision: 's',
      lines: [
        'm f=2,i=2i 1614563466',
        'm f=-2,i=-9i 1614566176',
        'k f=1,i=9007199254740993i 1614563466',
        'k f=0.3,i=9007199254741993i 1614566176',
      ],
    },
  ],
};
add('linear-digits', slopes, [
  ...combine(
    'SELECT {call} FROM {from} WHERE time >= 1614561840s AND time < 1614569460s GROUP BY time({every}) fill(linear){rest}',
    {
      call: ['mean(f)', 'max(i)', 'median(i)'],
      from: ['m', 'k'],
      every: ['10m', '7m', '7m, 2m', '90s'],
      rest: ['', ' ORDER BY time DESC', " tz('America/New_York')"],
    },
  ),
]);

// A duration is a value where a time or an argument stands, and none anywhere else.
const durations = {
  db: 'durations',
  setup: ['CREATE DATABASE durations'],
  writes: [{ db: 'durations', precision: 's', lines: ['m f=2,i=3i,s="a",b=true 1', 'm f=4,i=8i 2'] }],
};
add('durations', durations, [
  ...combine('SELECT {what} FROM m', {
    what: [
      ...combine('{a} {operator} 1h', { a: ['f', 'i', 'sum(f)'], operator: ['+', '-', '*', '/', '%'] }),
      'i & 1h',
      's + 1h',
      '1h / f',
      'b + 1h',
      'f::tag + 1h',
      'pow(f, 1h)',
      '(f + 1h) * 2',
      'f, i + 1h',
      '1h',
    ],
  }),
  ...combine('SELECT f FROM m WHERE {condition}', {
    condition: ['i < 1h', '1h > i', 'i != 1h', 'f + 1h > 3', 's = 1h', 'i < 1h OR f = 2', 'time > 0 + 1s'],
  }),
  'SELECT sum(f) + 1h FROM m WHERE time > 0 AND time < 10s GROUP BY time(5s) fill(3)',
  'SELECT max(x) FROM (SELECT i + 1h AS x FROM m)',
  'SELECT x + 1 FROM (SELECT i + 1h AS x FROM m)',
]);

// A tag that a subquery selects as a field has no values, and is a tag to what stands around it. Of
// functions of two numbers the second is checked where nobody knows the first.
const tagsAsFields = {
  db: 'tagsasfields',
  setup: ['CREATE DATABASE tagsasfields'],
  writes: [
    {
      db: 'tagsasfields',
      precision: 's',
      lines: ['n,host=a f=2,i=3i,s="a",b=true 1', 'n,host=b f=4,i=8i 2'],
    },
  ],
};
add('tags-as-fields', tagsAsFields, [
  'SELECT min(i) FROM (SELECT host::field AS i FROM n)',
  'SELECT min(i) FROM (SELECT f, host::field AS i FROM n)',
  'SELECT min(i), sum(f) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT sum(i), sum(f) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT max(i) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT mean(i) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT count(i) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT first(i) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT spread(i) FROM (SELECT f AS f, host::field AS i FROM n)',
  'SELECT min(host) FROM n',
  'SELECT min(host::field) FROM n',
  'SELECT min(i) FROM (SELECT f, s AS i FROM n)',
  'SELECT min(host) FROM (SELECT f, host FROM n)',
  'SELECT *::tag FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT *::tag FROM (SELECT i AS f, host AS g FROM n)',
  'SELECT *::field FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT * FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT g FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT g::tag FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT g::field FROM (SELECT i AS f, host::field AS g FROM n)',
  'SELECT *::tag FROM (SELECT i AS f, host::field FROM n) GROUP BY host',
  'SELECT atan2(f, g) FROM (SELECT s AS g FROM n)',
  'SELECT pow(f, s) FROM n',
  'SELECT pow(nosuch, s) FROM n',
  'SELECT pow(s, nosuch) FROM n',
  'SELECT pow(nosuch, b) FROM n',
  'SELECT log(nosuch, host) FROM n',
  'SELECT pow(host, s) FROM n',
  'SELECT pow(nosuch, host) FROM n',
  'SELECT x + 1 FROM (SELECT i AS f, host::field AS x FROM n)',
  "SELECT f FROM (SELECT i AS f, host::field AS x FROM n) WHERE x = 'a'",
  'SELECT f, x FROM (SELECT i AS f, host::field AS x FROM n) GROUP BY x',
  'SELECT distinct(x) FROM (SELECT i AS f, host::field AS x FROM n)',
  'SELECT mode(x) FROM (SELECT i AS f, host::field AS x FROM n)',
  'SELECT last(*) FROM (SELECT i AS f, host::field AS x FROM n)',
  'SELECT count(*) FROM (SELECT i AS f, host::field AS x FROM n)',
  'SELECT mean(*) FROM (SELECT i AS f, host::field AS x FROM n)',
  'SELECT x FROM (SELECT last(f), host::field AS x FROM n)',
  'SELECT f, x FROM (SELECT first(i) AS f, host::field AS x FROM n)',
  'SELECT x FROM (SELECT host::field AS x FROM n)',
  'SELECT pow(nosuch, s) FROM n WHERE time < 5s GROUP BY host fill(3)',
  'SELECT s::float, s FROM n WHERE s !~ /^r/',
  'SELECT s::integer, s FROM n WHERE s =~ /a/',
]);

// Patterns beside patterns in GROUP BY, and windows of subqueries that begin before the range.
const patterns = {
  setup: ['CREATE DATABASE patterns'],
  db: 'patterns',
  writes: [
    {
      db: 'patterns',
      precision: 's',
      lines: [
        'k,host=a,zone=x f=1,g=2.5 0',
        'k,host=b,zone=x f=3 300',
        'k,host=a,zone=y f=5,g=7.5 1500',
      ],
    },
  ],
};
add('patterns', patterns, [
  ...combine('SELECT {what} FROM k GROUP BY {tags}', {
    what: ['*', '*::tag', '*::field', '/o|g/', '*, f', 'host, *', 'max(*)', 'top(f, host, 2), g'],
    tags: ['/^z/', '/^q/', '/^z/, host', '*', 'zone'],
  }),
  ...combine('SELECT * FROM ({inner}) GROUP BY {tags}', {
    inner: [
      'SELECT f FROM k GROUP BY *',
      'SELECT f FROM k GROUP BY /^z/',
      'SELECT * FROM k GROUP BY /^z/',
      'SELECT host, f FROM k',
      'SELECT f FROM k GROUP BY nosuch',
    ],
    tags: ['/^[hz]/', '/^q/', 'host'],
  }),
  'SELECT *::tag FROM (SELECT g FROM k GROUP BY nosuch, host) GROUP BY /^h/',
  ...combine(
    'SELECT count(v), sum(w) FROM (SELECT {calls} FROM (SELECT {inner}(f) AS f FROM k GROUP BY time(10m))) WHERE time >= 3m AND time < 30m GROUP BY time(10m){order}',
    {
      calls: [
        'cumulative_sum(f) AS v, derivative(f) AS w',
        'cumulative_sum(f) AS w, non_negative_derivative(f) AS v',
        'moving_average(f, 2) AS v, difference(f) AS w',
        'elapsed(f) AS v, cumulative_sum(f) AS w',
      ],
      inner: ['count', 'max'],
      order: ['', ' ORDER BY time DESC'],
    },
  ),
]);

// Tags in calls of top and bottom that a subquery does not know.
add('patterns', patterns, [
  ...combine('SELECT {what} FROM (SELECT {call} AS v FROM ({inner})){group}', {
    what: ['host', 'host, v', 'host::tag', 'host::field', '*', 'count(host)'],
    call: ['top(f, host, 2)', 'bottom(f, host, zone, 2)'],
    inner: ['SELECT f FROM k', 'SELECT max(f) AS f FROM k GROUP BY zone', 'SELECT f, host FROM k'],
    group: ['', ' GROUP BY zone'],
  }),
  'SELECT nosuch FROM (SELECT top(f, nosuch, 2) AS v FROM k)',
  'SELECT nosuch, v FROM (SELECT top(f, nosuch, 2) AS v FROM k)',
  'SELECT host FROM (SELECT top(f, host, 2), host AS x FROM (SELECT f FROM k))',
]);

export default groups;
