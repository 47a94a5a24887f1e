// Scrapers: which targets they read, and how they convert samples.
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tidemark/core';
import type { ListenerPoint } from '@tidemark/listeners';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { httpSender } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import { eventually, optionsGiven, sectionsOf, TestServer } from '@tidemark/testkit';
import type { Target } from './discover.ts';
import { discover, findDiscoverer } from './discover.ts';
import { parsePrometheusText } from './prometheus-text.ts';
import { Scrapers, tryScraper } from './scrapers.ts';
import type { ScrapersOptions } from './scrapers.ts';
import { SCRAPE_SECTIONS } from '../config/scrape-sections.ts';

const PAGE = `# HELP requests Requests.
# TYPE requests counter
requests{code="200",path="/a\\"b"} 1027 1395066363000
requests{code="500",} 3
up 1
broken NaN
no value here
`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'scrape-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Looks up the targets of the only element of a discoverer's section. */
function discoverWith(
  service: string,
  given: Options,
  resolver: Resolver,
): Promise<readonly Target[]> {
  const sections = sectionsOf({ [service]: [{ enabled: true, ...given }] });
  return discover(findDiscoverer(service, 'default', sections), resolver);
}

test('samples of a page are read; what is none is told by its line', () => {
  const { samples, badLines } = parsePrometheusText(PAGE);

  expect(samples).toEqual([
    {
      name: 'requests',
      labels: [
        ['code', '200'],
        ['path', '/a"b'],
      ],
      value: 1027,
    },
    { name: 'requests', labels: [['code', '500']], value: 3 },
    { name: 'up', labels: [], value: 1 },
    { name: 'broken', labels: [], value: Number.NaN },
  ]);
  expect(badLines).toEqual([7]);
});

test.each(['1e3', '+Inf', '-inf', '.5', '-1'])('%s is a value', (value) => {
  expect(parsePrometheusText(`m ${value}`).samples).toHaveLength(1);
});

test.each(['m{a="b" 1', 'm 0x10', 'm', '{} 1', 'm{a=b} 1', 'm 1 2 3'])(
  '%s is no sample',
  (line) => {
    expect(parsePrometheusText(line).badLines).toEqual([1]);
  },
);

describe('targets', () => {
  const resolver = new Resolver();

  test('of files in JSON and YAML', async () => {
    writeFileSync(
      join(directory, 'a.json'),
      '[{"targets": ["a:1", "b:2"], "labels": {"dc": "x"}}]',
    );
    writeFileSync(join(directory, 'b.yml'), '- targets:\n    - c:3\n');
    const found = await discoverWith(
      'file-discovery',
      { files: [join(directory, '*.json'), join(directory, 'b.yml')] },
      resolver,
    );

    expect(found.map(({ address, labels }) => [address, labels.get('dc')])).toEqual([
      ['a:1', 'x'],
      ['b:2', 'x'],
      ['c:3', undefined],
    ]);
  });

  test('of a file that lists none are refused by its name', async () => {
    writeFileSync(join(directory, 'a.json'), '{"targets": []}');
    const files = [join(directory, 'a.json')];

    await expect(discoverWith('file-discovery', { files }, resolver)).rejects.toThrow('a.json');
  });

  test('of a name server', async () => {
    const server = await nameServer([10, 1, 2, 3]);
    try {
      resolver.setServers([`127.0.0.1:${server.address().port}`]);
      const found = await discoverWith(
        'dns',
        { 'record-names': ['exporter.test'], type: 'A', port: 9100 },
        resolver,
      );

      expect(found.map(({ address }) => address)).toEqual(['10.1.2.3:9100']);
    } finally {
      server.close();
    }
  });
});

