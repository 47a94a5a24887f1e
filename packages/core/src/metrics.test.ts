import { expect, test } from 'vitest';

import { familiesOf, LatencyHistogram, printMetrics, RequestMetrics } from './metrics.ts';
import type { MetricTable } from './metrics.ts';

test('families are printed with help, type and escaped labels; empty ones are left out', () => {
  const text = printMetrics([
    {
      name: 'a_total',
      type: 'counter',
      help: 'With a \\ and\na line.',
      samples: [
        { labels: { path: 'C:\\ "x"\n', empty: '' }, value: 3 },
        { labels: {}, value: 9007199254740993n },
      ],
    },
    { name: 'b', type: 'gauge', help: 'Nothing.', samples: [] },
  ]);

  expect(text).toBe(
    [
      '# HELP a_total With a \\\\ and\\na line.',
      '# TYPE a_total counter',
      'a_total{path="C:\\\\ \\"x\\"\\n"} 3',
      'a_total 9007199254740993',
      '',
    ].join('\n'),
  );
});

const TABLE: MetricTable = {
  prefix: 'p',
  rows: [
    { module: 'm', value: 'ok', name: 'x_total', type: 'counter', help: 'X.', labels: { o: 'ok' } },
    {
      module: 'm',
      value: 'bad',
      name: 'x_total',
      type: 'counter',
      help: 'X.',
      labels: { o: 'bad' },
    },
    { module: 'm', value: 'ns', name: 'x_seconds', type: 'gauge', help: 'S.', divisor: 1e9 },
    { module: 'm', value: 'sum', name: 'sum', type: 'gauge', help: 'Sum.', needs: 'to' },
  ],
  omitted: new Set(['m.twice', 'gone']),
};

test('a table gives counters their names, units and labels', () => {
  const families = familiesOf(
    [
      { name: 'm', tags: {}, values: { ok: 2, bad: 1n, ns: 1.5e9, sum: 4, twice: 2, text: 'x' } },
      { name: 'm', tags: { to: 'h' }, values: { sum: 4 } },
      { name: 'gone', tags: {}, values: { all: 1 } },
      { name: 'newOne', tags: { someTag: 't' }, values: { someValue: 5 } },
    ],
    TABLE,
  );

  expect(printMetrics(families)).toBe(`# HELP p_x_total X.
# TYPE p_x_total counter
p_x_total{o="ok"} 2
p_x_total{o="bad"} 1
# HELP p_x_seconds S.
# TYPE p_x_seconds gauge
p_x_seconds 1.5
# HELP p_sum Sum.
# TYPE p_sum gauge
p_sum{to="h"} 4
# HELP p_new_one_some_value someValue of newOne.
# TYPE p_new_one_some_value gauge
p_new_one_some_value{some_tag="t"} 5
`);
});

test('a histogram counts up to each bound, the bound included', () => {
  const histogram = new LatencyHistogram('h_seconds', 'H.');
  for (const seconds of [0.0005, 0.02, 0.02, 100]) histogram.observe(seconds);

  const lines = printMetrics([histogram.family()]).split('\n');

  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE h_seconds histogram',
      'h_seconds_bucket{le="0.0005"} 1',
      'h_seconds_bucket{le="0.01"} 1',
      'h_seconds_bucket{le="0.025"} 3',
      'h_seconds_bucket{le="30"} 3',
      'h_seconds_bucket{le="+Inf"} 4',
      'h_seconds_sum 100.0405',
      'h_seconds_count 4',
    ]),
  );
});

test('requests are counted by endpoint, method and status', () => {
  const requests = new RequestMetrics('p', { queries: 'Q.' });
  const write = { method: 'POST', endpoint: '/write', status: 204 };
  requests.count(write);
  requests.count(write);
  requests.count({ ...write, status: 400 });

  expect(printMetrics(requests.families())).toContain(
    'p_http_requests_total{method="POST",endpoint="/write",status="204"} 2\n' +
      'p_http_requests_total{method="POST",endpoint="/write",status="400"} 1\n',
  );
});
