// Runs the bundled executable once in this process, uses it as clients would, and keeps the code
// that V8 compiled for that. Arguments: what for (`stop` and `crash` only leave data behind; else
// the kind of use, programs.cjs), then the command line.
'use strict';
const { renameSync, writeFileSync } = require('node:fs');
const { codeFile, loadBundle } = require('../../process/boot/bundle-loader.cjs');
const { BUNDLE_DIRECTORY, CODE, THREADS } = require('./programs.cjs');

const [purpose, ...line] = process.argv.slice(2);
const program = loadBundle(BUNDLE_DIRECTORY, 'tidemark', 'none');
const database = 'warm_up';
const TASK = {
  id: 'warm_up',
  type: 'stream',
  status: 'enabled',
  dbrps: [{ db: database, rp: 'autogen' }],
  script: `stream|from().measurement('cpu').groupBy('host')|window().period(10s).every(10s)|mean('level')|alert().crit(lambda: "mean" > 90)`,
};
const QUERIES = [
  'SELECT count(*) FROM cpu',
  "SELECT mean(level), max(busy) FROM cpu WHERE time >= 0 AND time < 1h AND host = 'h1' GROUP BY time(1m), host",
  'SELECT * FROM cpu WHERE level > 50 LIMIT 10',
  'SELECT last(level) FROM cpu GROUP BY host',
  "SELECT max(level), max(busy) FROM cpu WHERE (host = 'h1' OR host = 'h2') AND time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:30:00Z' GROUP BY time(1m)",
  'SELECT mean(level), mean(busy) FROM cpu WHERE time >= 10s AND time < 1h GROUP BY time(10m), host',
  'SELECT mean(level), mean(busy) FROM cpu GROUP BY host',
  'SELECT max(level) FROM cpu WHERE time < 1h GROUP BY time(1m) ORDER BY time DESC LIMIT 5',
  'SELECT max(level) FROM cpu WHERE time < 1h GROUP BY time(1m) LIMIT 5',
  'SELECT * FROM cpu WHERE time >= 1m AND time < 6m',
  'SELECT * FROM cpu WHERE level > 50 AND time < 1h',
  'SELECT * FROM cpu GROUP BY host ORDER BY time DESC LIMIT 1',
  "SELECT level FROM cpu WHERE host = 'h1'",
  'SHOW TAG VALUES FROM cpu WITH KEY = host',
];

run().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

async function run() {
  const urls = await start();
  if (urls.has('tsdb')) await useDatabase(urls.get('tsdb'));
  if (urls.has('engine')) await useEngine(urls.get('engine'));
  if (purpose === 'stop') {
    // `start` ends the process when everything is closed.
    process.kill(process.pid, 'SIGTERM');
    return;
  }
  if (purpose !== 'crash') {
    keep('tidemark', purpose, program.compiledCode());
    await keepThreads(new Set(THREADS[purpose]));
  }
  // As after a crash: what was written is in the log only.
  process.exit(0);
}

/**
 * Runs the command line; the services' addresses once they are ready, or none when the command has
 * ended.
 */
function start() {
  const write = process.stdout.write.bind(process.stdout);
  return new Promise((resolve, reject) => {
    process.stdout.write = (text, ...rest) => {
      const words = String(text).trimEnd().split(' ');
      if (words.shift() === 'ready') resolve(new Map(words.map((word) => word.split(/=(.*)/s))));
      return write(text, ...rest);
    };
    program.exports.main(line).then((status) => {
      if (purpose === 'stop' || status > 0) process.exit(status);
      resolve(new Map());
    }, reject);
  });
}

async function useDatabase(url) {
  await request(`${url}/ping`);
  await request(`${url}/query?q=${encodeURIComponent(`CREATE DATABASE ${database}`)}`, {
    method: 'POST',
  });
  for (let batch = 0; batch < 4; batch++) {
    const lines = Array.from({ length: 1000 }, (_, i) => {
      const at = (batch * 1000 + i) * 1_000_000_000;
      return `cpu,host=h${i % 7},region=r${i % 3} level=${(i % 100) + 0.5},busy=${i}i,state="s${i % 5}",ok=${i % 2 === 0} ${at}`;
    });
    await request(`${url}/write?db=${database}`, { method: 'POST', body: lines.join('\n') });
  }
  for (const query of QUERIES) {
    const text = await request(`${url}/query?db=${database}&q=${encodeURIComponent(query)}`);
    if (text.includes('"error"')) throw new Error(`${query}: ${text}`);
  }
}

async function useEngine(url) {
  const tasks = `${url}/kapacitor/v1/tasks`;
  const { tasks: present } = JSON.parse(await request(tasks));
  if (present.length > 0) return;
  const headers = { 'content-type': 'application/json' };
  await request(tasks, { method: 'POST', headers, body: JSON.stringify(TASK) });
}

async function request(url, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

/** Asks the threads (packages/process/boot/thread-bundle.cjs) for their code. */
function keepThreads(names) {
  const channel = new BroadcastChannel(process.env.TIDEMARK_KEEP_CODE);
  return new Promise((resolve) => {
    if (names.size === 0) resolve();
    channel.onmessage = ({ data: { name, code } }) => {
      keep(name, CODE.thread, code);
      names.delete(name);
      if (names.size === 0) resolve();
    };
    channel.postMessage('keep');
  });
}

function keep(name, kind, code) {
  const file = codeFile(BUNDLE_DIRECTORY, name, kind);
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
}