/** A name server that knows one address for every name. */
async function nameServer(address: readonly number[]): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, from) => {
    // The question without what may follow it: header, name, type and class.
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    query.copy(header, 0, 0, 2);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
    server.send(Buffer.concat([header, question, answer]), from.port, from.address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  return server;
}

describe('scrapers', () => {
  let exporter: TestServer;
  let address = '';
  let status = 200;
  let sections: Record<string, readonly Options[]> = {};
  let points: ListenerPoint[] = [];
  let problems: string[] = [];
  let dropped: { readonly count: number; readonly reason: string } | undefined;
  let written: (() => void) | undefined;
  const sender = httpSender();

  beforeEach(async () => {
    points = [];
    problems = [];
    dropped = undefined;
    status = 200;
    exporter = new TestServer(() => ({ status, body: PAGE }));
    await exporter.open();
    address = `127.0.0.1:${exporter.port}`;
    sections = {
      'static-discovery': [
        { enabled: true, targets: [address, 'left.out:1'], labels: { dc: 'x', job: 'j' } },
      ],
      scraper: [
        {
          enabled: true,
          name: 'web',
          db: 'prom',
          rp: 'short',
          'discoverer-service': 'static-discovery',
          'discoverer-id': 'default',
          blacklist: ['left.out:1'],
          'bearer-token': 'secret',
          params: { match: ['up', 'requests'] },
        },
      ],
    };
  });

  afterEach(async () => {
    await sender.close();
    await exporter.close();
  });

  function scrapersOptions(): ScrapersOptions {
    return {
      sections: sectionsOf(sections),
      http: sender,
      writes: {
        writePoints: ({ database, retentionPolicy }, given) => {
          expect([database, retentionPolicy]).toEqual(['prom', 'short']);
          points.push(...given);
          written?.();
          return Promise.resolve({ pointsWritten: given.length - (dropped?.count ?? 0), dropped });
        },
      },
      clock: systemClock(),
      log: (_level, message) => {
        problems.push(message);
        written?.();
      },
      resolver: new Resolver(),
    };
  }

  async function scrapeOnce(): Promise<void> {
    const scrapers = new Scrapers(scrapersOptions());
    const done = new Promise<void>((resolve) => (written = resolve));
    await scrapers.update();
    await done;
    await scrapers.close();
  }

  test('samples that are dropped are counted, and the log says why', async () => {
    dropped = { count: 2, reason: 'too old' };
    const scrapers = new Scrapers(scrapersOptions());
    await scrapers.update();
    const values = await eventually('the count', () => {
      const [statistic] = scrapers.statistics();
      return Promise.resolve(statistic?.values['dropped'] === 2n ? statistic.values : undefined);
    });
    await scrapers.close();

    expect(values).toMatchObject({ samples: 3n, dropped: 2n });
    expect(problems).toContain('scraped points were dropped');
  });

  test('write a point per sample with labels, instance and name as tags, values that are none left out', async () => {
    await scrapeOnce();

    expect(
      points.map(({ measurement, tags, fields }) => [
        measurement,
        Object.fromEntries(tags),
        fields,
      ]),
    ).toEqual([
      [
        'requests',
        { __name__: 'requests', code: '200', dc: 'x', instance: address, path: '/a"b' },
        [['value', 1027]],
      ],
      [
        'requests',
        { __name__: 'requests', code: '500', dc: 'x', instance: address },
        [['value', 3]],
      ],
      ['up', { __name__: 'up', dc: 'x', instance: address }, [['value', 1]]],
    ]);
    expect(exporter.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/metrics?match=up&match=requests', 'Bearer secret'],
    ]);
  });

  test('a target that answers with an error costs one scrape and says so', async () => {
    status = 500;
    await scrapeOnce();

    expect(points).toEqual([]);
    expect(problems).toEqual(['failed to scrape']);
    await expect(tryScraper('web', scrapersOptions())).rejects.toThrow('HTTP status 500');
  });

  test('a scraper that is not configured cannot be tried', async () => {
    await expect(tryScraper('other', scrapersOptions())).rejects.toThrow('is not enabled');
  });
});

test.each([
  ['scraper', { 'discoverer-id': '' }, 'must be given a discoverer-id'],
  ['scraper', { 'discoverer-id': 'x', 'discoverer-service': 'ec2' }, 'unknown discoverer service'],
  ['scraper', { type: 'other' }, 'unknown scraper type'],
  ['scraper', { 'proxy-url': 'http://p' }, 'proxy-url is not supported'],
  ['dns', { type: 'MX' }, 'invalid DNS-SD records type'],
  ['file-discovery', { files: ['/a/b.txt'] }, 'is not valid for discovery'],
  ['static-discovery', { id: '' }, 'must be given an id'],
] as const)('%s with %j is refused', (name, given, text) => {
  const section = SCRAPE_SECTIONS.find((each) => each.name === name);
  const options = optionsGiven(section?.options ?? {}, { enabled: true, ...given });

  expect(section?.validate?.(options)).toContain(text);
});
