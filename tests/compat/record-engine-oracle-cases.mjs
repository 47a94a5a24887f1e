#!/usr/bin/env node
/* oxlint-disable -- a recorder kept as it was when it recorded; it prints to the console */
// Records (or checks) engine cases against a running Kapacitor-compatible daemon. Node >= 20 builtins only.
//
//   ENGINE_URL=http://127.0.0.1:9092 ENGINE_BASE=/engine/v1 node record-engine-oracle-cases.mjs --out cases.jsonl
//   ENGINE_URL=… ENGINE_BASE=… node record-engine-oracle-cases.mjs --check engine-oracle-cases.jsonl
//
// options: --cases FILE   case list module (default: engine-oracle-case-list.mjs beside this file)
//          --only TEXT    only groups starting with TEXT (TEXT may be "group/name")
//          --db-port N    port of the fake database (default 39187; the daemon's database cluster must point at it)
//          --sink-port N  port of the fake sink (default 39188)
//          --once         record once instead of twice
//          --report FILE  write the cases whose two recordings disagree there (default: <out>.unstable)
//          --strict       (check) compare error texts, quoting in queries, run-time errors and node statistics too
//          --restart CMD  shell command which starts the daemon again after it died during a case
//          --settle MS    poll distance used when waiting for quiescence (default 4)
import { readFileSync, writeFileSync, mkdirSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import http from 'node:http';
import { spawnSync } from 'node:child_process';

const argv = process.argv.slice(2);
const opt = (n, d) => {
  const i = argv.indexOf('--' + n);
  return i < 0 ? d : argv[i + 1];
};
const flag = (n) => argv.includes('--' + n);
// Several with commas are instances of a cluster: each request goes to any of them.
const ENGINES = (process.env.ENGINE_URL || 'http://127.0.0.1:9092').split(',').map((u) => new URL(u));
const anyEngine = () => ENGINES[Math.floor(Math.random() * ENGINES.length)];
const BASE = (process.env.ENGINE_BASE || '/engine/v1').replace(/\/$/, '');
const PREVIEW = BASE + 'preview';
const SINK_PORT = Number(opt('sink-port', 39188)),
  DB_PORT = Number(opt('db-port', 39187));
const SINK = `http://127.0.0.1:${SINK_PORT}`,
  DBURL = `http://127.0.0.1:${DB_PORT}`;
const SETTLE = Number(opt('settle', 4));
/** How long what is expected may be on its way, in ms. */
const ARRIVAL = ENGINES.length > 1 ? 10_000 : 2000;
const HERE = dirname(fileURLToPath(import.meta.url));
const ID = 'oracle';
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// ---------- http client ----------
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
function call(method, path, body, headers = {}) {
  const buf =
    body === undefined
      ? undefined
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8');
  const engine = anyEngine();
  return new Promise((ok, fail) => {
    const req = http.request(
      {
        agent,
        host: engine.hostname,
        port: engine.port,
        method,
        path,
        headers: {
          ...(buf ? { 'Content-Length': buf.length, 'Content-Type': 'application/json' } : {}),
          ...headers,
        },
      },
      (res) => {
        const parts = [];
        res.on('data', (d) => parts.push(d));
        res.on('end', () =>
          ok({
            status: res.statusCode,
            headers: res.headers,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      },
    );
    req.on('error', fail);
    if (buf) req.write(buf);
    req.end();
  });
}
const errText = (r) => {
  try {
    return JSON.parse(r.text).error ?? r.text;
  } catch {
    return r.text;
  }
};

// ---------- fake sink and fake database ----------
let got = newGot();
function newGot() {
  return {
    emit: [],
    by: {},
    alerts: [],
    alertsBy: {},
    n: 0,
    dbWrites: [],
    queries: [],
    db: null,
    dbUsed: {},
    headers: [],
  };
}
const readBody = (req) =>
  new Promise((ok) => {
    const p = [];
    req.on('data', (d) => p.push(d));
    req.on('end', () => ok(Buffer.concat(p).toString('utf8')));
  });
const rowOf = (text) => {
  const t = text.trim();
  const m = /^\{"series":\[(.*)\]\}$/s.exec(t);
  return m ? m[1] : t;
};

async function onSink(req, res) {
  const body = await readBody(req);
  const [, kind, ...rest] = decodeURIComponent(req.url.split('?')[0]).split('/');
  const name = rest.join('/');
  got.n++;
  if (kind === 'emit') {
    if (name) (got.by[name] ||= []).push(rowOf(body));
    else got.emit.push(rowOf(body));
  } else if (kind === 'alert') {
    if (name) (got.alertsBy[name] ||= []).push(body.trim());
    else got.alerts.push(body.trim());
  } else if (kind === 'status') {
    (got.by['status/' + name] ||= []).push(rowOf(body));
    res.writeHead(Number(rest[0]) || 500, { 'Content-Type': 'text/plain' });
    res.end(rest[1] || '');
    return;
  } else if (kind === 'echo') {
    const h = {};
    for (const k of Object.keys(req.headers))
      if (/^(x-|content-type$|authorization$)/.test(k)) h[k] = req.headers[k];
    (got.by['echo/' + name] ||= []).push(
      JSON.stringify({ path: req.url, method: req.method, headers: h, body }),
    );
  }
  res.writeHead(200, { 'Content-Length': 0 });
  res.end();
}

async function onDb(req, res) {
  const body = await readBody(req);
  const u = new URL(req.url, DBURL);
  const send = (status, obj) => {
    const t = obj === undefined ? '' : JSON.stringify(obj);
    res.writeHead(status, { 'Content-Type': 'application/json', 'X-Influxdb-Version': '1.8.0' });
    res.end(t);
  };
  if (u.pathname === '/write') {
    const p = {};
    for (const k of ['db', 'rp', 'precision', 'consistency'])
      if (u.searchParams.get(k)) p[k] = u.searchParams.get(k);
    let text = body;
    got.dbWrites.push({ ...p, lines: text.trim().split('\n') });
    got.n++;
    return send(204);
  }
  if (u.pathname !== '/query') return send(204);
  const q = u.searchParams.get('q') || new URLSearchParams(body).get('q') || '';
  if (/^\s*SHOW /i.test(q)) return send(200, { results: [{ series: [] }] });
  const list = got.db || [];
  const k = list.findIndex((d) => new RegExp(d.match || '.').test(q));
  if (k < 0) {
    if (/^\s*(CREATE|DROP)/i.test(q)) {
      got.queries.push({ k: -1, i: got.queries.length, query: q });
      got.n++;
    }
    return send(200, { results: [{ series: [] }] });
  }
  const i = (got.dbUsed[k] = (got.dbUsed[k] ?? -1) + 1);
  const rs = list[k].responses;
  const r = i < rs.length ? rs[i] : list[k].repeat ? rs[rs.length - 1] : { series: [] };
  got.n++;
  let out;
  if (r.status) out = { __status: r.status, error: r.error };
  else if (r.error) out = { results: [{ error: r.error }] };
  else out = { results: [{ series: r.series || [] }] };
  const st = out.__status || 200;
  delete out.__status;
  got.queries.push({ k, i, query: q, response: out, ...(st !== 200 ? { status: st } : {}) });
  send(st, out);
}

// ---------- log stream (run-time error texts) ----------
let logs = [];
function openLogs() {
  const engine = anyEngine();
  return new Promise((ok) => {
    const req = http.request(
      {
        host: engine.hostname,
        port: engine.port,
        method: 'GET',
        path: `${PREVIEW}/logs?lvl=error%2B`,
        headers: { Accept: 'application/json' },
      },
      (res) => {
        let rest = '';
        if (res.statusCode !== 200) {
          res.resume();
          ok(null);
          return;
        }
        res.on('data', (d) => {
          rest += d.toString('utf8');
          let i;
          while ((i = rest.indexOf('\n')) >= 0) {
            const l = rest.slice(0, i);
            rest = rest.slice(i + 1);
            try {
              logs.push(JSON.parse(l));
            } catch {
              /* not a JSON line */
            }
          }
        });
        res.on('error', () => {});
        ok(req);
      },
    );
    req.on('error', () => ok(null));
    req.end();
    setTimeout(() => ok(req), 1500);
  });
}

// ---------- normalising ----------
let files = null;
const subst = (v) =>
  typeof v === 'string'
    ? v
        .replaceAll('{{SINK}}', SINK)
        .replaceAll('{{DB}}', DBURL)
        .replaceAll('{{FILES}}', files ? 'file://' + files : '')
    : Array.isArray(v)
      ? v.map(subst)
      : v && typeof v === 'object'
        ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, subst(x)]))
        : v;
function clean(t) {
  let s = t
    .replaceAll(SINK, '{{SINK}}')
    .replaceAll(DBURL, '{{DB}}')
    .replaceAll(`127.0.0.1:${SINK_PORT}`, '{{SINKHOST}}')
    .replaceAll(`127.0.0.1:${DB_PORT}`, '{{DBHOST}}');
  if (files) s = s.replaceAll('file://' + files, '{{FILES}}').replaceAll(files, '{{FILES}}');
  s = s
    .replaceAll(PREVIEW + '/', '{{PREVIEW}}/')
    .replaceAll(BASE + '/', '{{BASE}}/')
    .replaceAll('"' + BASE + '"', '"{{BASE}}"')
    .replaceAll('"' + PREVIEW + '"', '"{{PREVIEW}}"');
  s = s
    .replace(/0x[0-9a-f]{9,12}/g, '{{PTR}}')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '{{UUID}}');
  // lists whose order is not defined
  s = s.replace(/(values in scope are \[)([^\]]*)(\])/g, (m, a, b, c) => a + '…' + c);
  s = s.replace(
    /(available signatures are \[)(.*?)(\]\.)/g,
    (m, a, b, c) =>
      a +
      b
        .slice(1, -1)
        .split('), (')
        .sort()
        .map((x) => '(' + x + ')')
        .join(', ') +
      c,
  );
  s = s.replace(
    /(Names in scope: )([A-Za-z0-9_,]+)/g,
    (m, a, b) => a + b.split(',').sort().join(','),
  );
  return s;
}
const NEAR = String(new Date().getUTCFullYear());
function cleanJSON(t, wall) {
  let s = clean(t);
  s = s.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '{{UUID}}');
  if (wall)
    s = s.replace(/"(\d{4})-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)"/g, (m, y) =>
      y === NEAR ? '"{{TIME}}"' : m,
    );
  return s;
}

