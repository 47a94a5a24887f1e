// SELECT INTO a copy: every name and value is kept, whether rows are written as lines or as points.
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

const LINES = [
  'm,host=a,zone=b\\ c f=1.5,i=9223372036854775807i,s="a \\"b\\" \\\\c, d=e\nnext",b=true 1',
  'm,host=a,zone=b\\ c f=-0,i=-9223372036854775808i,b=false 2',
  'm,host=ä😀 f=5e-324,s="" 1',
  'm f=1.7976931348623157e308,i=0i 1',
  'm f=1e21,s="x" 3',
  'comma\\,blank\\ name,k\\=ey=v\\,w,k\\ 2=v\\=x fi\\=eld=0.1,other\\ one=123456.789 4',
  'back\\slash,host=c:\\dir f=1,pa\\th="c:\\\\x" 5',
  'quo"te,host="h" f=2,"q"=3 6',
];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.query('CREATE DATABASE d; CREATE DATABASE copy');
  const { status } = await service.write(LINES.join('\n'), { db: 'd' });
  if (status !== 204) throw new Error(`write answered ${status}`);
});
afterAll(() => service.close());

test.each(['/.*/', 'm', '/^(back|quo)/', '/comma/'])(
  'a copy of %s by :MEASUREMENT and GROUP BY * is the same',
  async (source) => {
    await service.query('DROP DATABASE copy; CREATE DATABASE copy');
    const text = `SELECT * INTO copy.autogen.:MEASUREMENT FROM ${source} GROUP BY *`;
    const { json } = await service.query(text, { db: 'd', epoch: 'ns' });

    const read = [`SELECT * FROM ${source} GROUP BY *`, `SHOW FIELD KEYS FROM ${source}`];
    for (const statement of [...read, `SHOW SERIES FROM ${source}`]) {
      const original = await service.query(statement, { db: 'd' });
      const copied = await service.query(statement, { db: 'copy' });
      expect(copied.text).toBe(original.text);
      expect(original.text).toContain('"values"');
    }
    const rows = await service.query(`SELECT * FROM ${source}`, { db: 'd' });
    const count = rows.json.results[0].series.flatMap((one: { values: unknown[] }) => one.values);
    expect(json.results[0].series[0].values).toEqual([[0, count.length]]);
  },
);

test('tags that are not grouped by become text, of top and bottom they stay tags', async () => {
  await service.query('DROP DATABASE copy; CREATE DATABASE copy');
  await service.query('SELECT * INTO copy.autogen.plain FROM m', { db: 'd' });
  await service.query('SELECT top(f, host, 2) INTO copy.autogen.highest FROM m', { db: 'd' });

  const keys = await service.query('SHOW TAG KEYS', { db: 'copy' });
  expect(keys.json.results[0].series).toEqual([
    { name: 'highest', columns: ['tagKey'], values: [['host']] },
  ]);
  const fields = await service.query('SHOW FIELD KEYS FROM plain', { db: 'copy' });
  expect(fields.json.results[0].series[0].values).toContainEqual(['zone', 'string']);
});

test('more rows than are handed over at once all arrive', async () => {
  const lines = Array.from({ length: 25_000 }, (_, i) => `many,host=h${i % 3} f=${i} ${i}`);
  await service.write(lines.join('\n'), { db: 'd' });
  const { json } = await service.query('SELECT f INTO copy.autogen.many FROM many GROUP BY host', {
    db: 'd',
  });

  expect(json.results[0].series[0].values[0][1]).toBe(25_000);
  const { text } = await service.query('SELECT count(f), sum(f) FROM many', { db: 'copy' });
  expect(text).toContain('25000,312487500');
});

test('a type that the target has already refuses the points that differ', async () => {
  await service.query('DROP DATABASE copy; CREATE DATABASE copy');
  await service.write('taken f="text" 9', { db: 'copy' });
  const { json } = await service.query('SELECT f INTO copy.autogen.taken FROM m', { db: 'd' });

  expect(json.results[0].error).toMatch(
    /^partial write: field type conflict: input field f on measurement taken is type float, already exists as type string dropped=\d+$/,
  );
});
