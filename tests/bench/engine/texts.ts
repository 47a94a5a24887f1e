// Benchmark of tasks over texts, processor time per million rows: `text-filter` compares a text and
// rewrites another by a pattern, `text-alert` quotes a text in its messages. Rows are events with a
// message of 80 to 200 bytes, a level and a code; one in twenty is an error. Each round counts what
// its task has let through. `npm run bench -- engine/texts [-- rows]`; needs a build.
import { makeDirectory, removeDirectory, seededRandom, startTidemark } from '@tidemark/testkit';
import { setTimeout } from 'node:timers/promises';

import { processorMs } from '../server/processor.ts';

const [rows = 400_000] = process.argv.slice(2).map(Number);
const ROWS_PER_BODY = 5000;
const ROUNDS = 4;
const ERRORS_EACH = 20;
const HOSTS = 200;
const POLL_MS = 20;
const FROM = `stream|from().measurement('logs')`;

type Case = {
  readonly id: string;
  readonly script: string;
  /** The node whose points are counted. */
  readonly counted: RegExp;
};

const CASES: readonly Case[] = [
  {
    id: 'text-filter',
    script: `${FROM}|where(lambda: "level" == 'error')|eval(lambda: regexReplace(/id=[0-9a-f]+/, "message", 'id=?')).as('message')|httpOut('o')`,
    counted: /^http_out/,
  },
  {
    id: 'text-alert',
    script: `${FROM}.groupBy('host')|where(lambda: "level" == 'error')|alert().crit(lambda: TRUE).message('{{ index .Tags "host" }}: {{ index .Fields "message" }}').topic('texts')`,
    counted: /^alert/,
  },
];

const WORDS = 'request lock page user order retry queue socket cache commit rolled back'.split(' ');

function bodies(): readonly string[] {
  const random = seededRandom(7);
  const all: string[] = [];
  for (let first = 0; first < rows; first += ROWS_PER_BODY) {
    const lines = Array.from({ length: Math.min(ROWS_PER_BODY, rows - first) }, (_, i) => {
      const row = first + i;
      const isError = row % ERRORS_EACH === 0;
      const words = Array.from(
        { length: 10 + Math.floor(random() * 14) },
        () => WORDS[Math.floor(random() * WORDS.length)]!,
      );
      const message = `id=${Math.floor(random() * 2 ** 32).toString(16)} ${words.join(' ')}`;
      const fields = `message="${message}",level="${isError ? 'error' : 'info'}",code=${row % 600}i`;
      return `logs,service=s${row % 20},host=h${row % HOSTS} ${fields} ${1_700_000_000_000 + row}`;
    });
    all.push(lines.join('\n'));
  }
  return all;
}

const written = bodies();
const wanted = Math.ceil(rows / ERRORS_EACH);
for (const { id, script, counted } of CASES) {
  const directory = await makeDirectory();
  const engine = await startTidemark({ command: 'engine', directory });
  const { pid = 0 } = engine.process;
  const api = `${engine.engine}/engine/v1`;
  const post = async (path: string, body: string): Promise<void> => {
    const response = await fetch(`${api}${path}`, { method: 'POST', body });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  };
  const passed = async (): Promise<number> => {
    const response = await fetch(`${api}/tasks/${id}`);
    const { stats } = (await response.json()) as {
      stats: { 'node-stats': Readonly<Record<string, { readonly collected: number }>> };
    };
    const nodes = Object.entries(stats['node-stats']);
    return nodes.find(([name]) => counted.test(name))?.[1].collected ?? 0;
  };
  const dbrps = [{ db: 'd', rp: 'r' }];
  await post('/tasks', JSON.stringify({ id, dbrps, script, status: 'enabled' }));
  const costs: string[] = [];
  let before = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = processorMs(pid);
    const began = performance.now();
    for (const body of written) await post('/write?db=d&rp=r&precision=ms', body);
    while ((await passed()) < before + wanted) await setTimeout(POLL_MS);
    const seconds = (performance.now() - began) / 1000;
    const total = await passed();
    if (total !== before + wanted) throw new Error(`${total - before} instead of ${wanted}`);
    before = total;
    const perMillion = ((processorMs(pid) - cpu) / rows) * 1000;
    costs.push(`${perMillion.toFixed(2)} (${Math.round(rows / seconds / 1000)} k rows/s)`);
  }
  console.log(`${id.padEnd(12)} s of processor time per million rows: ${costs.join(', ')}`);
  await engine.stop();
  await removeDirectory(directory);
}