// ---------- quiescence ----------
async function state(id, replay) {
  const r = await call('GET', `${BASE}/tasks/${id}${replay ? '?replay-id=' + replay : ''}`);
  if (r.status !== 200) return { key: 'x' + r.status, even: true };
  const t = JSON.parse(r.text);
  const ns = t.stats?.['node-stats'] || {};
  let em = 0,
    co = 0;
  const key = [];
  for (const [k, v] of Object.entries(ns)) {
    em += v.emitted || 0;
    if (!/^(stream|batch)0$/.test(k)) co += v.collected || 0;
    key.push(k, v.emitted, v.collected, v.errors);
  }
  return {
    key: JSON.stringify(key) + t.executing,
    even: em >= co && (t.executing ? em === co : true),
    task: t,
  };
}
async function quiet(ids, need = 4) {
  const end = Date.now() + 8000;
  let last = '',
    n = 0;
  while (Date.now() < end) {
    const ss = [];
    for (const id of ids) ss.push(await state(id));
    const key = ss.map((s) => s.key).join('|') + '#' + got.n;
    if (key === last && ss.every((s) => s.even)) {
      if (++n >= need) return;
    } else {
      n = 0;
      last = key;
    }
    await sleep(SETTLE);
  }
}
/** What a task posts may be on its way when its counters rest, through another instance too. */
async function arrived({ emissions = [], alerts = [], dbWrites = [], disableFirst }) {
  const end = Date.now() + ARRIVAL;
  const lacks = () =>
    got.emit.length < emissions.length ||
    got.alerts.length < alerts.length ||
    (!disableFirst && got.dbWrites.length < dbWrites.length);
  while (lacks() && Date.now() < end) await sleep(SETTLE);
}
function statsOf(t) {
  const ns = t?.stats?.['node-stats'];
  if (!ns) return undefined;
  const o = {};
  for (const k of Object.keys(ns).sort()) {
    const v = { ...ns[k] };
    delete v.avg_exec_time_ns;
    o[k] = v;
  }
  return o;
}
async function wipeTopics() {
  const r = await call('GET', `${PREVIEW}/alerts/topics`);
  if (r.status !== 200) return;
  for (const t of JSON.parse(r.text).topics || [])
    await call('DELETE', `${PREVIEW}/alerts/topics/${encodeURIComponent(t.id)}`);
}
async function topicEvents() {
  const r = await call('GET', `${PREVIEW}/alerts/topics`);
  const o = {};
  for (const t of (JSON.parse(r.text).topics || []).sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const e = await call('GET', `${PREVIEW}/alerts/topics/${encodeURIComponent(t.id)}/events`);
    let ev = [];
    try {
      ev = (JSON.parse(e.text).events || [])
        .map((x) => ({ id: x.id, state: x.state }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    } catch {
      /* keep empty */
    }
    o[t.id] = { level: t.level, collected: t.collected, events: ev };
  }
  return clean(JSON.stringify(o));
}
const DBRPS = [{ db: 'd', rp: 'r' }];

// Result: array of [key, rawJSON] pairs after the inputs.
async function runCase(c) {
  got = newGot();
  logs = [];
  files = null;
  if (c.db) got.db = subst(c.db);
  if (c.files) {
    files = mkdtempSync(join(tmpdir(), 'oracle-files-'));
    for (const [p, text] of Object.entries(c.files)) {
      mkdirSync(dirname(join(files, p)), { recursive: true });
      writeFileSync(join(files, p), text);
    }
  }
  const out = [];
  const put = (k, v) => out.push([k, typeof v === 'string' ? v : JSON.stringify(v)]);
  const str = (k, s) => out.push([k, JSON.stringify(s)]);
  const ids = [];
  const undo = [];
  try {
    if (c.type === 'api') {
      await runApi(c, put);
      return out;
    }
    // handlers for named topics
    for (const h of c.handlers || []) {
      const r = await call('POST', `${PREVIEW}/alerts/topics/${h.topic}/handlers`, subst(h.spec));
      undo.push(() => call('DELETE', `${PREVIEW}/alerts/topics/${h.topic}/handlers/${h.spec.id}`));
      if (r.status !== 200) {
        put('handlerStatus', r.status);
        str('handlerError', clean(errText(r)));
      }
    }
    for (const x of c.extraTasks || []) {
      const r = await call(
        'POST',
        `${BASE}/tasks`,
        subst({ dbrps: DBRPS, type: 'stream', ...x, status: 'enabled' }),
      );
      if (r.status !== 200) {
        str('extraTaskError', clean(errText(r)));
      }
      ids.push(x.id);
    }
    if (c.template) {
      const tr = await call(
        'POST',
        `${BASE}/templates`,
        subst({ id: ID + '-tpl', type: c.template.type || 'stream', script: c.template.script }),
      );
      undo.push(() => call('DELETE', `${BASE}/templates/${ID}-tpl`));
      if (tr.status !== 200) {
        put('status', tr.status);
        str('error', clean(errText(tr)));
        str('phase', 'template');
        return out;
      }
      const tj = JSON.parse(tr.text);
      out.push(['templateVars', cleanJSON(JSON.stringify(tj.vars))]);
      if (c.noTask) return out;
    }
    const def = {
      id: ID,
      type: c.taskType || c.type,
      dbrps: c.dbrps === undefined ? DBRPS : c.dbrps,
      status: 'disabled',
    };
    if (def.type !== 'stream' && def.type !== 'batch') def.type = 'stream';
    if (c.dbrps === null) delete def.dbrps;
    if (c.template) {
      def['template-id'] = ID + '-tpl';
      delete def.type;
    } else def.script = subst(c.script);
    if (c.vars) def.vars = subst(c.vars);
    const r = await call('POST', `${BASE}/tasks`, def);
    ids.push(ID);
    if (r.status !== 200) {
      put('status', r.status);
      str('error', clean(errText(r)));
      str('phase', 'define');
      return out;
    }
    if (c.type === 'format') {
      const f = await call('GET', `${BASE}/tasks/${ID}?script-format=formatted`);
      str('formatted', JSON.parse(f.text).script);
      return out;
    }
    if (c.type === 'vars') {
      out.push(['taskVars', cleanJSON(JSON.stringify(JSON.parse(r.text).vars))]);
      return out;
    }
    if (c.type === 'dot' && !c.writes) {
      str('dot', JSON.parse((await call('GET', `${BASE}/tasks/${ID}`)).text).dot);
    }
    if (c.type === 'define' && !c.enable) {
      put('status', r.status);
      str('phase', 'define');
      return out;
    }
    if (c.type === 'batch' || (c.taskType === 'batch' && c.type !== 'define' && c.type !== 'dot')) {
      await runBatch(c, put, str, out);
    } else {
      const e = await call('PATCH', `${BASE}/tasks/${ID}`, { status: 'enabled' });
      if (e.status !== 200) {
        put('status', e.status);
        str('error', clean(errText(e)));
        str('phase', 'start');
        return out;
      }
      if (c.type === 'define') {
        put('status', e.status);
        str('phase', 'start');
      }
      for (const w of c.writes || []) {
        if (w.sleepMs) {
          await sleep(w.sleepMs);
          continue;
        }
        if (w.request) {
          await call(
            w.request.method,
            subst(w.request.path).replace('{{BASE}}', BASE).replace('{{PREVIEW}}', PREVIEW),
            w.request.body === undefined ? undefined : subst(w.request.body),
          );
          await quiet(ids);
          continue;
        }
        if (w.setFile) {
          writeFileSync(join(files, w.setFile[0]), w.setFile[1]);
          continue;
        }
        const q = new URLSearchParams({
          db: w.db,
          ...(w.rp !== undefined ? { rp: w.rp } : {}),
          ...(w.precision ? { precision: w.precision } : {}),
        });
        const wr = await call('POST', `${BASE}/write?${q}`, subst(w.lines.join('\n')), {
          'Content-Type': 'text/plain',
        });
        if (wr.status !== 204) {
          put('writeStatus', wr.status);
          str('writeError', clean(wr.text.trim()));
        }
        if (!w.noWait) await quiet(ids);
      }
      if (c.waitMs) {
        await sleep(c.waitMs);
        await quiet(ids);
      }
      const st = await state(ID);
      if (c.type === 'dot' && c.writes) {
        for (const view of ['attributes', 'labels']) {
          const t = JSON.parse((await call('GET', `${BASE}/tasks/${ID}?dot-view=${view}`)).text);
          str(
            view === 'labels' ? 'dotLabels' : 'dot',
            t.dot
              .replace(/avg_exec_time_ns=(\\?"?)[^"\\]*?(\\?"|\\r)/g, 'avg_exec_time_ns=$1{{D}}$2')
              .replace(/(hroughput[:=]\s?"?)[0-9.]+/g, '$1{{N}}'),
          );
        }
      }
      if (st.task?.error) (str('error', clean(st.task.error)), str('phase', 'run'));
      if (statsOf(st.task) && c.type === 'stream' && !c.wall)
        out.push(['nodeStats', JSON.stringify(statsOf(st.task))]);
      const outs = {};
      for (const m of new Set(
        [...(c.script || c.template?.script || '').matchAll(/httpOut\('([^']+)'\)/g)].map(
          (x) => x[1],
        ),
      )) {
        const h = await call('GET', `${BASE}/tasks/${ID}/${m}`);
        outs[m] =
          h.status === 200
            ? h.text.trim()
            : JSON.stringify({ status: h.status, error: errText(h) });
      }
      if (Object.keys(outs).length) {
        const ks = Object.keys(outs);
        const comp = (t) => {
          try {
            return JSON.stringify(JSON.parse(t)) === t.replace(/\s+/g, '')
              ? t.replace(/\n\s*/g, '')
              : t.replace(/\n\s*/g, '');
          } catch {
            return JSON.stringify(t);
          }
        };
        if (ks.length === 1) out.push(['httpOut', clean(comp(outs[ks[0]]))]);
        else
          out.push([
            'httpOuts',
            '{' + ks.map((k) => JSON.stringify(k) + ':' + clean(comp(outs[k]))).join(',') + '}',
          ]);
      }
    }
    await arrived(c);
    if (c.topics) out.push(['topicEvents', await topicEvents()]);
    if (c.disableFirst) {
      await call('PATCH', `${BASE}/tasks/${ID}`, { status: 'disabled' });
      await sleep(20);
    }
    const arr = (a) =>
      '[' +
      a
        .map((x) => {
          let v = clean(x);
          try {
            JSON.parse(v);
          } catch {
            v = JSON.stringify(v);
          }
          return v;
        })
        .join(',') +
      ']';
    const fix = (a) =>
      c.wall
        ? a.map((x) =>
            x
              .replace(/"\d{4}-\d\d-\d\dT[0-9:.]+Z"/g, '"{{TIME}}"')
              .replace(/"duration":\d+/, '"duration":"{{NS}}"'),
          )
        : a;
    if (got.emit.length || /\{\{SINK\}\}\/emit'/.test(c.script || c.template?.script || ''))
      out.push(['emissions', arr(c.sortEmissions ? fix(got.emit).sort() : fix(got.emit))]);
    if (Object.keys(got.by).length)
      out.push([
        'emissionsBy',
        '{' +
          Object.keys(got.by)
            .sort()
            .map((k) => JSON.stringify(k) + ':' + arr(fix(got.by[k])))
            .join(',') +
          '}',
      ]);
    if (got.alerts.length || /\{\{SINK\}\}\/alert'/.test(c.script || c.template?.script || ''))
      out.push(['alerts', arr(c.sortEmissions ? fix(got.alerts).sort() : fix(got.alerts))]);
    if (Object.keys(got.alertsBy).length)
      out.push([
        'alertsBy',
        '{' +
          Object.keys(got.alertsBy)
            .sort()
            .map((k) => JSON.stringify(k) + ':' + arr(fix(got.alertsBy[k])))
            .join(',') +
          '}',
      ]);
    if (got.dbWrites.length) put('dbWrites', JSON.parse(clean(JSON.stringify(got.dbWrites))));
    const admin = got.queries.filter((q) => q.k < 0);
    if (admin.length)
      put(
        'dbStatements',
        admin.map((q) => q.query),
      );
    if (c.db)
      put(
        'batchResponses',
        got.queries
          .filter((q) => q.k >= 0)
          .sort((a, b) => a.k - b.k || a.i - b.i)
          .map((q) => ({
            query: q.query,
            ...(q.status ? { status: q.status } : {}),
            response: q.response,
          })),
      );
    await sleep(logs.length ? 8 : 2);
    const errs = logs
      .filter((l) => l.task === ID && l.lvl === 'error')
      .map((l) => ({
        msg: clean(String(l.msg)),
        ...(l.err !== undefined ? { err: clean(String(l.err)) } : {}),
        ...(l.level ? { level: l.level } : {}),
      }));
    if (errs.length) put('runErrors', errs);
    return out;
  } finally {
    for (const id of ids.reverse()) await call('DELETE', `${BASE}/tasks/${id}`);
    for (const f of undo) await f();
    await call('DELETE', `${BASE}/replays/${ID}-replay`);
    await call('DELETE', `${BASE}/recordings/${ID}-rec`);
    await wipeTopics();
    if (files) rmSync(files, { recursive: true, force: true });
  }
}

async function waitDone(path) {
  const end = Date.now() + 10000;
  for (;;) {
    const r = await call('GET', path);
    if (r.status !== 202 || Date.now() > end) return JSON.parse(r.text);
    await sleep(5);
  }
}
async function runBatch(c, put, str) {
  const rp = c.replay || {};
  let res;
  if (rp.recording) {
    const r = await call('POST', `${BASE}/recordings/batch`, {
      id: ID + '-rec',
      task: ID,
      start: rp.start,
      stop: rp.stop,
    });
    if (r.status !== 201) {
      put('status', r.status);
      str('error', clean(errText(r)));
      str('phase', 'record');
      return;
    }
    const rec = await waitDone(`${BASE}/recordings/${ID}-rec`);
    put('recording', { status: rec.status, progress: rec.progress, error: clean(rec.error || '') });
    res = await call('POST', `${BASE}/replays`, {
      id: ID + '-replay',
      task: ID,
      recording: ID + '-rec',
      'recording-time': rp['recording-time'] ?? true,
      clock: 'fast',
    });
  } else {
    res = await call('POST', `${BASE}/replays/batch`, {
      id: ID + '-replay',
      task: ID,
      start: rp.start,
      stop: rp.stop,
      'recording-time': rp['recording-time'] ?? true,
      clock: 'fast',
    });
  }
  if (res.status !== 201) {
    put('status', res.status);
    str('error', clean(errText(res)));
    str('phase', 'replay');
    return;
  }
  const done = await waitDone(`${BASE}/replays/${ID}-replay`);
  put('replayResult', {
    status: done.status,
    progress: done.progress,
    error: clean(done.error || ''),
  });
  let n = got.n,
    same = 0;
  while (same < 4) {
    await sleep(SETTLE);
    if (n === got.n) same++;
    else {
      same = 0;
      n = got.n;
    }
  }
}
async function runApi(c, put) {
  const res = [];
  const parts = [];
  for (const s of c.steps) {
    if (s.sleepMs) {
      await sleep(s.sleepMs);
      continue;
    }
    const p = s.path.startsWith('{{PREVIEW}}')
      ? s.path.replace('{{PREVIEW}}', PREVIEW)
      : s.path.startsWith('!')
        ? s.path.slice(1)
        : BASE + s.path;
    let r = await call(s.method, p, s.body === undefined ? undefined : subst(s.body), s.headers);
    if (s.until) {
      const end = Date.now() + 5000;
      while (r.status === s.until && Date.now() < end) {
        await sleep(10);
        r = await call(s.method, p, undefined, s.headers);
      }
    }
    if (s.hidden) continue;
    let t = cleanJSON(r.text.trim(), true);
    t = t
      .replace(/"avg_exec_time_ns":\s*\d+/g, '"avg_exec_time_ns":"{{NS}}"')
      .replace(/"throughput":\s*[0-9.e+-]+/g, '"throughput":"{{N}}"');
    if (s.normSize) t = t.replace(/"size":\s*\d+/g, '"size":"{{N}}"');
    let j;
    try {
      JSON.parse(t);
      j = t.replace(/\n\s*/g, '');
    } catch {
      j = JSON.stringify(t);
    }
    parts.push(
      `{"method":${JSON.stringify(s.method)},"path":${JSON.stringify(s.path)}${s.body !== undefined ? `,"body":${JSON.stringify(s.body)}` : ''}${s.headers ? `,"headers":${JSON.stringify(s.headers)}` : ''},"status":${r.status},"response":${j}}`,
    );
  }
  put('exchanges', '[' + parts.join(',') + ']');
  for (const s of c.cleanup || [])
    await call(
      s[0],
      s[1].startsWith('{{PREVIEW}}') ? s[1].replace('{{PREVIEW}}', PREVIEW) : BASE + s[1],
      s[2],
    );
}

const INPUTS = [
  'group',
  'name',
  'type',
  'taskType',
  'note',
  'script',
  'vars',
  'template',
  'noTask',
  'dbrps',
  'enable',
  'extraTasks',
  'handlers',
  'files',
  'writes',
  'waitMs',
  'db',
  'replay',
  'topics',
  'wall',
  'sortEmissions',
  'disableFirst',
  'steps',
  'cleanup',
];
const lineOf = (c, res) =>
  '{' +
  [
    ...INPUTS.filter(
      (k) =>
        c[k] !== undefined &&
        (k !== 'steps' || c.steps.some((x) => x.hidden || x.sleepMs || x.until || x.normSize)),
    ).map((k) => [k === 'db' ? 'dbCanned' : k, JSON.stringify(c[k])]),
    ...res,
  ]
    .map(([k, v]) => JSON.stringify(k) + ':' + v)
    .join(',') +
  '}';

// ---------- comparison (check mode) ----------
// differences of wording which are accepted unless --strict: error texts of exchanges, quoting in queries, preview links
const looseQ = (q) =>
  q
    .replace(/"([A-Za-z_][A-Za-z0-9_]*)"/g, '$1')
    .replace(/time\((\w+), ?0s\)/g, 'time($1)')
    .replace(/\s+/g, ' ')
    .trim();
function loosen(o) {
  for (const e of o.exchanges || []) {
    e.path = undefined;
    e.body = undefined;
    e.headers = undefined;
    if (e.status >= 400)
      e.response =
        typeof e.response === 'object' && e.response?.error
          ? '(error)'
          : typeof e.response === 'string' && e.response
            ? '(error)'
            : e.response;
    else
      e.response = JSON.parse(
        JSON.stringify(e.response).replaceAll('{{PREVIEW}}/alerts', '{{BASE}}/alerts'),
      );
  }
  for (const b of o.batchResponses || []) b.query = looseQ(b.query);
  if (o.dbStatements) o.dbStatements = o.dbStatements.map(looseQ);
  for (const k of ['handlerError', 'extraTaskError', 'writeError']) if (o[k]) o[k] = '(error)';
  for (const k of ['replayResult', 'recording']) if (o[k]?.error) o[k].error = '(error)';
  return o;
}
function diff(a, b, path = '', acc = []) {
  if (acc.length > 5) return acc;
  if (
    typeof a !== typeof b ||
    Array.isArray(a) !== Array.isArray(b) ||
    a === null ||
    b === null ||
    typeof a !== 'object'
  ) {
    if (a !== b) {
      const close =
        typeof a === 'number' &&
        typeof b === 'number' &&
        Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
      if (!close)
        acc.push(
          `${path}: expected ${JSON.stringify(a)?.slice(0, 300)} got ${JSON.stringify(b)?.slice(0, 300)}`,
        );
    }
    return acc;
  }
  if (Array.isArray(a)) {
    if (a.length !== b.length) acc.push(`${path}: expected ${a.length} items, got ${b.length}`);
    for (let i = 0; i < Math.min(a.length, b.length); i++) diff(a[i], b[i], `${path}[${i}]`, acc);
    return acc;
  }
  for (const k of new Set([...Object.keys(a), ...Object.keys(b)]))
    diff(a[k], b[k], `${path}.${k}`, acc);
  return acc;
}

async function restart() {
  spawnSync('/bin/sh', ['-c', opt('restart')], { stdio: 'ignore' });
  for (let i = 0; i < 100; i++) {
    await sleep(100);
    try {
      if ((await call('GET', `${BASE}/ping`)).status === 204) break;
    } catch {
      /* not up yet */
    }
  }
  for (const id of [ID, 'oracle-second']) await call('DELETE', `${BASE}/tasks/${id}`);
  await call('DELETE', `${BASE}/templates/${ID}-tpl`);
  await wipeTopics();
  await openLogs();
}
async function main() {
  const sink = http
    .createServer((q, s) => onSink(q, s).catch(() => s.destroy()))
    .listen(SINK_PORT, '127.0.0.1');
  const db = http
    .createServer((q, s) => onDb(q, s).catch(() => s.destroy()))
    .listen(DB_PORT, '127.0.0.1');
  sink.keepAliveTimeout = db.keepAliveTimeout = 600000;
  await sleep(50);
  if (flag('serve')) {
    console.log('serving sink and database only');
    return;
  }
  const logReq = await openLogs();
  const only = opt('only');
  const pick = (c) => !only || c.group.startsWith(only) || `${c.group}/${c.name}`.startsWith(only);
  if (opt('check')) {
    const rows = readFileSync(opt('check'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((l) => JSON.parse(l))
      .filter(pick);
    let bad = 0;
    const soft = flag('strict') ? [] : ['runErrors', 'nodeStats', 'error', 'phase'];
    for (const c of rows) {
      const input = { ...c };
      if (c.dbCanned) input.db = c.dbCanned;
      if (c.exchanges && !c.steps) input.steps = c.exchanges.map(({ status, response, ...s }) => s);
      let res;
      try {
        res = Object.fromEntries((await runCase(input)).map(([k, v]) => [k, JSON.parse(v)]));
      } catch (e) {
        res = { exception: String(e) };
      }
      const want = {};
      for (const k of Object.keys(c)) if (!INPUTS.includes(k) && k !== 'dbCanned') want[k] = c[k];
      for (const k of soft)
        if (k in want === k in res || k === 'runErrors' || k === 'nodeStats' || k === 'phase') {
          delete want[k];
          delete res[k];
        }
      if (!flag('strict')) {
        loosen(want);
        loosen(res);
      }
      const d = diff(want, res);
      if (d.length) {
        bad++;
        console.log(`FAIL ${c.group}/${c.name}\n  ${d.join('\n  ')}`);
      }
    }
    console.log(`${rows.length - bad} of ${rows.length} cases agree`);
    process.exit(bad ? 1 : 0);
  }
  const listFile = resolve(opt('cases', join(HERE, 'engine-oracle-case-list.mjs')));
  const { default: cases } = await import(pathToFileURL(listFile).href);
  const todo = cases.filter(pick);
  const lines = [],
    unstable = [];
  const counts = {};
  const names = new Set();
  for (const c of todo) {
    const full = `${c.group}/${c.name}`;
    if (names.has(full)) console.error('duplicate name', full);
    names.add(full);
    try {
      const t0 = Date.now();
      const a = lineOf(c, await runCase(c));
      const b = flag('once') ? a : lineOf(c, await runCase(c));
      if (a === b) {
        JSON.parse(a);
        lines.push(a);
        counts[c.group] = (counts[c.group] || 0) + 1;
      } else {
        unstable.push({ name: full, first: a, second: b });
        console.error('UNSTABLE', full);
      }
      if (Date.now() - t0 > 4000) console.error('slow', full, Date.now() - t0);
    } catch (e) {
      unstable.push({ name: full, exception: String(e) });
      if (opt('restart') && /ECONN/.test(String(e))) await restart();
      console.error('EXCEPTION', full, String(e).slice(0, 300));
    }
  }
  const outFile = opt('out', join(HERE, 'engine-oracle-cases.jsonl'));
  writeFileSync(outFile, lines.join('\n') + '\n');
  writeFileSync(
    opt('report', outFile + '.unstable'),
    unstable.map((u) => JSON.stringify(u)).join('\n') + (unstable.length ? '\n' : ''),
  );
  console.log(JSON.stringify(counts, null, 1));
  console.log(`${lines.length} cases kept, ${unstable.length} left out`);
  process.exit(0);
}
main();
