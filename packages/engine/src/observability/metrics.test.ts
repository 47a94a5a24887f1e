// The page of metrics: conventions, requests by endpoint, times of writes and queries, deliveries
// by handler.
import { eventually, metricProblems, TestServer } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];

const STREAM = `var data = stream|from().groupBy('h')
data|default().field('x', 1.0)|delete().tag('x')|httpOut('out')
data|window().period(1m).every(1m)|mean('v')|influxDBOut().database('d')
data|alert().id('{{ .Group }}').crit(lambda: TRUE).topic('t')
data|kapacitorLoopback().database('other').retentionPolicy('r')`;
const BATCH = "batch|query('SELECT v FROM d.r.m').period(1s).every(1h)|httpOut('out')";

test('all statistics are metrics with a name, a unit and a sentence', async () => {
  const engine = new TestEngine();
  const database = new TestServer(() => ({ body: '{"results":[{}]}' }));
  await database.open();
  const { url } = database;
  try {
    await engine.start({
      tsdb: [{ name: 'main', urls: [url], default: true, 'disable-subscriptions': true }],
      udp: [{ enabled: true, 'bind-address': '127.0.0.1:0', database: 'd' }],
      'static-discovery': [{ enabled: true, id: 'x', targets: ['127.0.0.1:1'] }],
      scraper: [
        {
          enabled: true,
          name: 's',
          type: 'prometheus',
          scheme: 'http',
          db: 'd',
          rp: 'r',
          'discoverer-id': 'x',
          'discoverer-service': 'static-discovery',
        },
      ],
    });
    const define = async (id: string, script: string): Promise<void> => {
      const task = { id, dbrps: DBRPS, script, status: 'enabled' };
      expect((await engine.call('POST', '/engine/v1/tasks', task)).status).toBe(200);
    };
    await define('stream', STREAM);
    await define('batch', BATCH);
    const handlers = '/engine/v1preview/alerts/topics/t/handlers';
    await engine.call('POST', handlers, { id: 'deaf', kind: 'smtp', options: {} });
    await engine.call('POST', handlers, {
      id: 'file',
      kind: 'publish',
      options: { topics: ['u'] },
    });
    await engine.call('POST', '/write?db=d&rp=r', 'm,h=a v=1 1\nm,h=b v=1 1');
    await engine.call('POST', '/write?db=d&rp=r', 'm,h=a v=');
    await engine.call('GET', '/engine/v1/tasks/absent');
    const recording = { id: 'r', task: 'batch', start: '2020-01-01T00:00:00Z' };
    const stop = '2020-01-01T02:00:00Z';
    await engine.call('POST', '/engine/v1/recordings/batch', { ...recording, stop });

    const text = await eventually('all deliveries and queries', async () => {
      const page = (await engine.call('GET', '/metrics')).bytes.toString();
      const isDone =
        page.includes('tidemark_engine_dead_letters 2\n') &&
        page.includes('tidemark_engine_query_duration_seconds_count 2\n');
      return isDone ? page : undefined;
    });

    expect(metricProblems(text, 'tidemark_engine_')).toEqual([]);
    for (const line of [
      'http_requests_total{method="POST",endpoint="/write",status="204"} 1',
      'http_requests_total{method="POST",endpoint="/write",status="400"} 1',
      'http_requests_total{method="GET",endpoint="/engine/v1/tasks/:id",status="404"} 1',
      'http_requests_total{method="POST",endpoint="/engine/v1/tasks",status="200"} 2',
      'write_duration_seconds_bucket{le="+Inf"} 2',
      'alert_deliveries_total{topic="t",handler="deaf",outcome="failed"} 2',
      'alert_deliveries_total{topic="t",handler="file",outcome="delivered"} 2',
      'points_written_total{outcome="accepted"} 2',
      'tasks_running 2',
    ]) {
      expect(text).toContain(`tidemark_engine_${line}\n`);
    }
    expect(text).toMatch(/^tidemark_engine_info\{cluster_id="[^"]+",.*version="[^"]+"\} 1$/m);
    expect(text).toMatch(
      /^tidemark_engine_node_collected_total\{task="stream",node="from1",type="stream",kind="from"\} 2$/m,
    );
  } finally {
    await engine.close();
    await database.close();
  }
});
