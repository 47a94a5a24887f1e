/* oxlint-disable -- a recorder kept as it was when it recorded; it prints to the console */
// Case list for record-engine-oracle-cases.mjs. All scripts and data are invented for this project.
// Notation: 'm v=1 @5' is the line `m v=1` at 2024-01-01T00:00:05Z (written with precision=s); '@5.25' is allowed with ms().
const T0 = 1704067200;
const cases = [];
const at = (l) => l.replace(/ @(-?[0-9]+)$/, (m, n) => ' ' + (T0 + Number(n)));
const atMs = (l) =>
  l.replace(/ @(-?[0-9.]+)$/, (m, n) => ' ' + Math.round((T0 + Number(n)) * 1000));
// one request with all lines / one request per line (needed where several inputs of a node must keep their order)
const one = (...lines) => [{ db: 'd', rp: 'r', precision: 's', lines: lines.map(at) }];
const seq = (...lines) => lines.map((l) => ({ db: 'd', rp: 'r', precision: 's', lines: [at(l)] }));
const ms = (...lines) => [{ db: 'd', rp: 'r', precision: 'ms', lines: lines.map(atMs) }];
const R = String.raw;
const EMIT = `\n    |httpPost('{{SINK}}/emit')`;
const add = (c) => {
  cases.push(c);
};
// full stream script, emissions collected by the script itself
const st = (group, name, script, writes, extra = {}) =>
  add({ group, name, type: 'stream', ...extra, script, writes });
// chain behind stream|from().measurement('m'), emissions appended
const ch = (group, name, chain, lines, extra = {}) =>
  st(
    group,
    name,
    `stream\n    |from()\n        .measurement('m')${chain ? '\n    ' + chain : ''}${EMIT}`,
    Array.isArray(lines[0]) || typeof lines[0] === 'object' ? lines : one(...lines),
    extra,
  );
// grouped by h
const gr = (group, name, chain, lines, extra = {}) =>
  st(
    group,
    name,
    `stream\n    |from()\n        .measurement('m')\n        .groupBy('h')\n    ${chain}${EMIT}`,
    typeof lines[0] === 'object' ? lines : one(...lines),
    extra,
  );
// expressions evaluated for each line: results x0, x1 …
const ev = (group, name, exprs, lines, extra = {}) => {
  const es = Array.isArray(exprs) ? exprs : [exprs];
  ch(
    group,
    name,
    `|eval(${es.map((e) => 'lambda: ' + e).join(', ')})\n        .as(${es.map((_, i) => `'x${i}'`).join(', ')})`,
    lines,
    extra,
  );
};
const def = (group, name, script, extra = {}) =>
  add({ group, name, type: 'define', ...extra, script });
const fmt = (name, script, extra = {}) =>
  add({ group: 'lang/format', name, type: 'format', ...extra, script });

// ================================================================ language: lexer and parser errors
const bad = (name, script, extra = {}) => def('lang/error', name, script, extra);
bad('empty script', '');
bad('only white space', '  \n ');
bad('only comment', '// nothing here');
bad('no source', 'var a = 1');
bad('both sources', `stream|from()\nbatch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s)`);
bad('unclosed parenthesis', `stream|from(`);
bad('unclosed list', `var a = ['x'\nstream|from()`);
bad('unterminated string', `stream|from().measurement('m)`);
bad('unterminated reference', `stream|from().where(lambda: "a > 1)`);
bad('unterminated triple string', `stream|from().measurement('''m'')`);
bad('unterminated regex', `stream|from().where(lambda: "h" =~ /abc)`);
bad('bad regex', `stream|from().where(lambda: "h" =~ /a(b/)`);
bad('two decimals', `var a = 1.2.3\nstream|from()`);
bad('octal with 8', `var a = 08\nstream|from()`);
bad('integer too large', `var a = 9223372036854775808\nstream|from()`);
bad('float exponent', `var a = 1e5\nstream|from()`);
bad('unit ns', `var a = 5ns\nstream|from()`);
bad('unit y', `var a = 5y\nstream|from()`);
bad('compound duration', `var a = 1h30m\nstream|from()`, {
  note: 'accepted: `30m` is a separate statement without effect',
});
bad('compound duration as argument', `stream|from()|window().period(1h30m).every(1s)`);
bad('float exponent as argument', `stream|from().where(lambda: "v" > 1e5)`);
bad('fraction duration as argument', `stream|from()|window().period(1.5h).every(1s)`);
bad('unit ns as argument', `stream|from()|window().period(5ns).every(1s)`);
bad('unit us as argument', `stream|from()|window().period(5us).every(1s)`);
bad('fraction duration', `var a = 1.5h\nstream|from()`);
bad('unknown char', `stream|from()#`);
bad('semicolon', `stream|from();`);
bad('name starting with underscore', `var _a = 1\nstream|from()`);
bad('name starting with digit', `var 1a = 1\nstream|from()`);
bad('var without name', `var = 1\nstream|from()`);
bad('var keyword as name', `var lambda = 1\nstream|from()`, {
  note: 'lambda is a keyword only when followed by a colon',
});
bad('var TRUE', `var TRUE = 1\nstream|from()`);
bad('lower case true', `var a = true\nstream|from()`);
bad('lower case and', `stream|from().where(lambda: TRUE and FALSE)`);
bad('pipe without function', `stream|from`);
bad('pipe without parentheses and next', `stream|from|window()`);
bad('dot then nothing', `stream|from().`);
bad('double pipe', `stream||from()`);
bad('missing operand', `stream|from().where(lambda: "a" >)`);
bad('missing operator', `stream|from().where(lambda: "a" "b")`);
bad('two operators', `stream|from().where(lambda: "a" > > 1)`);
bad('single equals in lambda', `stream|from().where(lambda: "a" = 1)`);
bad('empty lambda', `stream|from().where(lambda: )`);
bad('lambda in lambda', `stream|from().where(lambda: "a" > lambda: 1)`);
bad('lambda space colon', `stream|from().where(lambda : TRUE)`);
bad('not after operand', `stream|from().where(lambda: "a" ! 1)`);
bad('ampersand', `stream|from().where(lambda: TRUE && FALSE)`);
bad('int list', `var a = [1, 2]\nstream|from().groupBy(a)`);
bad('nested list', `var a = [['x']]\nstream|from()`);
bad('list of names', `var n = 'h'\nvar a = [n, 'k']\nstream|from().groupBy(a)`);
bad('trailing commas', `var a = ['x', 'y',]\nstream|from().groupBy('h',)`, {
  note: 'a trailing comma is allowed',
});
bad('leading comma', `stream|from().groupBy(,'h')`);
bad('statement starting with dot', `.measurement('m')`);
bad('redefined var', `var a = 1\nvar a = 2\nstream|from()`);
bad('undefined name', `stream|from().measurement(nope)`);
bad('undefined in lambda', `stream|from().where(lambda: nope > 1)`);
bad('unknown global function', `var a = nofunc(1)\nstream|from()`, {
  note: 'a call outside a lambda is not resolved before it is used',
});
bad('unknown global function used', `var a = nofunc(1)\nstream|from().measurement(a)`);
bad('lambda function outside lambda', `var a = strToUpper('m')\nstream|from().measurement(a)`);
bad(
  'lambda function in arithmetic outside lambda',
  `var a = float(3) + 1.0\nvar e = lambda: "v" > a\nstream|from().where(e)`,
);
bad('unknown chain method', `stream|from()|nothing()`);
bad('unknown property', `stream|from().nothing('x')`);
bad('unknown udf', `stream|from()@nothing()`);
bad('property as chain', `stream|from()|groupByMeasurement()`);
bad('chain as property', `stream|from().window()`);
bad('chain as udf call', `stream|from()@window()`);
bad('property as udf call', `stream|from()@measurement('m')`);
bad('wrong argument type', `stream|from().measurement(5)`);
bad('too many arguments', `stream|from().measurement('a', 'b')`);
bad('missing argument', `stream|from().measurement()`);
bad('reference for string', `stream|from()\n    .measurement("m")`);
bad('int for duration', `stream|from()|window().period(10).every(10s)`);
bad('duration for int', `stream|from()|window().periodCount(10s).everyCount(1)`);
bad('string for lambda', `stream|from().where('a')`);
bad('lambda for string', `stream|from().measurement(lambda: TRUE)`);
bad('property of value', `var a = 1\nvar b = a.foo\nstream|from()`);
bad(
  'property read',
  `var f = stream|from().measurement('q')\nvar n = f.measurement\nstream|from().measurement(n)`,
);
bad('unknown property read', `var f = stream|from()\nvar n = f.nothing\nstream|from()`);
bad('method on number', `var a = 5|from()\nstream|from()`);
bad('stream called', `stream()|from()`);
bad('batch in stream', `stream|query('SELECT v FROM "d"."r"."m"')`);
bad('from on batch', `batch|from()`, { taskType: 'batch' });
bad(
  'window on batch',
  `batch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s)|window().period(1s).every(1s)`,
  { taskType: 'batch' },
);
bad(
  'join of stream and batch',
  `var a = stream|from()\nvar b = stream|from()|window().period(1s).every(1s)\na|join(b).as('a','b')`,
  { enable: true },
);
bad(
  'union of stream and batch',
  `var a = stream|from()\nvar b = stream|from()|window().period(1s).every(1s)\na|union(b)`,
  { enable: true },
);
bad(
  'chain after influxDBOut',
  `stream|from()|influxDBOut().database('x')|window().period(1s).every(1s)`,
);
bad('unary minus string', `var a = -'x'\nstream|from()`);
bad('unary not int', `var a = !5\nstream|from()`);
bad('int plus float', `var a = 1 + 2.0\nstream|from()`);
bad('string minus', `var a = 'x' - 'y'\nstream|from()`);
bad('duration times duration', `var a = 1s * 2s\nstream|from()`);
bad('reference outside lambda', `var a = "x" + 1\nstream|from()`);
bad(
  'error position',
  `stream\n    |from()\n        .measurement('m')\n    |window()\n        .period(1s\n        .every(2s)`,
);
bad('tab position', `stream\n\t|from()\n\t\t.measurement('m'\n`);
bad('utf-8 position', `// ünïcödé\nstream|from().measurement('é' 'x')`);
bad('context at line start', `stream|from()\n)`);
bad('type declaration in task', `var t float\nstream|from()`);
bad('type declaration unknown type', `var t number\nstream|from()`);
bad('type declaration stream', `var t stream\nstream|from()`);
bad(
  'time function args',
  `batch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s).groupBy(time())`,
  { taskType: 'batch' },
);
bad('set statement', `set default_x 1\nstream|from()`, {
  note: 'words that form expressions of their own are statements without effect',
});
bad('identifier alone', `stream`);
bad('stream alone twice', `stream\nstream|from()`);
bad('number statement', `5\nstream|from()`);
bad('crlf lines', `stream\r\n    |from()\r\n        .measurement('m')\r\n`);
bad('byte order mark', `\uFEFFstream|from()`);
bad('upper first letter', `stream|From().Measurement('m')`);
bad('all upper letters', `stream|FROM()`);

// ================================================================ formatter
fmt('minimal', `stream|from()`);
fmt('statement spacing', `var a=1 var b=2\n\n\n\nstream|from()`);
fmt(
  'literals',
  R`var i=0010 var f=1.50 var g=.5 var h=5. var d=90s var e=0u var t=TRUE var s='it\'s' var q='' stream|from()`,
);
fmt('micro sign', `var a = 5µ\nvar b = 5u\nstream|from()`);
fmt('negative literals', `var a = -5\nvar b = -5s\nvar c = -0.5\nvar d = !TRUE\nstream|from()`);
fmt('triple quoted', `var a = '''it's \\n a 'test' '''\nvar b = ''''''\nstream|from()`);
fmt('triple quoted with newline', `var a = '''one\n  two\n'''\nstream|from()`);
fmt('string with newline', `var a = 'one\ntwo'\nstream|from()`);
fmt('backslashes', R`var a = 'a\nb\\c\"d'` + `\nstream|from().where(lambda: "h" == 'x')`);
fmt('regex', R`var r = /^a\/b[0-9]+\.c$/` + `\nstream|from().where(lambda: "h"=~r OR "h"!~/x y/)`);
fmt('references', R`stream|from().where(lambda: "a\"b" > 1 AND "c d" < 2)`);
fmt(
  'lists',
  `var a = [ 'x','y' , * ]\nvar b = []\nvar c = [*]\nvar n = 'q'\nvar e = [n,'r']\nstream|from().groupBy(e)`,
);
fmt('parentheses kept', `stream|from().where(lambda:("a"+1)*2>(3)AND(("b"<1))OR(TRUE))`);
fmt(
  'nested parentheses',
  `stream|from().where(lambda: ((("a" > 1) AND ("b" > 2)) OR ((("c" > 3)))))`,
);
fmt(
  'unary in expression',
  `stream|from().where(lambda: !("a" > 1) AND -"b" < -3 AND !"c" AND - ( "d" + 1 ) > 0)`,
);
fmt('line breaks in expression', `stream|from().where(lambda: "a" > 1\nAND "b" > 2 AND\n"c" > 3)`);
fmt(
  'line breaks inside parentheses',
  `stream|from().where(lambda: ("a" > 1\nAND ("b" > 2\nOR "c" > 3)))`,
);
fmt('multi line call', `stream|from()|eval(lambda: "a" + 1,\nlambda: "b" * 2).as('x', 'y')`);
fmt(
  'multi line call first only',
  `stream|from()|eval(\nlambda: "a" + 1, lambda: "b" * 2).as('x', 'y')`,
);
fmt('multi line single argument', `stream|from().measurement(\n'm'\n)`);
fmt('newline after last argument', `stream|from().groupBy('a', 'b'\n)`);
fmt('trailing comma', `stream|from().groupBy('a', 'b',)`);
fmt(
  'function calls in lambda',
  `stream|from().where(lambda: if( "a">1 , abs( "b" ) , pow("c",2.0) ) > 1.0)`,
);
fmt('multi line function in lambda', `stream|from().where(lambda: if("a" > 1,\n"b",\n"c") > 1.0)`);
fmt('comment blocks', `// one\n//two\n\n//   three\nvar a = 1\n// last\nstream|from()`);
fmt('comment after code', `var a = 1 // why\nvar b = 2\nstream|from() // end`);
fmt('comment at end', `stream|from()\n// the end\n// of it`);
fmt(
  'comment before chain',
  `stream\n// pick\n|from()\n// name\n.measurement('m')\n    // count them\n    |window().period(1s).every(1s)`,
);
fmt(
  'comment before argument',
  `stream|from()|eval(\n// first\nlambda: "a" + 1,\n// second\nlambda: "b" + 1).as('x','y')`,
);
fmt('comment after lambda', `stream|from().where(lambda:\n// only big ones\n"a" > 1)`);
fmt('comment inside expression', `stream|from().where(lambda: "a" > 1\n// and also\nAND "b" > 2)`);
fmt('empty comment lines', `//\n// a\n//\nstream|from()`);
fmt('comment without space', `//x\n//  y\n//\tz\nstream|from()`);
fmt('dbrp statement', `dbrp "d"."r"\ndbrp "a b"."c"\nstream|from()`, { dbrps: null });
fmt('typed var', `var a = lambda:"x">1\nvar b = *\nstream|from().groupBy(b).where(a)`);
fmt(
  'var chain',
  `var data = stream|from().measurement('m')|window().period(1m).every(1m)\nvar x = data|mean('v')\nx|httpOut('o')`,
);
fmt('chain on name', `var d = stream\nd|from()`);
fmt(
  'udf and dot order',
  `stream|from()\n .measurement('m').groupBy('a')|alert().crit(lambda: TRUE).log('/tmp/x').mode(0644).topic('t')`,
);
fmt(
  'join arguments',
  `var a = stream|from()\nvar b = stream|from()\na|join(b).as('a','b').tolerance(1s).on('h')`,
);
fmt(
  'long one line',
  `stream|from().measurement('m').where(lambda: "aaaaaaaaaaaaaaaa" > 1 AND "bbbbbbbbbbbbbbbbbbbb" > 2 AND "cccccccccccccccccc" > 3 AND "dddddddddddddd" > 4).groupBy('aaaaaaaaaa','bbbbbbbbbbbb')|httpOut('o')`,
);
fmt('arithmetic in var', `var a = 1 + 2 * 3\nvar b = (1 + 2) * 3\nvar c = 10s * 2\nstream|from()`);
fmt('stars and percent', `var a = 7 % 4 * 2 / 1\nstream|from().groupBy(*)`);
fmt('upper names kept', `stream|From().Measurement('m')|HttpOut('x')`);
fmt('crlf', `stream\r\n|from()\r\n.measurement('m')\r\n`);
fmt('unicode', `var größe = 'Straße ☃'\nstream|from().measurement(größe)`);
fmt(
  'batch script',
  `batch|query('SELECT mean(v) FROM "d"."r"."m"').period(1m).every(30s).groupBy(time(10s),'h').fill(0)`,
  { taskType: 'batch' },
);

// ================================================================ vars, templates, dbrp statements
const vr = (name, script, vars, extra = {}) =>
  add({ group: 'lang/vars', name, type: 'vars', script, ...(vars ? { vars } : {}), ...extra });
const ALL = `// a number\nvar i = 42\nvar f = 4.5\nvar s = 'text'\nvar b = TRUE\nvar d = 90s\nvar r = /ab+c/\nvar l = ['x', 'y', *]\nvar a = *\nvar e = lambda: "v" > 3 AND "h" == 'q'\nstream|from()`;
vr('defaults are not task vars', ALL);
vr('override int', ALL, { i: { type: 'int', value: 7 } });
vr('override all', ALL, {
  i: { type: 'int', value: -1 },
  f: { type: 'float', value: 2 },
  s: { type: 'string', value: 'o' },
  b: { type: 'bool', value: false },
  d: { type: 'duration', value: '1m30s' },
  r: { type: 'regex', value: '^x' },
  l: {
    type: 'list',
    value: [
      { type: 'string', value: 'k' },
      { type: 'star', value: '' },
    ],
  },
  a: { type: 'star', value: '' },
  e: { type: 'lambda', value: '"v"<1' },
});
vr('duration as ns', ALL, { d: { type: 'duration', value: 1500000000 } });
vr('duration mixed units', ALL, { d: { type: 'duration', value: '1w2d3h4m5s6ms7u' } });
vr('bad duration', ALL, { d: { type: 'duration', value: 'soon' } });
vr('int given float value', ALL, { i: { type: 'int', value: 1.5 } });
vr('int given string', ALL, { i: { type: 'int', value: '5' } });
vr('float given int value', ALL, { f: { type: 'float', value: 3 } });
vr('type mismatch', ALL, { i: { type: 'float', value: 3 } });
vr('unknown type', ALL, { i: { type: 'number', value: 3 } });
vr('missing type', ALL, { i: { value: 3 } });
vr('bad regex', ALL, { r: { type: 'regex', value: 'a(' } });
vr('bad lambda', ALL, { e: { type: 'lambda', value: '"v" >' } });
vr('list with int', ALL, { l: { type: 'list', value: [{ type: 'int', value: 1 }] } });
vr('extra var is kept', ALL, { zz: { type: 'int', value: 1 } });
vr('null value', ALL, { s: { type: 'string', value: null } });
vr('description', ALL, { i: { type: 'int', value: 9, description: 'mine' } });
vr('typed var filled', `var t float\nstream|from().where(lambda: "v" > t)`, {
  t: { type: 'float', value: 2.5 },
});
vr('typed var wrong type', `var t float\nstream|from()`, { t: { type: 'int', value: 2 } });
vr('big int', ALL, { i: { type: 'int', value: 9007199254740992 } });

const tp = (name, script, extra = {}) =>
  add({
    group: 'lang/template',
    name,
    type: 'stream',
    template: { script },
    noTask: true,
    ...extra,
  });
tp(
  'vars of every type',
  ALL.replace(', *]', ']')
    .replace('var a = *\n', '')
    .replace('stream|from()', 'stream|from().where(e)'),
);
tp(
  'typed vars',
  `// first\nvar i int\nvar f float\nvar s string\n// yes\n// no\nvar b bool\nvar d duration\nvar r regex\nvar l list\nvar a star\nvar e lambda\nstream|from().where(e)`,
);
tp(
  'computed var',
  `var a = 2\nvar b = a * 3\nvar c = 'x' + 'y'\nvar d = 10s * a\nvar e = lambda: "v" > a\nstream|from()`,
  { note: 'computed vars appear with their computed default' },
);
tp('node vars are not listed', `var a = 1\nvar n = stream|from()\nn|httpOut('x')`);
tp('no vars', `stream|from()`);
tp('invalid', `stream|from(`);
tp('missing source', `var a = 1`);
tp('with dbrp statement', `dbrp "d"."r"\nvar a = 1\nstream|from()`);
tp('int zero used as window', `var p duration\nstream|from()|window().period(p).every(p)`);
const tt = (name, script, vars, writes, extra = {}) =>
  add({
    group: 'lang/template',
    name,
    type: 'stream',
    template: { script },
    ...(vars ? { vars } : {}),
    writes,
    ...extra,
  });
const TS = `var limit = 5\nvar field string\nvar keep = lambda: TRUE\nstream|from().measurement('m').where(keep)|eval(lambda: "v" * limit).as(field)|httpPost('{{SINK}}/emit')`;
tt('task from template', TS, { field: { type: 'string', value: 'out' } }, one('m v=2i @0'));
tt(
  'override default',
  TS,
  {
    field: { type: 'string', value: 'out' },
    limit: { type: 'int', value: 3 },
    keep: { type: 'lambda', value: '"v" > 1' },
  },
  one('m v=1i @0', 'm v=2i @1'),
);
tt('missing value', TS, null, one('m v=1i @0'));
tt('wrong type', TS, { field: { type: 'int', value: 1 } }, one('m v=1i @0'));
tt(
  'group list var',
  `var dims list\nstream|from().measurement('m').groupBy(dims)|sum('v')|httpPost('{{SINK}}/emit')`,
  { dims: { type: 'list', value: [{ type: 'string', value: 'h' }] } },
  one('m,h=a v=2 @0', 'm,h=b v=3 @0', 'm,h=a v=4 @0', 'm,h=a v=1 @1', 'm,h=b v=1 @1'),
);
tt(
  'group list default',
  `var dims = ['h', 'k']\nstream|from().measurement('m').groupBy(dims)|alert().id('{{ .Group }}').message('x').details('').info(lambda: TRUE).post('{{SINK}}/alert')`,
  null,
  one('m,h=a,k=1 v=2 @0'),
);
tt(
  'regex var',
  `var want = /^x/\nstream|from().measurement('m').where(lambda: "h" =~ want)|httpPost('{{SINK}}/emit')`,
  { want: { type: 'regex', value: '[0-9]$' } },
  one('m,h=x v=1 @0', 'm,h=y7 v=2 @1'),
);
tt(
  'duration var arithmetic',
  `var p = 2s\nstream|from().measurement('m')|window().period(p * 2).every(p)|count('v')|httpPost('{{SINK}}/emit')`,
  { p: { type: 'duration', value: '3s' } },
  one('m v=1 @0', 'm v=1 @2', 'm v=1 @3', 'm v=1 @7'),
);
tt(
  'dbrp from template',
  `dbrp "d"."r"\nstream|from().measurement('m')|httpPost('{{SINK}}/emit')`,
  null,
  one('m v=1 @0'),
  { dbrps: null },
);

const vs = (name, script, vars, lines, extra = {}) =>
  st('lang/vars', name, script + EMIT.trim(), one(...lines), {
    ...(vars ? { vars } : {}),
    ...extra,
  });
vs(
  'use of overridden vars',
  `var n = 2.0\nvar name = 'm'\nstream|from().measurement(name)|eval(lambda: "v" * n).as('x')`,
  { n: { type: 'float', value: 10 } },
  ['m v=1.5 @0'],
);
vs(
  'lambda var embedded',
  `var big = lambda: "v" > 2\nstream|from().measurement('m')|where(lambda: big AND "w" < 5)`,
  null,
  ['m v=3,w=1 @0', 'm v=1,w=1 @1', 'm v=3,w=9 @2'],
);
vs(
  'lambda vars have their own state',
  `var c = lambda: count()\nstream|from().measurement('m')|eval(c, lambda: c + c, lambda: count() + count()).as('a','b','d')`,
  null,
  ['m v=1 @0', 'm v=1 @1'],
);
vs(
  'string concatenation',
  `var p = 'ab'\nvar n = p + '-' + 'cd'\nstream|from().measurement('m')|eval(lambda: n + "s").as('x')`,
  null,
  ['m s="!" @0'],
);
vs(
  'duration constants',
  `var d = 10s * 3\nvar e = 1m / 4\nvar f = 1h / 10m\nvar g = 1.5 * 2s\nstream|from().measurement('m')|eval(lambda: d, lambda: e, lambda: f, lambda: g, lambda: string(d - e)).as('a','b','c','e','f')|delete().field('a').field('b').field('e')`,
  null,
  ['m v=1 @0'],
  {},
);
vs(
  'number constants',
  `var a = 7 / 2\nvar b = -7 / 2\nvar c = 7 % -4\nvar d = 7.0 / 2.0\nvar e = 2 + 3 * 4 - 1\nvar f = (2 + 3) * 4\nvar g = 010 + 1\nvar h = 1 < 2 AND !(2 < 1)\nstream|from().measurement('m')|eval(lambda: a, lambda: b, lambda: c, lambda: d, lambda: e, lambda: f, lambda: g, lambda: h).as('a','b','c','d','e','f','g','h')`,
  null,
  ['m v=1 @0'],
);
vs(
  'var of var',
  `var a = 5\nvar b = a\nvar c = b + a\nstream|from().measurement('m')|where(lambda: "v" > c)`,
  null,
  ['m v=10 @0', 'm v=11 @1'],
);
vs(
  'property value var',
  `var src = stream|from().measurement('m').groupBy('h')\nvar nm = src.measurement\nsrc|eval(lambda: nm).as('x')`,
  null,
  ['m,h=a v=10 @0'],
);
vs(
  'mixed where on shared node',
  `var src = stream|from().measurement('m')\nsrc.where(lambda: "v" > 1)\nsrc.where(lambda: "v" < 5)\nsrc`,
  null,
  ['m v=1 @0', 'm v=3 @1', 'm v=6 @2'],
  { note: 'property calls on a var change the node itself' },
);

const db = (name, script, extra) =>
  add({ group: 'lang/dbrp', name, type: 'define', dbrps: null, script, ...extra });
db('one', `dbrp "d"."r"\nstream|from()`, {});
db('two', `dbrp "d"."r"\ndbrp "d2"."r2"\nstream|from()`, {});
db('after stream', `stream|from()\ndbrp "d"."r"`, {});
db('both forms', `dbrp "d"."r"\nstream|from()`, { dbrps: [{ db: 'd', rp: 'r' }] });
db('none', `stream|from()`, {});
db('empty list', `stream|from()`, { dbrps: [] });
db('single quotes', `dbrp 'd'.'r'\nstream|from()`, {});
db('no rp', `dbrp "d"\nstream|from()`, {});
db('identifier', `dbrp d.r\nstream|from()`, {});
db('duplicate', `dbrp "d"."r"\ndbrp "d"."r"\nstream|from()`, {});
st(
  'lang/dbrp',
  'data of two databases',
  `dbrp "d"."r"\ndbrp "e"."q"\nstream|from().measurement('m')|eval(lambda: "v" + 1.0).as('x')|httpPost('{{SINK}}/emit')`,
  [
    { db: 'd', rp: 'r', precision: 's', lines: [at('m v=1 @0')] },
    { db: 'e', rp: 'q', precision: 's', lines: [at('m v=2 @1')] },
    { db: 'e', rp: 'r', precision: 's', lines: [at('m v=3 @2')] },
    { db: 'd', rp: 'q', precision: 's', lines: [at('m v=4 @3')] },
  ],
  { dbrps: null },
);
st(
  'lang/dbrp',
  'from filters database and retention policy',
  `stream|from().database('e').retentionPolicy('q').measurement('m')|httpPost('{{SINK}}/emit')`,
  [
    { db: 'd', rp: 'r', precision: 's', lines: [at('m v=1 @0')] },
    { db: 'e', rp: 'q', precision: 's', lines: [at('m v=2 @1')] },
  ],
  {
    dbrps: [
      { db: 'd', rp: 'r' },
      { db: 'e', rp: 'q' },
    ],
  },
);

// ================================================================ lambda: operators and type rules
const op = (name, e, lines, extra = {}) => ev('lambda/operator', name, e, lines, extra);
op(
  'int arithmetic',
  ['"a" + "b"', '"a" - "b"', '"a" * "b"', '"a" / "b"', '"a" % "b"', '-"a"'],
  ['m a=7i,b=2i @0', 'm a=-7i,b=2i @1', 'm a=7i,b=-2i @2', 'm a=-7i,b=-2i @3', 'm a=0i,b=5i @4'],
);
op(
  'float arithmetic',
  ['"a" + "b"', '"a" - "b"', '"a" * "b"', '"a" / "b"', '-"a"'],
  ['m a=7,b=2 @0', 'm a=-7.5,b=0.5 @1', 'm a=0.1,b=0.2 @2', 'm a=1e300,b=1e-300 @3'],
);
op(
  'int overflow wraps',
  ['"a" + 1', '"b" - 1', '"a" * 2', '-"b"'],
  ['m a=9223372036854775807i,b=-9223372036854775808i @0'],
);
op('large ints stay exact', ['"a"', '"a" + 1', '"a" / 3'], ['m a=9007199254740993i @0']);
op(
  'float division by zero',
  ['string("a" / "b")'],
  ['m a=1,b=0 @0', 'm a=-1,b=0 @1', 'm a=0,b=0 @2'],
  { note: 'IEEE result, visible as text' },
);
op('float modulo', '"a" % "b"', ['m a=7,b=2 @0']);
op('int plus float', '"a" + "b"', ['m a=7i,b=2 @0', 'm a=7,b=2i @1', 'm a=7i,b=2i @2']);
op('types change between points', '"a" + "a"', [
  'm a=1i @0',
  'm a=1.5 @1',
  'm a="x" @2',
  'm a=true @3',
  'm a=2i @4',
]);
op(
  'string plus',
  ['"a" + "b"', '"a" + \'-\' + "t"'],
  ['m,t=tag a="x",b="y" @0', 'm,t=u a="",b="" @1'],
);
op('string plus int', '"a" + "b"', ['m a="x",b=1i @0']);
op('string minus', '"a" - "b"', ['m a="x",b="y" @0']);
op('bool plus', '"a" + "b"', ['m a=true,b=false @0']);
op('unary minus string', '-"a"', ['m a="x" @0']);
op('not on int', '!"a"', ['m a=1i @0', 'm a=true @1']);
op('not not', ['!"a"', '!(!"a")'], ['m a=true @0', 'm a=false @1']);
op(
  'logic',
  ['"a" AND "b"', '"a" OR "b"', '!"a" OR "b"', '"a" OR "b" AND "c"', '("a" OR "b") AND "c"'],
  [
    'm a=true,b=true,c=false @0',
    'm a=true,b=false,c=false @1',
    'm a=false,b=true,c=true @2',
    'm a=false,b=false,c=true @3',
  ],
);
op('logic with int', '"a" AND "b"', ['m a=true,b=1i @0']);
op('logic with string', '"a" OR TRUE', ['m a="true" @0']);
op(
  'compare ints',
  ['"a" < "b"', '"a" <= "b"', '"a" > "b"', '"a" >= "b"', '"a" == "b"', '"a" != "b"'],
  ['m a=1i,b=2i @0', 'm a=2i,b=2i @1', 'm a=3i,b=2i @2'],
);
op(
  'compare floats',
  ['"a" < "b"', '"a" <= "b"', '"a" > "b"', '"a" >= "b"', '"a" == "b"', '"a" != "b"'],
  ['m a=1.5,b=2 @0', 'm a=2,b=2 @1', 'm a=-0.0,b=0 @2'],
);
op(
  'compare int with float',
  ['"a" < "b"', '"a" <= "b"', '"a" > "b"', '"a" >= "b"', '"a" == "b"', '"a" != "b"'],
  ['m a=2i,b=2.5 @0', 'm a=2,b=2i @1', 'm a=9007199254740993i,b=9007199254740992 @2'],
);
op(
  'compare strings',
  ['"a" < "b"', '"a" <= "b"', '"a" > "b"', '"a" >= "b"', '"a" == "b"', '"a" != "b"'],
  [
    'm a="ab",b="b" @0',
    'm a="b",b="B" @1',
    'm a="10",b="9" @2',
    'm a="é",b="z" @3',
    'm a="x",b="x" @4',
  ],
);
op('compare bools', ['"a" == "b"', '"a" != "b"'], ['m a=true,b=true @0', 'm a=true,b=false @1']);
op('order of bools', '"a" < "b"', ['m a=true,b=false @0']);
op('compare string with int', '"a" == "b"', ['m a="1",b=1i @0']);
op('compare bool with int', '"a" == "b"', ['m a=true,b=1i @0']);
op(
  'compare durations',
  ['duration("a", 1s) > 1m', 'duration("a", 1s) == 60s', 'duration("a", 1s) <= 1m'],
  ['m a=60i @0', 'm a=61i @1'],
);
op(
  'duration arithmetic',
  [
    'string(duration("a", 1s) + 1m)',
    'string(duration("a", 1s) - 1m)',
    'string(duration("a", 1s) * 3)',
    'string(2.5 * duration("a", 1s))',
    'string(duration("a", 1s) / 4)',
    'string(duration("a", 1s) / 0.5)',
    'duration("a", 1m) / 10s',
    'string(-duration("a", 1s))',
  ],
  ['m a=90i @0', 'm a=1i @1'],
);
op('duration plus int', ['duration("a", 1s) + 5'], ['m a=90i @0']);
op('duration as field', ['duration("a", 1s)'], ['m a=90i @0'], {
  note: 'a duration field is sent as integer nanoseconds',
});
op('time as operand', '"time" > 5', ['m a=1i @0']);
op('time minus time', '"time" - "time"', ['m a=1i @0']);
op(
  'regex match',
  ['"s" =~ /^a.c$/', '"s" !~ /b/', '"t" =~ /[0-9]+/', '"s" =~ /(?i)ABC/', R`"s" =~ /a\/b/`],
  ['m,t=h12 s="abc" @0', 'm,t=h s="a/b" @1', 'm,t=9 s="" @2'],
);
op('regex on int', '"a" =~ /1/', ['m a=1i @0']);
op('string as regex', `"s" =~ 'a'`, ['m s="a" @0']);
op('regex left', '/a/ =~ "s"', ['m s="a" @0']);
op('regex equality', '"s" == /a/', ['m s="a" @0']);
op(
  'precedence',
  [
    '1 + 2 * 3 == 7 AND 10 - 4 - 3 == 3',
    '2 * 3 % 4',
    '8 / 4 / 2',
    '-2 * -3',
    '1 < 2 == TRUE',
    '"a" > 1 == "b" > 1',
  ],
  ['m a=2i,b=2i @0'],
);
op('constants only', ['1', '2.5', `'s'`, 'TRUE', '1 + 1', `'a' + 'b'`], ['m a=1i @0']);
op('octal in lambda', ['017', '0', '"a" == 010'], ['m a=8i @0']);
op('missing left', '"x" + 1', ['m a=1i @0']);
op('missing right', '1 + "x"', ['m a=1i @0']);
op('missing alone', '"x"', ['m a=1i @0']);
op('missing in not', '!"x"', ['m a=1i @0']);
op('missing in comparison', '"x" == 1', ['m a=1i @0']);
op('missing in function', 'float("x")', ['m a=1i @0']);
op('missing in function with other args', 'strContains("s", "x")', ['m s="q" @0']);
op('missing after or', 'TRUE OR "x"', ['m a=1i @0']);
op('missing comparison after or', 'TRUE OR "x" > 1', ['m a=1i @0']);
op('missing comparison after and', 'FALSE AND "x" > 1', ['m a=1i @0']);
op('field and tag of one name', '"a" + 1', ['m,a=x a=1i @0']);
op('tag value is a string', '"t" + "t"', ['m,t=5 a=1i @0']);
op('tag compared with int', '"t" == 5', ['m,t=5 a=1i @0']);
op('empty reference', '"" == 1', ['m a=1i @0']);
op('reference with spaces', ['"my field" + 1', '"my tag"'], [R`m,my\ tag=a\ b my\ field=1i @0`]);
op(
  'short circuit keeps state',
  ['"b" AND count() > 1', 'count()'],
  ['m b=true @0', 'm b=false @1', 'm b=true @2', 'm b=true @3'],
);
op('type error constant', `'x' + 1`, ['m a=1i @0'], { note: 'found when the task starts' });
op('type error constant in comparison', `'x' > 1 AND "a" > 0`, ['m a=1i @0']);
op('unknown function', 'nofunc("a")', ['m a=1i @0']);
op('nested function', ['abs(float("a") - 10.0)', 'string(int(abs(float("a"))))'], ['m a=3i @0']);
op('string escapes', [R`'it\'s'`, R`'a\nb'`, `'''raw 'q' '''`], ['m a=1i @0']);
op('unicode strings', ['"s" + \'ß☃\'', 'strLength("s")', 'strToUpper("s")'], ['m s="größe" @0']);

// ================================================================ lambda: where results
const wh = (name, e, lines, extra) =>
  ch('lambda/where', name, `|where(lambda: ${e})`, lines, extra);
wh('bool field', '"b"', ['m b=true @0', 'm b=false @1']);
wh('int result', '"a"', ['m a=1i @0']);
wh('string tag result', '"t"', ['m,t=true a=1i @0']);
wh('constant true', 'TRUE', ['m a=1i @0']);
wh('constant false', 'FALSE', ['m a=1i @0']);
wh('constant int', '1', ['m a=1i @0']);
wh('arithmetic result', '"a" + 1', ['m a=1i @0']);
wh('guarded missing field', 'isPresent("x") AND "x" > 2', ['m a=1i @0', 'm x=3i @1', 'm x=1i @2']);
wh('guarded missing bool', 'isPresent("x") AND "x"', ['m a=1i @0', 'm x=true @1']);
wh('count based', 'count() % 2 == 0', ['m a=1i @0', 'm a=2i @1', 'm a=3i @2', 'm a=4i @3']);
wh('time parts', 'hour("time") == 0 AND minute("time") < 2', [
  'm a=1i @0',
  'm a=2i @119',
  'm a=3i @120',
  'm a=4i @86400',
]);
wh('sigma over the mean', 'sigma("a") > 1.5', [
  'm a=1 @0',
  'm a=1 @1',
  'm a=1 @2',
  'm a=1 @3',
  'm a=9 @4',
  'm a=1 @5',
]);
gr('lambda/where', 'state per group', '|where(lambda: count() > 1)', [
  'm,h=a v=1 @0',
  'm,h=b v=1 @1',
  'm,h=a v=2 @2',
  'm,h=b v=2 @3',
]);
st(
  'lambda/where',
  'from where has one state',
  `stream|from().measurement('m').groupBy('h').where(lambda: count() > 1)${EMIT}`,
  one('m,h=a v=1 @0', 'm,h=b v=1 @1', 'm,h=a v=2 @2', 'm,h=b v=2 @3'),
);

// ================================================================ lambda: functions
const fn = (name, e, lines, extra) => ev('lambda/function', name, e, lines, extra);
const NUMS = [
  'm a=0 @0',
  'm a=1 @1',
  'm a=-1 @2',
  'm a=0.5 @3',
  'm a=-2.5 @4',
  'm a=10 @5',
  'm a=123456.789 @6',
];
for (const f of [
  'abs',
  'ceil',
  'floor',
  'trunc',
  'cbrt',
  'sin',
  'cos',
  'tan',
  'atan',
  'sinh',
  'asinh',
  'tanh',
  'erf',
  'erfc',
  'exp2',
  'expm1',
]) {
  const lines = /^(sinh|exp2|expm1)$/.test(f) ? NUMS.slice(0, 6) : NUMS;
  fn(`${f}`, `${f}("a")`, lines);
}
for (const f of [
  'sqrt',
  'log',
  'log10',
  'log1p',
  'log2',
  'logb',
  'gamma',
  'acosh',
  'y0',
  'y1',
  'exp',
  'cosh',
  'j0',
  'j1',
])
  fn(`${f}`, `${f}("a")`, ['m a=1 @0', 'm a=1.5 @1', 'm a=2 @2', 'm a=5.25 @3', 'm a=16 @4']);
for (const f of ['acos', 'asin', 'atanh'])
  fn(`${f}`, `${f}("a")`, ['m a=0 @0', 'm a=0.5 @1', 'm a=-0.5 @2', 'm a=0.999 @3']);
fn(
  'domain edges as text',
  [
    'string(sqrt("a"))',
    'string(log("a"))',
    'string(acos("a"))',
    'string(acosh("a"))',
    'string(log1p("a"))',
    'string(atanh("a"))',
    'string(gamma("a"))',
    'string(logb("a"))',
  ],
  ['m a=0 @0', 'm a=-1 @1', 'm a=-4 @2', 'm a=1 @3'],
);
fn(
  'infinite values as text',
  ['string(exp("a"))', 'string(-exp("a"))', 'string(pow("a", 400.0))'],
  ['m a=1000 @0'],
);
fn('not encodable float', 'sqrt("a")', ['m a=-1 @0', 'm a=4 @1'], {
  note: 'NaN cannot be sent as JSON: the row is lost',
});
fn(
  'two arguments',
  [
    'atan2("a", "b")',
    'hypot("a", "b")',
    'max("a", "b")',
    'min("a", "b")',
    'mod("a", "b")',
    'pow("a", "b")',
  ],
  ['m a=3,b=4 @0', 'm a=-3,b=2 @1', 'm a=5.5,b=2 @2', 'm a=0,b=1 @3', 'm a=-7.25,b=3 @4'].map(
    (l) => l,
  ),
);
fn('min and max of ints', 'max("a", "b")', ['m a=3i,b=4i @0']);
fn('mixed args', 'pow("a", 2)', ['m a=3 @0']);
fn('pow10', ['pow10("a")', 'pow10(0)', 'pow10(-3)'], ['m a=3i @0', 'm a=-2i @1', 'm a=18i @2']);
fn('pow10 of float', 'pow10("a")', ['m a=3 @0']);
fn(
  'bessel with order',
  ['jn(0, "a")', 'jn(2, "a")', 'yn(1, "a")', 'yn(2, "a")'],
  ['m a=1 @0', 'm a=2.5 @1', 'm a=10 @2'],
);
fn('abs of int', 'abs("a")', ['m a=-3i @0']);
fn('abs without args', 'abs()', ['m a=3 @0']);
fn('abs two args', 'abs("a", "a")', ['m a=3 @0']);
fn('function names are case sensitive', 'Abs("a")', ['m a=3 @0']);
fn(
  'bool',
  ['bool("s")', 'bool("i")', 'bool("f")', 'bool("b")'],
  [
    'm s="true",i=1i,f=1,b=true @0',
    'm s="F",i=0i,f=0,b=false @1',
    'm s="1",i=1i,f=1,b=true @2',
    'm s="t",i=0i,f=0,b=true @3',
  ],
);
fn('bool bad string', 'bool("s")', ['m s="yes" @0', 'm s="tRUE" @1', 'm s="" @2', 'm s="True" @3']);
fn('bool bad number', 'bool("i")', ['m i=2i @0', 'm i=0.5 @1', 'm i=1i @2']);
fn(
  'int',
  ['int("s")', 'int("f")', 'int("b")', 'int("i")'],
  [
    'm s="42",f=3.9,b=true,i=5i @0',
    'm s="-7",f=-3.9,b=false,i=-5i @1',
    'm s="007",f=0.2,b=false,i=0i @2',
  ],
);
fn('int bad string', 'int("s")', [
  'm s="1.5" @0',
  'm s="0x10" @1',
  'm s="" @2',
  'm s=" 1" @3',
  'm s="+5" @4',
  'm s="1e3" @5',
  'm s="9223372036854775808" @6',
]);
fn('int of duration', 'int(10s)', ['m a=1i @0']);
fn('int of time', 'int("time")', ['m a=1i @0']);
fn(
  'float',
  ['float("s")', 'float("f")', 'float("b")', 'float("i")'],
  [
    'm s="4.25",f=3.9,b=true,i=5i @0',
    'm s="-1e3",f=-3.9,b=false,i=-5i @1',
    'm s=".5",f=0.2,b=false,i=0i @2',
    'm s="7",f=0.2,b=false,i=9007199254740993i @3',
  ],
);
fn('float of special strings', 'string(float("s"))', [
  'm s="inf" @0',
  'm s="-Inf" @1',
  'm s="nan" @2',
  'm s="+5" @3',
]);
fn('float bad string', 'float("s")', [
  'm s="x" @0',
  'm s="1,5" @1',
  'm s="" @2',
  'm s="1 " @3',
  'm s="1_000" @4',
]);
fn('string of float', 'string("f")', [
  'm f=1 @0',
  'm f=0.1 @1',
  'm f=1e21 @2',
  'm f=1e-7 @3',
  'm f=123456789.125 @4',
  'm f=-0.0 @5',
  'm f=1e300 @6',
]);
fn(
  'string of others',
  ['string("i")', 'string("b")', 'string("s")', 'string("t")'],
  ['m,t=tag i=-5i,b=true,s="q" @0', 'm,t=x i=9223372036854775807i,b=false,s="" @1'],
);
fn(
  'string of durations',
  [
    'string(0s)',
    'string(1u)',
    'string(1500u)',
    'string(1ms)',
    'string(60s)',
    'string(90s)',
    'string(3600s)',
    'string(24h)',
    'string(7d)',
    'string(36h)',
    'string(1w)',
    'string(-90s)',
  ],
  ['m a=1i @0'],
);
fn('string of time', 'string("time")', ['m a=1i @0']);
fn(
  'duration from number',
  ['string(duration("i", 1s))', 'string(duration("f", 1m))', 'string(duration("i", "i" * 1ms))'],
  ['m i=90i,f=1.5 @0', 'm i=0i,f=0.001 @1', 'm i=-3i,f=-1 @2'],
);
fn(
  'duration from string',
  ['string(duration("s", 1s))'],
  [
    'm s="90s" @0',
    'm s="1h30m" @1',
    'm s="5" @2',
    'm s="-5m" @3',
    'm s="" @4',
    'm s="1.5h" @5',
    'm s="10us" @6',
    'm s="2w" @7',
  ],
);
fn('duration of duration', 'string(duration(90s))', ['m a=1i @0']);
fn('duration number only', 'string(duration("i"))', ['m i=5i @0']);
fn(
  'strContains',
  [
    'strContains("s", \'bc\')',
    'strContains("s", \'\')',
    'strContainsAny("s", \'xyc\')',
    'strContainsAny("s", \'\')',
  ],
  ['m s="abcabc" @0', 'm s="" @1', 'm s="x" @2'],
);
fn(
  'strCount and indexes',
  [
    'strCount("s", \'bc\')',
    'strCount("s", \'\')',
    'strIndex("s", \'bc\')',
    'strLastIndex("s", \'bc\')',
    'strIndexAny("s", \'zcb\')',
    'strLastIndexAny("s", \'ab\')',
  ],
  ['m s="abcabc" @0', 'm s="" @1', 'm s="ébcé" @2'],
);
fn(
  'prefix and suffix',
  [
    'strHasPrefix("s", \'ab\')',
    'strHasSuffix("s", \'bc\')',
    'strTrimPrefix("s", \'ab\')',
    'strTrimSuffix("s", \'bc\')',
  ],
  ['m s="abcabc" @0', 'm s="xab" @1', 'm s="" @2'],
);
fn('strLength', 'strLength("s")', ['m s="abc" @0', 'm s="é☃" @1', 'm s="" @2']);
fn(
  'strReplace',
  [
    "strReplace(\"s\", 'a', '__', 1)",
    "strReplace(\"s\", 'a', '__', -1)",
    "strReplace(\"s\", '', '-', 2)",
    "strReplace(\"s\", 'q', '-', -1)",
    "strReplace(\"s\", 'a', '', 0)",
  ],
  ['m s="banana" @0', 'm s="" @1'],
);
fn(
  'strSubstring',
  ['strSubstring("s", 0, 3)', 'strSubstring("s", 2, 4)', 'strSubstring("s", 2, 2)'],
  ['m s="abcdefg" @0', 'm s="éàü" @1'],
);
fn(
  'strSubstring whole string',
  'strSubstring("s", 0, "n")',
  ['m s="abc",n=2i @0', 'm s="abc",n=3i @1', 'm s="abc",n=9i @2'],
  { note: 'stop must be smaller than the byte length' },
);
fn('strSubstring negative', 'strSubstring("s", "n", 2)', [
  'm s="abc",n=-1i @0',
  'm s="abc",n=1i @1',
]);
fn(
  'case and trim',
  [
    'strToLower("s")',
    'strToUpper("s")',
    'strTrim("s", \' -\')',
    'strTrimLeft("s", \' -\')',
    'strTrimRight("s", \' -\')',
    'strTrimSpace("s")',
  ],
  ['m s="  -AbC- " @0', 'm s="ÄßÇ" @1', 'm s="" @2'],
);
fn('strings wrong type', 'strLength("a")', ['m a=1i @0']);
fn(
  'regexReplace',
  [
    R`regexReplace(/a(x*)b/, "s", 'T')`,
    R`regexReplace(/a(x*)b/, "s", '$1')`,
    R`regexReplace(/a(x*)b/, "s", '$1W')`,
    R`regexReplace(/a(x*)b/, "s", '\${1}W')`.replace('\\$', '$'),
    R`regexReplace(/(?P<first>a)(?P<second>x*)b/, "s", '$second-$first')`,
    R`regexReplace(/a/, "s", '$$')`,
  ],
  ['m s="-ab-axxb-" @0', 'm s="none" @1'],
);
fn('regexReplace on int', `regexReplace(/a/, "a", 'b')`, ['m a=1i @0']);
fn(
  'time parts',
  [
    'unixNano("time")',
    'minute("time")',
    'hour("time")',
    'weekday("time")',
    'day("time")',
    'month("time")',
    'year("time")',
  ],
  ['m a=1i @0', 'm a=1i @86399', 'm a=1i @5184000', 'm a=1i @-1', 'm a=1i @432000'],
  { note: 'server zone UTC' },
);
fn('time part of int', 'hour("a")', ['m a=1i @0']);
fn(
  'time with sub second',
  ['unixNano("time")', 'minute("time")'],
  ms('m a=1i @59.999', 'm a=1i @60.001'),
);
fn('now is not in the past', 'unixNano(now()) > unixNano("time")', ['m a=1i @0']);
fn(
  'humanBytes',
  ['humanBytes("i")', 'humanBytes("f")'],
  [
    'm i=0i,f=9.9 @0',
    'm i=9i,f=999 @1',
    'm i=1000i,f=1024 @2',
    'm i=5420i,f=15420 @3',
    'm i=82854982i,f=1e15 @4',
    'm i=999999i,f=1500000 @5',
    'm i=9223372036854775807i,f=0 @6',
    'm i=9950i,f=99950 @7',
  ],
);
fn('humanBytes of string', 'humanBytes("s")', ['m s="5" @0']);
fn(
  'if',
  [
    'if("b", 1, 2)',
    'if("i" > 3, "i", 0)',
    `if("i" > 3, 'big', 'small')`,
    'if("b", TRUE, FALSE)',
    'if("b", "f", 0.0)',
    'string(if("b", 1s, 2m))',
  ],
  ['m b=true,i=5i,f=2.5 @0', 'm b=false,i=2i,f=3.5 @1'],
);
fn('if with different types', 'if("b", 1, 2.0)', ['m b=true @0']);
fn('if with int condition', 'if("i", 1, 2)', ['m i=1i @0']);
fn('if with missing branch', 'if(isPresent("x"), "x", 0.0)', ['m a=1 @0', 'm x=2 @1']);
fn(
  'if evaluates both branches',
  'if("b" > 0, count(), count() * 100)',
  ['m b=2i @0', 'm b=0i @1', 'm b=1i @2'],
  { note: 'no laziness: both calls advance the shared counter' },
);
fn('nested if', `if("a" > 10, 'high', if("a" > 5, 'mid', 'low'))`, [
  'm a=11i @0',
  'm a=7i @1',
  'm a=1i @2',
]);
fn(
  'isPresent',
  ['isPresent("x")', 'isPresent("t")', '!isPresent("x")', 'isPresent("a")'],
  ['m a=1i @0', 'm,t=q a=1i,x=0i @1', 'm a=1i,x="" @2'],
);
fn('isPresent of time', 'isPresent("time")', ['m a=1i @0']);
fn('isPresent of string', `isPresent('x')`, ['m a=1i @0']);
fn(
  'count',
  ['count()', 'count() + 10', 'count() + count()'],
  ['m a=1i @0', 'm a=1i @1', 'm a=1i @2'],
);
fn('count with argument', 'count("a")', ['m a=1i @0']);
fn('sigma', 'sigma("a")', [
  'm a=1 @0',
  'm a=2 @1',
  'm a=3 @2',
  'm a=2 @3',
  'm a=50 @4',
  'm a=-50 @5',
]);
fn('sigma constant values', 'sigma("a")', ['m a=5 @0', 'm a=5 @1', 'm a=5 @2']);
fn('sigma of int', 'sigma("a")', ['m a=1i @0']);
fn('spread', 'spread("a")', ['m a=3 @0', 'm a=5 @1', 'm a=4 @2', 'm a=-1 @3']);
fn('spread of int', 'spread("a")', ['m a=3i @0']);
fn(
  'two spreads share state',
  ['spread("a") + spread("b")', 'spread("a")'],
  ['m a=1,b=10 @0', 'm a=2,b=20 @1'],
  { note: 'one state per function name and lambda' },
);
gr(
  'lambda/function',
  'stateful functions per group',
  `|eval(lambda: count(), lambda: spread("v")).as('c', 's')`,
  ['m,h=a v=1 @0', 'm,h=b v=10 @1', 'm,h=a v=4 @2', 'm,h=b v=11 @3'],
);
fn('argument error inside', 'abs(float("s") + 1.0)', ['m s="x" @0']);
fn('match functions are not available', 'level() > 1', ['m a=1i @0']);

// ================================================================ from
const M3 = ['m,h=a,k=1 v=1i,s="x" @0', 'm,h=b,k=1 v=2i,s="y" @1', 'n,h=a v=3i @2', 'm v=4i @3'];
st('node/from', 'no filter', `stream|from()${EMIT}`, one(...M3));
st('node/from', 'measurement', `stream|from().measurement('n')${EMIT}`, one(...M3));
st('node/from', 'where', `stream|from().where(lambda: "v" > 1 AND "v" < 4)${EMIT}`, one(...M3));
st(
  'node/from',
  'where repeated',
  `stream|from().where(lambda: "v" > 1).where(lambda: "h" == 'a')${EMIT}`,
  one(...M3),
  { note: 'calls are combined with AND; the missing tag of the last point is an error' },
);
st(
  'node/from',
  'where before measurement',
  `stream|from().where(lambda: "h" == 'a').measurement('m')${EMIT}`,
  one(...M3),
);
st(
  'node/from',
  'where on time',
  `stream|from().where(lambda: unixNano("time") >= 1704067202000000000)${EMIT}`,
  one(...M3),
);
st(
  'node/from',
  'from of from',
  `var a = stream|from().measurement('m')\na|from().measurement('m').where(lambda: "v" == 2)${EMIT}`,
  one(...M3),
);
st(
  'node/from',
  'two froms share a source',
  `var a = stream|from().measurement('m')\nvar b = stream|from().measurement('n')\na|httpPost('{{SINK}}/emit/a')\nb|httpPost('{{SINK}}/emit/b')`,
  one(...M3),
);
st('node/from', 'other database filter', `stream|from().database('x')${EMIT}`, one(...M3));
st(
  'node/from',
  'truncate',
  `stream|from().truncate(10s)${EMIT}`,
  ms('m v=1 @0', 'm v=1 @4.999', 'm v=1 @5', 'm v=1 @9.999', 'm v=1 @10'),
);
st(
  'node/from',
  'round',
  `stream|from().round(10s)${EMIT}`,
  ms('m v=1 @0', 'm v=1 @4.999', 'm v=1 @5', 'm v=1 @9.999', 'm v=1 @10'),
  { note: 'ties go up' },
);
st(
  'node/from',
  'truncate and round',
  `stream|from().truncate(4s).round(10s)${EMIT}`,
  one('m v=1 @3', 'm v=1 @5', 'm v=1 @7', 'm v=1 @9'),
  { note: 'truncate comes first' },
);
st(
  'node/from',
  'truncate odd duration',
  `stream|from().truncate(7m)${EMIT}`,
  one('m v=1 @0', 'm v=1 @600'),
  { note: 'counted from year 1, not from the Unix epoch' },
);
st(
  'node/from',
  'truncate week',
  `stream|from().truncate(1w)${EMIT}`,
  one('m v=1 @0', 'm v=1 @500000'),
  { note: 'weeks start on Monday' },
);
st('node/from', 'round day', `stream|from().round(1d)${EMIT}`, one('m v=1 @43199', 'm v=1 @43200'));
st(
  'node/from',
  'where sees the original time',
  `stream|from().truncate(1m).where(lambda: minute("time") == 0 AND unixNano("time") % 60000000000 != 0)${EMIT}`,
  one('m v=1 @0', 'm v=2 @30', 'm v=3 @70'),
);
const grp = (name, by, lines, extra) =>
  st(
    'node/groupBy',
    name,
    `stream|from()${by}|alert().id('{{ .Group }}').message('{{ .Name }}').details('').info(lambda: TRUE).post('{{SINK}}/alert')`,
    one(...lines),
    extra,
  );
const GL = ['m,a=1,b=2,c=3 v=1 @0', 'm,b=5 v=1 @1', 'n,a=1 v=1 @2', 'm v=1 @3'];
grp('none', '', GL);
grp('one tag', `.groupBy('a')`, GL, { note: 'a missing tag gives an empty group value' });
grp('two tags are sorted', `.groupBy('c', 'a')`, GL);
grp('list', `.groupBy(['b', 'a'])`, GL);
grp('star', `.groupBy(*)`, GL);
grp('list with star', `.groupBy([*])`, GL);
grp('by measurement', `.groupByMeasurement()`, GL);
grp('tag and measurement', `.groupBy('a').groupByMeasurement()`, GL);
grp('star and measurement', `.groupBy(*).groupByMeasurement()`, GL);
grp('repeated groupBy', `.groupBy('a').groupBy('b')`, GL, { note: 'the last call wins' });
grp('duplicate tag', `.groupBy('a', 'a')`, GL);
grp('field name', `.groupBy('v')`, GL, { note: 'fields are not tags' });
grp('node', `|groupBy('a')`, GL);
grp('node star exclude', `|groupBy(*).exclude('b')`, GL);
grp('node star exclude two', `|groupBy(*).exclude('b', 'c')`, GL);
grp('node by measurement', `|groupBy('b').byMeasurement()`, GL);
grp('node keeps by measurement', `.groupByMeasurement()|groupBy('b')`, GL, {
  note: 'by measurement is kept',
});
grp('node without tags', `.groupBy('a')|groupBy()`, GL);
grp('node after node', `|groupBy('a')|groupBy('b')`, GL);
def('node/groupBy', 'empty tag', `stream|from().groupBy('')`);
def('node/groupBy', 'star and tag', `stream|from().groupBy(*, 'a')`);
def('node/groupBy', 'int', `stream|from().groupBy(5)`);
def('node/groupBy', 'exclude without star', `stream|from()|groupBy('a').exclude('b')`);
def('node/groupBy', 'node star and tag', `stream|from()|groupBy(*, 'a')`);
def('node/groupBy', 'node empty tag', `stream|from()|groupBy('')`);

// ================================================================ window
const win = (name, props, lines, extra) =>
  ch('node/window', name, `|window()${props}\n    |sum('v')`, lines, extra);
const raw = (name, props, lines, extra) =>
  ch('node/window', name, `|window()${props}`, lines, extra);
const V = (...t) => t.map((s, i) => `m v=${2 ** i}i @${s}`);
win('tumbling', '.period(10s).every(10s)', V(0, 3, 9, 10, 11, 20, 35));
win('tumbling aligned', '.period(10s).every(10s).align()', V(3, 9, 10, 11, 20, 35, 41));
win('sliding', '.period(10s).every(5s)', V(0, 3, 6, 9, 12, 15, 18, 21));
win('sliding aligned', '.period(10s).every(5s).align()', V(2, 3, 6, 9, 12, 15, 18, 21));
win('gap between windows', '.period(5s).every(10s)', V(0, 4, 6, 9, 10, 18, 20, 30), {
  note: 'points outside of the period are lost',
});
win('long gap', '.period(5s).every(5s)', V(0, 3, 100, 104, 105, 111));
win('long gap aligned', '.period(5s).every(5s).align()', V(1, 3, 101, 104, 105, 111));
win('every point', '.period(10s)', V(0, 4, 10, 11, 30));
win('every point with align', '.period(10s).align()', V(1, 4, 10, 11, 30));
win('every zero', '.period(10s).every(0s)', V(0, 4, 10));
win('fillPeriod', '.period(10s).every(5s).fillPeriod()', V(0, 4, 6, 10, 14, 15, 21));
win(
  'fillPeriod aligned',
  '.period(10s).every(5s).align().fillPeriod()',
  V(2, 4, 6, 10, 14, 15, 16, 21),
);
win('fillPeriod every point', '.period(10s).fillPeriod()', V(0, 4, 9, 10, 11, 21));
win('period shorter than every aligned', '.period(3s).every(10s).align()', V(2, 8, 9, 10, 18, 21));
win('equal times', '.period(10s).every(10s)', [
  'm v=1i @0',
  'm v=2i @0',
  'm v=4i @10',
  'm v=8i @10',
  'm v=16i @20',
]);
win('late points', '.period(10s).every(10s)', [
  'm v=1i @5',
  'm v=2i @8',
  'm v=4i @3',
  'm v=8i @15',
  'm v=16i @12',
  'm v=32i @26',
]);
win('point before the first', '.period(10s).every(10s)', [
  'm v=1i @20',
  'm v=2i @5',
  'm v=4i @31',
  'm v=8i @45',
]);
win(
  'sub second',
  '.period(500ms).every(500ms)',
  ms('m v=1i @0', 'm v=2i @0.4', 'm v=4i @0.5', 'm v=8i @1.25'),
);
win('week aligned', '.period(1w).every(1w).align()', [
  'm v=1i @0',
  'm v=2i @86400',
  'm v=4i @604800',
  'm v=8i @1300000',
]);
win('seven minutes aligned', '.period(7m).every(7m).align()', [
  'm v=1i @0',
  'm v=2i @100',
  'm v=4i @420',
  'm v=8i @900',
]);
win('count', '.periodCount(3).everyCount(3)', V(0, 1, 2, 3, 4, 5, 6));
win('count sliding', '.periodCount(4).everyCount(2)', V(0, 1, 2, 3, 4, 5, 6));
win('count every one', '.periodCount(2).everyCount(1)', V(0, 1, 2, 3));
win('count fillPeriod', '.periodCount(4).everyCount(2).fillPeriod()', V(0, 1, 2, 3, 4, 5, 6));
win('count smaller than every', '.periodCount(2).everyCount(3)', V(0, 1, 2, 3, 4, 5));
win('count of equal times', '.periodCount(2).everyCount(2)', [
  'm v=1i @5',
  'm v=2i @5',
  'm v=4i @3',
  'm v=8i @9',
]);
raw('rows keep tags and fields', '.periodCount(2).everyCount(2)', [
  'm,h=a v=1i,w="x" @0',
  'm,k=z v=2i @1',
]);
raw(
  'columns of the first point',
  '.periodCount(3).everyCount(3)',
  ['m a=1i @0', 'm a=2i,b=3i @1', 'm b=4i @2'],
  { note: 'fields which are missing in the first point do not appear' },
);
raw('empty batch', '.period(5s).every(10s)', ['m v=1i @0', 'm v=2i @11', 'm v=4i @22']);
raw('order of arrival', '.period(10s).every(10s)', [
  'm v=1i @5',
  'm v=2i @3',
  'm v=4i @7',
  'm v=8i @16',
]);
gr('node/window', 'per group', `|window().period(10s).every(10s)|sum('v')`, [
  'm,h=a v=1i @0',
  'm,h=b v=2i @5',
  'm,h=a v=4i @10',
  'm,h=b v=8i @10',
  'm,h=b v=16i @15',
  'm,h=a v=32i @20',
]);
gr('node/window', 'group tags of batches', `|window().periodCount(2).everyCount(2)`, [
  'm,h=a,k=1 v=1i @0',
  'm,h=b,k=2 v=2i @5',
  'm,h=a,k=3 v=4i @10',
  'm,h=b,k=4 v=8i @10',
]);
st(
  'node/window',
  'mixed measurements in one group',
  `stream|from()|window().periodCount(2).everyCount(2)${EMIT}`,
  one('m v=1 @0', 'n v=2 @1', 'n v=3 @2', 'm v=4 @3'),
  { note: 'the batch is named after the first point of the group' },
);
const wdef = (name, s) => def('node/window', name, `stream|from()|window()${s}`, { enable: true });
wdef('nothing set', '');
wdef('only every', '.every(5s)');
wdef('only period', '.period(5s)');
wdef('period and periodCount', '.period(5s).periodCount(2)');
wdef('align with count', '.periodCount(2).everyCount(2).align()');
wdef('periodCount without everyCount', '.periodCount(2)');
wdef('everyCount only', '.everyCount(2)');
wdef('negative period', '.period(-5s).every(5s)');
wdef('align without every', '.period(5s).align()');
wdef('every and everyCount', '.period(5s).every(5s).everyCount(2)');
def(
  'node/window',
  'aggregate without window of batch',
  `batch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s)|window()`,
  { taskType: 'batch' },
);

// ================================================================ eval
const evn = (name, chain, lines, extra) => ch('node/eval', name, chain, lines, extra);
evn('one', `|eval(lambda: "v" * 2).as('w')`, ['m,h=a v=2i,u=1i @0']);
evn('keep all', `|eval(lambda: "v" * 2).as('w').keep()`, ['m,h=a v=2i,u=1i @0']);
evn('keep list', `|eval(lambda: "v" * 2, lambda: "w" + 1).as('w', 'x').keep('x', 'v')`, [
  'm,h=a v=2i,u=1i @0',
]);
evn('keep missing', `|eval(lambda: "v" * 2).as('w').keep('w', 'nope')`, [
  'm v=2i @0',
  'm v=3i,nope=1i @1',
]);
evn('keep unknown field only', `|eval(lambda: "v" * 2).as('w').keep('u')`, ['m v=2i,u=1i @0']);
evn('overwrite field', `|eval(lambda: "v" * 2).as('v').keep()`, ['m v=2i @0']);
evn(
  'overwrite then use',
  `|eval(lambda: "v" * 2, lambda: "v" + 1).as('v', 'x').keep()`,
  ['m v=2i @0'],
  { note: 'the original field wins in the second expression' },
);
evn('chain of results', `|eval(lambda: 1, lambda: "a" + 1, lambda: "b" * "a").as('a', 'b', 'c')`, [
  'm v=2i @0',
]);
evn('result used before it exists', `|eval(lambda: "b" + 1, lambda: 1).as('a', 'b')`, [
  'm v=2i @0',
]);
evn('tags', `|eval(lambda: string("v"), lambda: "v" + 1).as('tv', 'x').tags('tv')`, [
  'm,h=a v=2i @0',
]);
evn('tags with keep', `|eval(lambda: string("v")).as('tv').tags('tv').keep()`, ['m,h=a v=2i @0']);
evn(
  'tags with keep list',
  `|eval(lambda: string("v"), lambda: "v").as('tv', 'x').tags('tv').keep('v')`,
  ['m,h=a v=2i @0'],
);
evn('only tags', `|eval(lambda: string("v")).as('tv').tags('tv')`, ['m,h=a v=2i @0'], {
  note: 'a point without fields',
});
evn(
  'tag overwrites tag',
  `|eval(lambda: "h" + '!', lambda: "v").as('h', 'v').tags('h')`,
  ['m,h=a v=2i @0'],
  { note: 'result of the same name as a tag' },
);
evn('tag not string', `|eval(lambda: "v").as('tv').tags('tv')`, ['m v=2i @0']);
evn(
  'group follows a changed group tag',
  `|groupBy('h')|eval(lambda: 'z', lambda: "v").as('h', 'v').tags('h')|alert().id('{{ .Group }}').message('x').details('').info(lambda: TRUE).post('{{SINK}}/alert')`,
  ['m,h=a v=2i @0'],
);
evn('error drops point', `|eval(lambda: "v" * 2).as('w').keep()`, [
  'm v=2i @0',
  'm u=1i @1',
  'm v="s" @2',
  'm v=3i @3',
]);
evn('error quiet', `|eval(lambda: "v" * 2).as('w').quiet()`, [
  'm v=2i @0',
  'm u=1i @1',
  'm v=3i @2',
]);
evn('second error drops all', `|eval(lambda: "v" * 2, lambda: "nope").as('w', 'x')`, ['m v=2i @0']);
evn('on batch', `|window().periodCount(3).everyCount(3)|eval(lambda: "v" * 2).as('w').keep('w')`, [
  'm,h=a v=1i @0',
  'm v="x" @1',
  'm,h=b v=3i @2',
]);
evn(
  'on batch all dropped',
  `|window().periodCount(2).everyCount(2)|eval(lambda: "nope").as('w')`,
  ['m v=1i @0', 'm v=2i @1'],
  { note: 'the empty batch is forwarded' },
);
evn(
  'batch state per group not per batch',
  `|window().periodCount(2).everyCount(2)|eval(lambda: count()).as('c')`,
  ['m v=1i @0', 'm v=2i @1', 'm v=3i @2', 'm v=4i @3'],
);
evn('time', `|eval(lambda: "time").as('t')`, ['m v=1i @0'], { note: 'a time value as field' });
def('node/eval', 'no as', `stream|from()|eval(lambda: "v")`, { enable: true });
def('node/eval', 'too many as', `stream|from()|eval(lambda: "v").as('a', 'b')`, { enable: true });
def('node/eval', 'no expression', `stream|from()|eval().as()`, { enable: true });
def('node/eval', 'unknown tag name', `stream|from()|eval(lambda: "v").as('a').tags('b')`, {
  enable: true,
});
def('node/eval', 'not a lambda', `stream|from()|eval('v').as('a')`, { enable: true });
def('node/eval', 'duplicate names', `stream|from()|eval(lambda: "v", lambda: "w").as('a', 'a')`, {
  enable: true,
});

// ================================================================ where, default, delete, shift, sample
const nn = (g) => (name, chain, lines, extra) => ch('node/' + g, name, chain, lines, extra);
const dn = (g) => (name, chain, extra) =>
  def('node/' + g, name, `stream|from()${chain}`, { enable: true, ...extra });
nn('where')('stream', `|where(lambda: "v" > 1)`, ['m v=1i @0', 'm v=2i @1']);
nn('where')('batch', `|window().periodCount(3).everyCount(3)|where(lambda: "v" > 1)`, [
  'm v=1i @0',
  'm v=2i @1',
  'm v=3i @2',
]);
nn('where')('batch all removed', `|window().periodCount(2).everyCount(2)|where(lambda: "v" > 10)`, [
  'm v=1i @0',
  'm v=2i @1',
]);
nn('where')('two in a row', `|where(lambda: "v" > 1)|where(lambda: "v" < 3)`, [
  'm v=1i @0',
  'm v=2i @1',
  'm v=3i @2',
]);
nn('where')('error drops', `|where(lambda: "w" > 1)`, ['m v=1i @0', 'm w=2i @1']);
dn('where')('no lambda', `|where()`);
dn('where')('string', `|where('x')`);
nn('default')(
  'field types',
  `|default().field('i', 5).field('f', 1.5).field('s', 'x').field('b', TRUE)`,
  ['m v=1i @0', 'm i=1i,f=2,s="y",b=false @1'],
);
nn('default')('wrong type is kept', `|default().field('v', 5)`, ['m v="text" @0']);
nn('default')('tag', `|default().tag('h', 'none').tag('k', 'none')`, [
  'm,h=a v=1i @0',
  'm v=1i @1',
]);
nn('default')('field and tag of one name', `|default().field('h', 1).tag('v', 'q')`, [
  'm,h=a v=1i @0',
]);
nn('default')('group tag', `|groupBy('h')|default().tag('h', 'none')|sum('v')`, [
  'm,h=a v=1i @0',
  'm v=2i @0',
  'm,h=a v=4i @1',
  'm v=8i @1',
]);
nn('default')(
  'batch',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|default().field('x', 0.0).tag('h', 'none').tag('z', 'q')`,
  ['m,h=a v=1i @0', 'm v=2i @0', 'm,h=a v=4i,x=3 @1', 'm v=8i @1'],
);
dn('default')('field duration', `|default().field('a', 5s)`);
dn('default')('field lambda', `|default().field('a', lambda: 1)`);
dn('default')('tag int', `|default().tag('a', 1)`);
dn('default')('nothing', `|default()`);
nn('delete')('field', `|delete().field('v')`, ['m v=1i,w=2i @0', 'm w=3i @1']);
nn('delete')('last field', `|delete().field('v')`, ['m v=1i @0']);
nn('delete')('tag', `|delete().tag('h').tag('nope')`, ['m,h=a,k=1 v=1i @0']);
nn('delete')(
  'group tag',
  `|groupBy('h', 'k')|delete().tag('h')|alert().id('{{ .Group }}').message('x').details('').info(lambda: TRUE).post('{{SINK}}/alert')`,
  ['m,h=a,k=1 v=1i @0', 'm,h=b,k=1 v=1i @1'],
);
nn('delete')(
  'batch',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|delete().field('v').tag('h').tag('k')`,
  ['m,h=a,k=1 v=1i,w=1i @0', 'm,h=a,k=2 v=4i,w=2i @1'],
);
nn('delete')('nothing', `|delete()`, ['m v=1i @0']);
nn('shift')('forward', `|shift(5m)`, ['m v=1i @0']);
nn('shift')('backward', `|shift(-1500ms)`, ['m v=1i @0']);
nn('shift')('batch', `|window().periodCount(2).everyCount(2)|shift(1h)|sum('v')`, [
  'm v=1i @0',
  'm v=2i @1',
]);
nn('shift')('batch points', `|window().periodCount(2).everyCount(2)|shift(1h)`, [
  'm v=1i @0',
  'm v=2i @1',
]);
dn('shift')('zero', `|shift(0s)`);
dn('shift')('int', `|shift(5)`);
nn('sample')('count', `|sample(2)`, V(0, 1, 2, 3, 4));
nn('sample')('count one', `|sample(1)`, V(0, 1));
nn('sample')('duration', `|sample(5s)`, V(0, 3, 5, 9, 10, 10, 12));
nn('sample')('duration odd', `|sample(7m)`, V(0, 240, 420, 660));
gr('node/sample', 'per group', `|sample(2)`, [
  'm,h=a v=1i @0',
  'm,h=b v=2i @0',
  'm,h=a v=3i @1',
  'm,h=b v=4i @1',
  'm,h=a v=5i @2',
]);
nn('sample')(
  'batch',
  `|window().periodCount(5).everyCount(5)|sample(2)`,
  V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
);
nn('sample')('batch duration', `|window().periodCount(4).everyCount(4)|sample(2s)`, V(0, 1, 2, 3));
dn('sample')('zero', `|sample(0)`);
dn('sample')('negative', `|sample(-1)`);
dn('sample')('string', `|sample('x')`);
dn('sample')('zero duration', `|sample(0s)`);
dn('sample')('float', `|sample(1.5)`);

// ================================================================ derivative, changeDetect, stateCount, stateDuration
nn('derivative')('defaults', `|derivative('v')`, [
  'm v=1,w=1i @0',
  'm v=3,w=2i @1',
  'm v=3,w=3i @3',
  'm v=0,w=4i @4',
]);
nn('derivative')('ints give floats', `|derivative('v').as('d')`, ['m v=1i @0', 'm v=4i @2']);
nn('derivative')('unit', `|derivative('v').unit(1m).as('d')`, ['m v=1i @0', 'm v=4i @30']);
nn('derivative')('nonNegative', `|derivative('v').nonNegative()`, [
  'm v=5i @0',
  'm v=4i @1',
  'm v=6i @2',
  'm v=6i @3',
]);
nn('derivative')('same time', `|derivative('v')`, ['m v=5i @0', 'm v=9i @0', 'm v=10i @1']);
nn('derivative')('backwards in time', `|derivative('v')`, [
  'm v=5i @10',
  'm v=9i @8',
  'm v=10i @11',
]);
nn('derivative')('missing and wrong type', `|derivative('v')`, [
  'm v=5i @0',
  'm w=1i @1',
  'm v="x" @2',
  'm v=11i @3',
]);
nn('derivative')('int to float', `|derivative('v')`, ['m v=5i @0', 'm v=7.5 @1', 'm v=8i @2']);
nn('derivative')('zero unit', `|derivative('v').unit(0s)`, ['m v=5i @0', 'm v=7i @1']);
gr('node/derivative', 'per group', `|derivative('v')`, [
  'm,h=a v=1i @0',
  'm,h=b v=100i @0',
  'm,h=a v=2i @1',
  'm,h=b v=90i @1',
]);
nn('derivative')(
  'batch',
  `|window().periodCount(3).everyCount(3)|derivative('v')`,
  ['m v=1i @0', 'm v=4i @1', 'm v=2i @2', 'm v=8i @3', 'm v=9i @4', 'm v=10i @5'],
  { note: 'the first point of each batch is lost' },
);
dn('derivative')('no field', `|derivative()`);
dn('derivative')('negative unit', `|derivative('v').unit(-1s)`);
nn('changeDetect')('one field', `|changeDetect('v')`, [
  'm v=1i @0',
  'm v=1i @1',
  'm v=2i @2',
  'm v=1i @3',
]);
nn('changeDetect')('types differ', `|changeDetect('v')`, [
  'm v=1i @0',
  'm v=1 @1',
  'm v="1" @2',
  'm v="1" @3',
  'm v=true @4',
]);
nn('changeDetect')('two fields', `|changeDetect('a', 'b')`, [
  'm a=1i,b=1i @0',
  'm a=1i,b=2i @1',
  'm a=1i,b=2i @2',
  'm a=2i,b=2i @3',
]);
nn('changeDetect')('missing field', `|changeDetect('a', 'b')`, [
  'm a=1i,b=1i @0',
  'm a=1i @1',
  'm b=2i @2',
  'm c=1i @3',
  'm a=1i,b=2i @4',
]);
nn('changeDetect')('tag', `|changeDetect('h')`, ['m,h=a v=1i @0', 'm,h=b v=1i @1']);
gr('node/changeDetect', 'per group', `|changeDetect('v')`, [
  'm,h=a v=1i @0',
  'm,h=b v=1i @0',
  'm,h=a v=1i @1',
  'm,h=b v=2i @1',
]);
nn('changeDetect')('batch', `|window().periodCount(4).everyCount(4)|changeDetect('v')`, [
  'm v=1i @0',
  'm v=1i @1',
  'm v=2i @2',
  'm v=2i @3',
  'm v=2i @4',
  'm v=2i @5',
  'm v=3i @6',
  'm v=3i @7',
]);
dn('changeDetect')('no field', `|changeDetect()`);
nn('stateCount')('defaults', `|stateCount(lambda: "v" > 1)`, [
  'm v=2i @0',
  'm v=3i @1',
  'm v=1i @2',
  'm v=5i @3',
  'm x=5i @4',
  'm v=6i @5',
]);
nn('stateCount')('as', `|stateCount(lambda: "v" > 1).as('n')`, ['m v=2i @0', 'm v=0i @1']);
nn('stateCount')('overwrites field', `|stateCount(lambda: "v" > 1).as('v')`, [
  'm v=2i @0',
  'm v=2i @1',
]);
nn('stateCount')('not boolean', `|stateCount(lambda: "v")`, ['m v=2i @0']);
nn('stateCount')(
  'batch',
  `|window().periodCount(3).everyCount(3)|stateCount(lambda: "v" > 1)`,
  ['m v=2i @0', 'm v=2i @1', 'm v=0i @2', 'm v=2i @3', 'm v=2i @4', 'm v=2i @5'],
  { note: 'reset at each batch' },
);
gr('node/stateCount', 'per group', `|stateCount(lambda: "v" > 1)`, [
  'm,h=a v=2i @0',
  'm,h=b v=2i @0',
  'm,h=a v=2i @1',
  'm,h=b v=0i @1',
]);
nn('stateDuration')('defaults', `|stateDuration(lambda: "v" > 1)`, [
  'm v=2i @0',
  'm v=3i @90',
  'm v=1i @91',
  'm v=5i @100',
  'm v=6i @101',
]);
nn('stateDuration')('unit', `|stateDuration(lambda: "v" > 1).unit(1m).as('mins')`, [
  'm v=2i @0',
  'm v=3i @90',
  'm v=3i @45',
]);
nn('stateDuration')(
  'batch',
  `|window().periodCount(3).everyCount(3)|stateDuration(lambda: "v" > 1)`,
  ['m v=2i @0', 'm v=2i @1', 'm v=0i @2', 'm v=2i @3', 'm v=2i @4', 'm v=2i @6'],
);
nn('stateDuration')('error', `|stateDuration(lambda: "nope" > 1)`, ['m v=2i @0']);
dn('stateDuration')('no lambda', `|stateDuration()`);
dn('stateCount')('unit is unknown', `|stateCount(lambda: TRUE).unit(1s)`);

// ================================================================ combine, flatten
const CB = ['m,h=a,r=x v=1i @0', 'm,h=b,r=y v=2i @0', 'm,h=c,r=y v=3i @0', 'm,h=z,r=q v=0i @1'];
nn('combine')('two lambdas', `|combine(lambda: "r" == 'x', lambda: "r" == 'y').as('p', 'q')`, CB);
nn('combine')('same lambda', `|combine(lambda: TRUE, lambda: TRUE).as('p', 'q')`, CB);
nn('combine')(
  'delimiter',
  `|combine(lambda: "r" == 'x', lambda: "r" == 'y').as('p', 'q').delimiter('#')`,
  CB,
);
nn('combine')(
  'tolerance',
  `|combine(lambda: "r" == 'x', lambda: "r" == 'y').as('p', 'q').tolerance(5s)`,
  ['m,r=x v=1i @0', 'm,r=y v=2i @2', 'm,r=y v=3i @3', 'm,r=x v=4i @6', 'm,r=x v=4i @16'],
);
nn('combine')('max', `|combine(lambda: TRUE, lambda: TRUE).as('p', 'q').max(2)`, CB);
nn('combine')('one lambda', `|combine(lambda: "v" > 1).as('p')`, CB);
nn('combine')(
  'three lambdas',
  `|combine(lambda: "v" == 1, lambda: "v" == 2, lambda: "v" == 3).as('p', 'q', 's')`,
  CB,
);
nn('combine')('not enough points', `|combine(lambda: TRUE, lambda: TRUE).as('p', 'q')`, [
  'm v=1i @0',
  'm v=1i @1',
  'm v=1i @2',
]);
gr('node/combine', 'grouped', `|combine(lambda: "r" == 'x', lambda: "r" == 'y').as('p', 'q')`, [
  'm,h=a,r=x v=1i @0',
  'm,h=a,r=y v=2i @0',
  'm,h=b,r=y v=3i @0',
  'm,h=a,r=q v=0i @1',
  'm,h=b,r=q v=0i @1',
]);
nn('combine')(
  'batch',
  `|window().periodCount(4).everyCount(4)|combine(lambda: "r" == 'x', lambda: "r" == 'y').as('p', 'q')`,
  ['m,r=x v=1i @0', 'm,r=y v=2i @0', 'm,r=x v=3i @1', 'm,r=y v=4i @1'],
);
nn('combine')(
  'missing field in lambda',
  `|combine(lambda: "w" == 1, lambda: "v" > 0).as('p', 'q')`,
  ['m v=1i @0', 'm w=1i @0', 'm v=9i @1'],
);
dn('combine')('no as', `|combine(lambda: TRUE, lambda: TRUE)`);
dn('combine')('as count', `|combine(lambda: TRUE, lambda: TRUE).as('a')`);
dn('combine')('as with delimiter', `|combine(lambda: TRUE, lambda: TRUE).as('a.b', 'c')`);
dn('combine')('same as', `|combine(lambda: TRUE, lambda: TRUE).as('a', 'a')`);
dn('combine')('empty as', `|combine(lambda: TRUE, lambda: TRUE).as('', 'a')`);
const FL = [
  'm,h=a,i=0 x=1i,y=2i @0',
  'm,h=a,i=1 x=3i @0',
  'm,h=b,i=0 x=4i @0',
  'm,h=a,i=0 x=5i @10',
];
nn('flatten')('one tag', `|flatten().on('i')`, FL);
nn('flatten')('two tags', `|flatten().on('h', 'i')`, FL);
nn('flatten')('order of tags', `|flatten().on('i', 'h')`, FL);
nn('flatten')('delimiter', `|flatten().on('h', 'i').delimiter('/')`, FL);
nn('flatten')('drop field name false', `|flatten().on('i').dropOriginalFieldName(FALSE)`, [
  'm,i=0 x=1i @0',
  'm,i=1 x=2i @0',
  'm,i=1 x=2i @1',
]);
nn('flatten')('drop single field', `|flatten().on('i').dropOriginalFieldName(TRUE)`, [
  'm,i=0 x=1i @0',
  'm,i=1 x=2i @0',
  'm,i=1 x=2i @1',
]);
nn('flatten')('tolerance', `|flatten().on('i').tolerance(10s)`, [
  'm,i=0 x=1i @0',
  'm,i=1 x=2i @4',
  'm,i=2 x=3i @5',
  'm,i=3 x=4i @14',
  'm,i=0 x=9i @20',
]);
nn('flatten')('missing tag', `|flatten().on('i')`, ['m x=1i @0', 'm,i=1 x=2i @0', 'm,i=1 x=2i @1']);
nn('flatten')(
  'same key twice',
  `|flatten().on('i')`,
  ['m,i=1 x=1i @0', 'm,i=1 x=2i @0', 'm,i=1 x=3i @1'],
  { note: 'the later value wins' },
);
nn('flatten')('no on', `|flatten()`, ['m,i=1 x=1i @0', 'm,i=1 x=3i @1']);
gr('node/flatten', 'grouped', `|flatten().on('i')`, FL);
gr('node/flatten', 'batch', `|window().period(10s).every(10s)|flatten().on('i')`, [
  'm,h=a,i=0 x=1i @0',
  'm,h=a,i=1 x=3i @0',
  'm,h=a,i=0 x=5i @5',
  'm,h=a,i=0 x=5i @10',
]);
nn('flatten')('back in time', `|flatten().on('i')`, [
  'm,i=0 x=1i @5',
  'm,i=1 x=2i @3',
  'm,i=2 x=3i @5',
  'm,i=3 x=4i @9',
]);

// ================================================================ InfluxQL function nodes
const FD = [
  'm,h=a v=4,w=1i @0',
  'm,h=b v=1,w=2i @1',
  'm,h=c v=4,w=3i @2',
  'm,h=d v=7.5,w=4i @4',
  'm,h=e v=-2,w=5i @5',
];
const FI = [
  'm,h=a v=4i,w=1i @0',
  'm,h=b v=1i,w=2i @1',
  'm,h=c v=4i,w=3i @2',
  'm,h=d v=7i,w=4i @4',
  'm,h=e v=-2i,w=5i @5',
];
const FS = [
  'm,h=a v="kiwi" @0',
  'm,h=b v="apple" @1',
  'm,h=c v="kiwi" @2',
  'm,h=d v="fig" @4',
  'm,h=e v="" @5',
];
const FB = ['m v=true @0', 'm v=false @1', 'm v=true @2', 'm v=true @4', 'm v=false @5'];
const W5 = '|window().periodCount(5).everyCount(5)';
const fq = (g, name, chain, lines, extra) => ch('influxql/' + g, name, chain, lines, extra);
const AGG = [
  'count',
  'distinct',
  'mean',
  'median',
  'mode',
  'spread',
  'sum',
  'first',
  'last',
  'min',
  'max',
  'stddev',
];
for (const f of AGG) {
  fq(f, 'window of floats', `${W5}\n    |${f}('v')`, FD);
  fq(f, 'window of ints', `${W5}\n    |${f}('v')\n        .as('r')`, FI);
  if (f !== 'sum') fq(f, 'usePointTimes', `${W5}\n    |${f}('v')\n        .usePointTimes()`, FI);
  fq(f, 'window of strings', `${W5}\n    |${f}('v')`, FS);
  fq(f, 'stream by equal time', `|${f}('v')`, [
    'm,h=a v=3i @0',
    'm,h=b v=1i @0',
    'm,h=c v=1i @0',
    'm v=8i @1',
    'm v=9i @2',
  ]);
  fq(f, 'missing field', `${W5}\n    |${f}('v')`, [
    'm w=1i @0',
    'm v=5i @1',
    'm w=1i @2',
    'm v=3i @3',
    'm v=1 @4',
  ]);
  fq(f, 'missing later', `${W5}\n    |${f}('v')`, [
    'm v=5i @0',
    'm w=1i @1',
    'm v=3 @2',
    'm v=8i @3',
    'm v="x" @4',
  ]);
  fq(f, 'empty window', `|window().period(2s).every(10s)\n    |${f}('v')`, [
    'm v=5i @0',
    'm v=6i @10',
    'm v=7i @19',
    'm v=8i @21',
  ]);
  gr('influxql/' + f, 'grouped windows', `|window().periodCount(2).everyCount(2)\n    |${f}('v')`, [
    'm,h=a,k=1 v=2i @0',
    'm,h=b,k=2 v=9i @1',
    'm,h=a,k=3 v=5i @2',
    'm,h=b,k=4 v=9i @3',
  ]);
}
for (const f of ['count', 'distinct', 'first', 'last', 'sum', 'max'])
  fq(f, 'window of bools', `${W5}\n    |${f}('v')`, FB);
fq('mode', 'ties', `${W5}\n    |mode('v')`, [
  'm v=3i @0',
  'm v=1i @1',
  'm v=3i @2',
  'm v=1i @3',
  'm v=2i @4',
]);
fq('mode', 'all unique', `${W5}\n    |mode('v')`, [
  'm v=3i @0',
  'm v=1i @1',
  'm v=5i @2',
  'm v=4i @3',
  'm v=2i @4',
]);
fq('median', 'even number', `|window().periodCount(4).everyCount(4)|median('v')`, [
  'm v=3i @0',
  'm v=1i @1',
  'm v=8i @2',
  'm v=4i @3',
]);
fq('stddev', 'one value', `|window().periodCount(1).everyCount(1)|stddev('v')`, ['m v=3i @0']);
fq('first', 'unsorted times', `${W5}\n    |first('v')`, [
  'm v=3i @5',
  'm v=1i @2',
  'm v=9i @9',
  'm v=4i @2',
  'm v=2i @9',
]);
fq('last', 'unsorted times', `${W5}\n    |last('v')`, [
  'm v=3i @5',
  'm v=1i @2',
  'm v=9i @9',
  'm v=4i @2',
  'm v=2i @9',
]);
fq('max', 'as the field itself', `${W5}\n    |max('v').as('v')`, FI);
fq('max', 'as an existing field', `${W5}\n    |max('v').as('w')`, FI);
fq(
  'min',
  'result on the next node',
  `${W5}\n    |min('v')\n    |eval(lambda: "min" * 10).as('t').keep()`,
  FI,
);
fq('sum', 'large ints wrap', `|window().periodCount(2).everyCount(2)|sum('v')`, [
  'm v=9223372036854775807i @0',
  'm v=1i @1',
]);
fq('mean', 'of batch result', `${W5}\n    |distinct('v')\n    |mean('distinct')`, FI);
fq(
  'mean',
  'in a row',
  `|window().periodCount(2).everyCount(2)|mean('v').as('a')|window().periodCount(2).everyCount(2)|max('a')`,
  ['m v=1 @0', 'm v=3 @1', 'm v=10 @2', 'm v=20 @3'],
);
for (const p of ['50.0', '0.0', '100.0', '90.0', '10.0', '1.0'])
  fq('percentile', p, `${W5}\n    |percentile('v', ${p})`, FI);
fq(
  'percentile',
  'floats with usePointTimes',
  `${W5}\n    |percentile('v', 75.0).as('p').usePointTimes()`,
  FD,
);
fq('percentile', 'stream', `|percentile('v', 50.0)`, [
  'm,h=a v=3i @0',
  'm,h=b v=1i @0',
  'm,h=c v=7i @0',
  'm v=8i @1',
]);
fq('percentile', 'strings', `${W5}\n    |percentile('v', 50.0)`, FS);
for (const f of ['top', 'bottom']) {
  fq(f, 'two', `${W5}\n    |${f}(2, 'v')`, FI);
  fq(f, 'ties', `${W5}\n    |${f}(3, 'v').as('t')`, [
    'm v=1i @0',
    'm v=3i @1',
    'm v=3i @2',
    'm v=1i @3',
    'm v=3i @4',
  ]);
  fq(f, 'more than present', `|window().periodCount(2).everyCount(2)|${f}(5, 'v')`, FI);
  fq(f, 'extra tag and field', `${W5}\n    |${f}(2, 'v', 'h', 'w')`, FD);
  fq(f, 'usePointTimes', `${W5}\n    |${f}(3, 'v').usePointTimes()`, FI);
  fq(f, 'strings', `${W5}\n    |${f}(2, 'v')`, FS);
  fq(f, 'stream', `|${f}(2, 'v')`, [
    'm,h=a v=3i @0',
    'm,h=b v=1i @0',
    'm,h=c v=7i @0',
    'm v=8i @1',
  ]);
  gr('influxql/' + f, 'grouped', `|window().periodCount(3).everyCount(3)|${f}(2, 'v', 'k')`, [
    'm,h=a,k=1 v=2i @0',
    'm,h=a,k=3 v=5i @2',
    'm,h=a,k=4 v=9i @3',
  ]);
}
const TRN = [
  ['elapsed', `'v', 1s`],
  ['difference', `'v'`],
  ['cumulativeSum', `'v'`],
  ['movingAverage', `'v', 2`],
];
for (const [f, a] of TRN) {
  fq(f, 'stream of ints', `|${f}(${a})`, FI);
  fq(f, 'stream of floats', `|${f}(${a}).as('r')`, FD);
  fq(f, 'batch', `|window().periodCount(3).everyCount(3)\n    |${f}(${a})`, [
    'm v=1i @0',
    'm v=4i @1',
    'm v=2i @2',
    'm v=8i @3',
    'm v=9i @5',
    'm v=10i @9',
  ]);
  fq(
    f,
    'batch usePointTimes',
    `|window().periodCount(3).everyCount(3)\n    |${f}(${a}).usePointTimes()`,
    ['m v=1i @0', 'm v=4i @1', 'm v=2i @2'],
  );
  fq(f, 'equal times', `|${f}(${a})`, [
    'm v=1i @0',
    'm v=4i @0',
    'm v=2i @1',
    'm v=8i @1',
    'm v=9i @2',
  ]);
  if (f === 'difference')
    fq(f, 'missing field', `|${f}(${a})`, [
      'm v=1i @0',
      'm w=4i @1',
      'm v=2i @2',
      'm v="x" @3',
      'm v=9i @4',
    ]);
  fq(f, 'strings', `|${f}(${a})`, ['m v="a" @0', 'm v="b" @1', 'm v="c" @2']);
  gr('influxql/' + f, 'grouped', `|${f}(${a})`, [
    'm,h=a,k=1 v=1i @0',
    'm,h=b,k=2 v=10i @1',
    'm,h=a,k=3 v=3i @2',
    'm,h=b,k=4 v=20i @3',
  ]);
}
fq('elapsed', 'other units', `|elapsed('v', 1m)`, ['m v=1 @0', 'm v=1 @90', 'm v=1 @210']);
fq('elapsed', 'milliseconds', `|elapsed('v', 1ms).as('ms')`, ms('m v=1 @0', 'm v=1 @0.25'));
fq('elapsed', 'backwards', `|elapsed('v', 1s)`, ['m v=1 @10', 'm v=1 @4', 'm v=1 @11']);
fq('difference', 'backwards', `|difference('v')`, ['m v=1i @10', 'm v=5i @4', 'm v=7i @11']);
fq('movingAverage', 'window of one', `|movingAverage('v', 1)`, FI);
fq('movingAverage', 'window of four floats', `|movingAverage('v', 4)`, FD);
const HW = Array.from({ length: 8 }, (_, i) => `m v=${10 + 2 * i} @${10 * i}`);
fq(
  'holtWinters',
  'linear data',
  `|window().periodCount(8).everyCount(8)|holtWinters('v', 2, 0, 10s)|eval(lambda: "holtWinters" > 25.0 AND "holtWinters" < 29.0).as('near')`,
  HW,
  { note: 'an optimiser is involved: only the range of the forecasts is compared' },
);
fq(
  'holtWinters',
  'with fit',
  `|window().periodCount(8).everyCount(8)|holtWintersWithFit('v', 2, 0, 10s)|eval(lambda: "holtWinters" > 5.0 AND "holtWinters" < 35.0).as('near')`,
  HW,
);
fq(
  'holtWinters',
  'with fit named',
  `|window().periodCount(8).everyCount(8)|holtWintersWithFit('v', 1, 0, 10s).as('f')|count('f')`,
  HW,
);
fq(
  'holtWinters',
  'empty',
  `|window().periodCount(1).everyCount(1)|holtWinters('v', 2, 0, 10s)`,
  HW.slice(0, 1),
);
const iq = (name, s, extra) =>
  def('influxql/error', name, `stream|from()${s}`, { enable: true, ...extra });
iq('no field', `|mean()`);
iq('two fields', `|mean('a', 'b')`);
iq('lambda', `|mean(lambda: "v")`);
iq('percentile int', `|percentile('v', 50)`);
iq('percentile missing', `|percentile('v')`);
iq('percentile too large', `|percentile('v', 150.0)`);
iq('top without number', `|top('v')`);
iq('top zero', `|top(0, 'v')`);
iq('elapsed without unit', `|elapsed('v')`);
iq('elapsed zero', `|elapsed('v', 0s)`);
iq('movingAverage float', `|movingAverage('v', 2.0)`);
iq('unknown function', `|variance('v')`);
iq('derivative is a node', `|derivative('v', 1s)`);
iq('as twice', `|mean('v').as('a').as('b')`);
iq('as with int', `|mean('v').as(5)`);
iq('usePointTimes with argument', `|mean('v').usePointTimes(TRUE)`);
iq('empty field name', `|mean('')`);

// ================================================================ join
const j2 = (name, props, w, extra) =>
  st(
    'node/join',
    name,
    `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\na\n    |join(b)${props}${EMIT}`,
    seq(...w),
    extra,
  );
const AB = [
  'a v=1i @0',
  'b v=10i @0',
  'a v=2i @1',
  'a v=3i @2',
  'b v=30i @2',
  'a v=4i @3',
  'b v=40i @4',
  'a v=5i @5',
  'b v=50i @5',
];
j2('inner', `.as('a', 'b')`, AB);
j2('fill none', `.as('a', 'b').fill('none')`, AB);
j2('fill null', `.as('a', 'b').fill('null')`, AB);
j2('fill int', `.as('a', 'b').fill(7)`, AB);
j2('fill float', `.as('a', 'b').fill(0.5)`, AB);
j2('stream name', `.as('a', 'b').streamName('ab')`, AB);
j2('delimiter', `.as('a', 'b').delimiter('_')`, AB);
j2('empty delimiter', `.as('a', 'b').delimiter('')`, AB.slice(0, 3));
j2('tolerance', `.as('a', 'b').tolerance(2s)`, [
  'a v=1i @0',
  'b v=10i @1',
  'a v=2i @2',
  'b v=20i @2',
  'a v=3i @5',
  'b v=30i @4',
  'a v=9i @20',
  'b v=90i @20',
  'a v=1i @30',
  'b v=1i @30',
]);
j2('name of the first present', `.as('a', 'b').fill('null')`, [
  'b v=10i @0',
  'b v=20i @1',
  'a v=1i @1',
  'b v=30i @2',
  'a v=2i @2',
]);
j2('equal times queue up', `.as('a', 'b')`, [
  'a v=1i @0',
  'a v=2i @0',
  'b v=10i @0',
  'b v=20i @0',
  'a v=3i @1',
  'b v=30i @1',
]);
j2('equal times unbalanced', `.as('a', 'b').fill('null')`, [
  'a v=1i @0',
  'a v=2i @0',
  'b v=10i @0',
  'a v=3i @1',
  'b v=30i @1',
  'a v=4i @2',
  'b v=40i @2',
]);
j2(
  'different fields',
  `.as('a', 'b').fill(0)`,
  ['a x=1i,y=2i @0', 'b z=3i @0', 'a x=5i @1', 'b z=6i @2', 'a x=7i @3', 'b z=8i @3'],
  { note: 'fill uses the field names of the first present parent' },
);
j2('late point', `.as('a', 'b')`, [
  'a v=1i @5',
  'b v=10i @5',
  'a v=2i @3',
  'b v=20i @3',
  'a v=3i @6',
  'b v=30i @6',
]);
j2('one side only', `.as('a', 'b').fill('null')`, ['a v=1i @0', 'a v=2i @1', 'a v=3i @2']);
j2('at end nothing is flushed while running', `.as('a', 'b').fill('null')`, [
  'a v=1i @0',
  'b v=2i @0',
  'a v=3i @1',
]);
j2(
  'stop flushes',
  `.as('a', 'b').fill('null')`,
  ['a v=1i @0', 'b v=2i @0', 'a v=3i @1', 'a v=4i @2'],
  { disableFirst: true, note: 'when the task is disabled the waiting sets are emitted' },
);
j2(
  'tags of the sides',
  `.as('a', 'b')`,
  ['a,h=x v=1i @0', 'b,k=y v=2i @0', 'a v=1i @1', 'b v=1i @1'],
  { note: 'ungrouped: only group tags remain' },
);
const jg = (name, script, w, extra) => st('node/join', name, script + EMIT, seq(...w), extra);
jg(
  'grouped',
  `var a = stream|from().measurement('a').groupBy('h')\nvar b = stream|from().measurement('b').groupBy('h')\na|join(b).as('a', 'b').fill('null')`,
  [
    'a,h=x,k=1 v=1i @0',
    'a,h=y v=2i @0',
    'b,h=x v=10i @0',
    'b,h=y v=20i @1',
    'a,h=y v=3i @2',
    'b,h=y v=30i @2',
    'a,h=x v=4i @2',
    'b,h=x v=4i @2',
  ],
);
jg(
  'three',
  `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\nvar c = stream|from().measurement('c')\na|join(b, c).as('a', 'b', 'c')`,
  [
    'a v=1i @0',
    'b v=2i @0',
    'c v=3i @0',
    'a v=4i @1',
    'c v=5i @1',
    'b v=6i @2',
    'a v=7i @2',
    'c v=8i @2',
    'b v=9i @3',
  ],
);
jg(
  'three with null',
  `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\nvar c = stream|from().measurement('c')\na|join(b, c).as('a', 'b', 'c').fill('null')`,
  [
    'a v=1i @0',
    'b v=2i @0',
    'c v=3i @0',
    'a v=4i @1',
    'c v=5i @1',
    'b v=6i @2',
    'a v=7i @2',
    'c v=8i @2',
    'b v=9i @3',
    'a v=1i @3',
    'c v=1i @3',
  ],
);
jg(
  'with itself',
  `var a = stream|from().measurement('a')\nvar x = a|eval(lambda: "v" + 1).as('v')\na|join(x).as('o', 'n')`,
  ['a v=1i @0', 'a v=2i @1'],
);
jg(
  'on subset',
  `var a = stream|from().measurement('a').groupBy('h')\nvar b = stream|from().measurement('b').groupBy('h', 'k')\na|join(b).as('a', 'b').on('h')`,
  [
    'a,h=x v=1i @0',
    'b,h=x,k=1 v=10i @0',
    'b,h=x,k=2 v=20i @0',
    'b,h=y,k=1 v=30i @0',
    'a,h=x v=2i @5',
    'b,h=x,k=1 v=11i @5',
  ],
);
jg(
  'on subset fill',
  `var a = stream|from().measurement('a').groupBy('h')\nvar b = stream|from().measurement('b').groupBy('h', 'k')\na|join(b).as('a', 'b').on('h').fill(0)`,
  [
    'a,h=x v=1i @0',
    'b,h=x,k=1 v=10i @0',
    'b,h=x,k=1 v=20i @2',
    'a,h=x v=2i @5',
    'b,h=x,k=1 v=11i @5',
    'a,h=x v=2i @9',
    'b,h=x,k=1 v=11i @9',
    'a,h=x v=2i @12',
    'b,h=x,k=1 v=11i @12',
  ],
);
jg(
  'on subset reversed sides',
  `var a = stream|from().measurement('a').groupBy('h', 'k')\nvar b = stream|from().measurement('b').groupBy('h')\na|join(b).as('a', 'b').on('h').streamName('j')`,
  [
    'b,h=x v=1i @0',
    'a,h=x,k=1 v=10i @0',
    'a,h=x,k=2 v=20i @0',
    'b,h=x v=2i @5',
    'a,h=x,k=1 v=11i @5',
  ],
);
jg(
  'batches',
  `var a = stream|from().measurement('a')|window().periodCount(2).everyCount(2)\nvar b = stream|from().measurement('b')|window().periodCount(2).everyCount(2)\na|join(b).as('a', 'b')`,
  [
    'a v=1i @0',
    'a v=2i @1',
    'b v=10i @0',
    'b v=20i @1',
    'a v=3i @2',
    'a v=4i @3',
    'b v=30i @2',
    'b v=40i @3',
  ],
);
jg(
  'batches with fill',
  `var a = stream|from().measurement('a')|window().periodCount(3).everyCount(3)\nvar b = stream|from().measurement('b')|window().periodCount(2).everyCount(2)\na|join(b).as('a', 'b').fill(0)`,
  [
    'a v=1i @0',
    'a v=2i @1',
    'a v=3i @2',
    'b v=10i @0',
    'b v=20i @2',
    'a v=3i @3',
    'a v=4i @4',
    'a v=5i @5',
    'b v=30i @4',
    'b v=40i @5',
  ],
);
jg(
  'batches with tolerance',
  `var a = stream|from().measurement('a')|window().periodCount(2).everyCount(2)\nvar b = stream|from().measurement('b')|window().periodCount(2).everyCount(2)\na|join(b).as('a', 'b').tolerance(2s).fill('null')`,
  [
    'a v=1i @0',
    'a v=2i @4',
    'b v=10i @1',
    'b v=20i @4',
    'a v=3i @8',
    'a v=4i @12',
    'b v=30i @9',
    'b v=40i @12',
  ],
);
jg(
  'aggregates of one window',
  `var w = stream|from().measurement('a')|window().periodCount(2).everyCount(2)\nvar x = w|max('v')\nvar y = w|min('v')\nx|join(y).as('x', 'y')|eval(lambda: "x.max" - "y.min").as('range')`,
  ['a v=1i @0', 'a v=5i @1', 'a v=9i @2', 'a v=2i @3'],
);
const jd = (name, props) =>
  def(
    'node/join',
    name,
    `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\na|join(b)${props}`,
    { enable: true },
  );
jd('no as', '');
jd('one as', `.as('a')`);
jd('three as', `.as('a', 'b', 'c')`);
jd('empty as', `.as('a', '')`);
jd('same as', `.as('a', 'a')`);
jd('as with delimiter', `.as('a.b', 'c')`);
jd('as with other delimiter', `.as('a.b', 'c').delimiter('#')`);
jd('bad fill', `.as('a', 'b').fill('previous')`);
jd('bool fill', `.as('a', 'b').fill(TRUE)`);
jd('negative tolerance', `.as('a', 'b').tolerance(-1s)`);
jd('on empty', `.as('a', 'b').on()`);
def('node/join', 'join with nothing', `stream|from()|join().as('a')`, { enable: true });
def('node/join', 'join with a string', `stream|from()|join('x').as('a', 'b')`, { enable: true });

// ================================================================ union
const un = (name, script, w, extra) => st('node/union', name, script + EMIT, seq(...w), extra);
const U2 = `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\na|union(b)`;
un('two', U2, ['a v=1i @0', 'b v=2i @1', 'a v=3i @2', 'b v=4i @3', 'a v=5i @3']);
un('rename', U2 + `.rename('ab')`, ['a v=1i @0', 'b v=2i @1', 'a v=3i @2']);
un('waits for every source', U2, ['a v=1i @0', 'a v=2i @1', 'a v=3i @2']);
un('flush at stop', U2, ['a v=1i @0', 'a v=2i @1', 'a v=3i @2'], { disableFirst: true });
un('equal times', U2, [
  'a v=1i @0',
  'b v=2i @0',
  'a v=3i @0',
  'b v=4i @0',
  'a v=5i @1',
  'b v=6i @1',
]);
un('time going back', U2, ['a v=1i @5', 'b v=2i @6', 'a v=3i @2', 'b v=4i @7', 'a v=5i @8']);
un(
  'three',
  `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\nvar c = stream|from().measurement('c')\na|union(b, c)`,
  ['a v=1i @0', 'b v=2i @1', 'c v=3i @2', 'a v=4i @3', 'b v=5i @4', 'c v=6i @5'],
);
un(
  'groups are kept',
  `var a = stream|from().measurement('a').groupBy('h')\nvar b = stream|from().measurement('b')\na|union(b)|count('v')`,
  ['a,h=x v=1i @0', 'b,h=x v=2i @0', 'a,h=x v=3i @1', 'b v=4i @1', 'a,h=x v=5i @2', 'b v=6i @2'],
);
un(
  'batches',
  `var a = stream|from().measurement('a')|window().periodCount(2).everyCount(2)\nvar b = stream|from().measurement('b')|window().periodCount(2).everyCount(2)\na|union(b).rename('u')`,
  ['a v=1i @0', 'a v=2i @1', 'b v=3i @0', 'b v=4i @2', 'a v=5i @2', 'a v=6i @3'],
);
def('node/union', 'union with itself', `var a = stream|from()\na|union(a)`, { enable: true });
def('node/union', 'empty union', `stream|from()|union()`, { enable: true });

// ================================================================ httpOut, httpPost
const ho = (name, script, w, extra) => st('node/httpOut', name, script, w, extra);
ho(
  'stream',
  `stream|from().measurement('m')|httpOut('last')`,
  one('m,h=a v=1i @0', 'm,h=b v=2i,s="x" @1'),
);
ho('no data', `stream|from().measurement('m')|httpOut('last')`, one('n v=1i @0'));
ho(
  'groups in order of creation',
  `stream|from().measurement('m').groupBy('h')|httpOut('last')`,
  one('m,h=z v=1i @0', 'm,h=a v=2i @1', 'm,h=z v=3i @2', 'm v=4i @3'),
);
ho(
  'batch',
  `stream|from().measurement('m').groupBy('h')|window().periodCount(2).everyCount(2)|httpOut('last')`,
  one(
    'm,h=a,k=1 v=1i @0',
    'm,h=a,k=2 v=2i,w=5i @1',
    'm,h=b v=3i @2',
    'm,h=a v=4i @3',
    'm,h=b v=5i @4',
  ),
);
ho(
  'empty batch',
  `stream|from().measurement('m')|window().period(2s).every(5s)|httpOut('last')`,
  one('m v=1i @0', 'm v=2i @9'),
);
ho(
  'two endpoints',
  `stream|from().measurement('m')|httpOut('first')|eval(lambda: "v" * 2).as('w')|httpOut('second')`,
  one('m v=1i @0'),
);
ho(
  'number formats',
  `stream|from().measurement('m')|httpOut('last')`,
  one(
    'm a=1,b=0.1,c=1e21,d=1e20,e=1e-6,f=1e-7,g=123456789012345678i,h=-0.0,i=100000000000000000000 @0',
  ),
);
ho(
  'string escaping',
  `stream|from().measurement('m')|httpOut('last')`,
  one(String.raw`m,t=a\ b s="q\"uo\\te <b>&'ß	x",u="" @0`),
);
ho('time formats', `stream|from().measurement('m').groupBy('h')|httpOut('last')`, [
  {
    db: 'd',
    rp: 'r',
    precision: 'n',
    lines: [
      'm,h=a v=1i 1704067200123456789',
      'm,h=b v=1i 1704067200120000000',
      'm,h=c v=1i 0',
      'm,h=d v=1i -1',
      'm,h=e v=1i 1704067200000000001',
    ],
  },
]);
ho(
  'by measurement',
  `stream|from().groupByMeasurement()|httpOut('last')`,
  one('m v=1i @0', 'n v=2i @1', 'm v=3i @2'),
);
def('node/httpOut', 'no name', `stream|from()|httpOut()`, { enable: true });

def('node/httpOut', 'endpoint with slash', `stream|from()|httpOut('a/b')`, { enable: true });
const hp = (name, chain, w, extra) =>
  st('node/httpPost', name, `stream|from().measurement('m')${chain}`, w, extra);
hp(
  'headers',
  `|httpPost('{{SINK}}/echo/h').header('X-One', '1').header('x-two', 'b c')`,
  one('m,h=a v=1i @0'),
);
hp(
  'header repeated',
  `|httpPost('{{SINK}}/echo/h').header('X-One', '1').header('X-One', '2')`,
  one('m v=1i @0'),
);
hp(
  'content type header',
  `|httpPost('{{SINK}}/echo/h').header('Content-Type', 'text/x')`,
  one('m v=1i @0'),
);
hp(
  'batch body',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|httpPost('{{SINK}}/echo/h')`,
  one('m,h=a,k=1 v=1i @0', 'm,h=a v=2i @1'),
);
hp(
  'data passes on',
  `|httpPost('{{SINK}}/emit/one')|eval(lambda: "v" + 1).as('w')|httpPost('{{SINK}}/emit/two')`,
  one('m v=1i @0', 'm v=2i @1'),
);
hp(
  'failure passes on',
  `|httpPost('{{SINK}}/status/500/broken')|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0'),
);
hp(
  'failure with captureResponse',
  `|httpPost('{{SINK}}/status/500/broken').captureResponse()|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0'),
);
hp(
  'codeField',
  `|httpPost('{{SINK}}/status/404/x').codeField('code')|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0'),
);
hp(
  'codeField ok',
  `|httpPost('{{SINK}}/status/201/x').codeField('code')|httpPost('{{SINK}}/emit')`,
  one('m v=1i,code="old" @0'),
);
hp(
  'codeField batch',
  `|window().periodCount(2).everyCount(2)|httpPost('{{SINK}}/status/202/x').codeField('code')|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0', 'm v=2i @1'),
);
hp(
  'connection refused',
  `|httpPost('http://127.0.0.1:9/x').codeField('code')|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0'),
);
hp(
  'empty batch',
  `|window().period(2s).every(5s)|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0', 'm v=2i @9'),
);
const hd = (name, s) => def('node/httpPost', name, `stream|from()${s}`, { enable: true });
hd('no url', `|httpPost()`);
hd('two urls', `|httpPost('http://a/', 'http://b/')`);
hd('unknown endpoint', `|httpPost().endpoint('nope')`);
hd('url and endpoint', `|httpPost('http://a/').endpoint('x')`);
hd('authenticate header', `|httpPost('http://a/').header('authenticate', 'x')`);
hd('header with one argument', `|httpPost('http://a/').header('x')`);
hd('two endpoints', `|httpPost().endpoint('a').endpoint('b')`);
hd('timeout int', `|httpPost('http://a/').timeout(5)`);

// ================================================================ influxDBOut, kapacitorLoopback
const io = (name, chain, w, extra) =>
  st('node/influxDBOut', name, `stream|from().measurement('m')${chain}`, w, {
    disableFirst: true,
    ...extra,
  });
io('defaults', `|influxDBOut()`, one('m,h=a v=1i,f=1.5,s="x y",b=true @0', 'm v=2i @1'));
io(
  'database and rp',
  `|influxDBOut().database('out').retentionPolicy('keep').measurement('res')`,
  one('m,h=a v=1i @0'),
);
io('tags', `|influxDBOut().database('out').tag('k', 'z z').tag('h', 'over')`, one('m,h=a v=1i @0'));
io('precision s', `|influxDBOut().database('out').precision('s')`, one('m v=1i @0'));
io('precision ms', `|influxDBOut().database('out').precision('ms')`, ms('m v=1i @0.25'));
io('consistency', `|influxDBOut().database('out').writeConsistency('all')`, one('m v=1i @0'));
io(
  'buffer of one',
  `|influxDBOut().database('out').buffer(1)`,
  one('m v=1i @0', 'm v=2i @1', 'm v=3i @2'),
  { disableFirst: undefined },
);
io(
  'buffer of two',
  `|influxDBOut().database('out').buffer(2)`,
  one('m v=1i @0', 'm v=2i @1', 'm v=3i @2'),
);
io(
  'flush interval',
  `|influxDBOut().database('out').flushInterval(100ms)`,
  one('m v=1i @0', 'm v=2i @1'),
  { disableFirst: undefined, waitMs: 400 },
);
io('create', `|influxDBOut().database('out').retentionPolicy('keep').create()`, one('m v=1i @0'));
io('create without rp', `|influxDBOut().database('out db').create()`, one('m v=1i @0'));
io(
  'batch',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|influxDBOut().database('out').retentionPolicy('rr')`,
  one('m,h=a,k=1 v=1i @0', 'm,h=a v=2i,w=1 @1'),
);
io(
  'aggregate',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|mean('v').as('avg')|influxDBOut().database('out').retentionPolicy('rr').measurement('avgs').tag('src', 'task')`,
  one('m,h=a,k=1 v=1i @0', 'm,h=a v=2i @1'),
);
io(
  'escaping',
  `|influxDBOut().database('out')`,
  one(String.raw`m,h=a\,b\ c\=d v=1i,s="q\"r\\s",my\ f=2 @0`),
);
io(
  'measurement with space',
  `|influxDBOut().database('out').measurement('a b,c')`,
  one('m v=1i @0'),
);
io(
  'float formats',
  `|influxDBOut().database('out')`,
  one('m a=1,b=1e21,c=1e-7,d=0.1,e=123456789.5,f=-0.0 @0'),
);
io(
  'computed types',
  `|eval(lambda: "v" / 2, lambda: float("v") / 2.0, lambda: "v" > 1, lambda: string("v"), lambda: duration("v", 1s)).as('i', 'f', 'b', 's', 'd')|influxDBOut().database('out')`,
  one('m v=5i @0'),
);
io('two outputs', `\n|influxDBOut().database('one')`, one('m v=1i @0'));
io(
  'empty measurement keeps name',
  `|influxDBOut().database('out').measurement('')`,
  one('m v=1i @0'),
);
const idf = (name, s) => def('node/influxDBOut', name, `stream|from()${s}`, { enable: true });
idf('unknown cluster', `|influxDBOut().cluster('nope').database('x')`);
idf('bad precision', `|influxDBOut().database('x').precision('fortnight')`);
idf('tag not string', `|influxDBOut().tag('a', 1)`);
idf('buffer string', `|influxDBOut().buffer('x')`);
idf('create with argument', `|influxDBOut().create(TRUE)`);
idf('negative buffer', `|influxDBOut().buffer(-1)`);
const second = (script, extra) => ({
  extraTasks: [{ id: 'oracle-second', script, dbrps: [{ db: 'd2', rp: 'r2' }], ...extra }],
});
const lb = (name, chain, w, extra) =>
  st('node/kapacitorLoopback', name, `stream|from().measurement('m')${chain}`, w, {
    ...second(`stream|from()|httpPost('{{SINK}}/emit/second')`),
    ...extra,
  });
lb(
  'into another task',
  `|kapacitorLoopback().database('d2').retentionPolicy('r2')`,
  one('m,h=a v=1i,s="x" @0', 'm v=2i @1'),
);
lb(
  'measurement and tag',
  `|kapacitorLoopback().database('d2').retentionPolicy('r2').measurement('looped').tag('k', 'z').tag('h', 'over')`,
  one('m,h=a v=1i @0'),
);
lb(
  'batch',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|kapacitorLoopback().database('d2').retentionPolicy('r2')`,
  one('m,h=a,k=1 v=1i @0', 'm,h=a v=2i @1'),
);
const ld = (name, s) => def('node/kapacitorLoopback', name, `stream|from()${s}`, { enable: true });
ld('no database', `|kapacitorLoopback().retentionPolicy('r')`);
ld('no retention policy', `|kapacitorLoopback().database('x')`);
ld('loop', `|kapacitorLoopback().database('d').retentionPolicy('r')`);
ld('nothing', `|kapacitorLoopback()`);

// ================================================================ sideload, log, noOp, stats, barrier, deadman
const SF = {
  'host/a.yml': 'limit: 5\nname: alpha\nflag: true\nratio: 2.5\n',
  'host/b.yml': 'limit: 7.0\nname: 12\n',
  'default.yml': 'limit: 1\nname: none\nflag: false\nratio: 1\nonly: here\n',
  'j/x.json': '{"limit": 9, "name": "json"}',
};
const sl = (name, chain, lines, extra) =>
  ch('node/sideload', name, chain, lines, { files: SF, ...extra });
sl(
  'reload',
  `|sideload().source('{{FILES}}').order('default.yml').field('limit', 0)`,
  [
    { db: 'd', rp: 'r', precision: 's', lines: [at('m v=1i @0')] },
    { setFile: ['default.yml', 'limit: 77\n'] },
    { db: 'd', rp: 'r', precision: 's', lines: [at('m v=2i @1')] },
    { request: { method: 'POST', path: '{{BASE}}/sideload/reload' } },
    { sleepMs: 150 },
    { db: 'd', rp: 'r', precision: 's', lines: [at('m v=3i @2')] },
  ],
  { note: 'values change only after a reload' },
);
sl(
  'field with order',
  `|sideload().source('{{FILES}}').order('host/{{.h}}.yml', 'default.yml').field('limit', 0)`,
  ['m,h=a v=1i @0', 'm,h=b v=1i @1', 'm,h=c v=1i @2', 'm v=1i @3'],
);
sl(
  'tag',
  `|sideload().source('{{FILES}}').order('host/{{.h}}.yml', 'default.yml').tag('name', 'zz')`,
  ['m,h=a v=1i @0', 'm,h=b v=1i @1', 'm,h=c v=1i @2'],
);
sl(
  'all types',
  `|sideload().source('{{FILES}}').order('host/{{.h}}.yml', 'default.yml').field('limit', 0).field('name', 'x').field('flag', FALSE).field('ratio', 0.0)`,
  ['m,h=a v=1i @0', 'm,h=c v=1i @1'],
);
sl(
  'conversion',
  `|sideload().source('{{FILES}}').order('host/{{.h}}.yml').field('limit', 0.5).field('name', 'q')`,
  ['m,h=a v=1i @0', 'm,h=b v=1i @1'],
);
sl('bad conversion', `|sideload().source('{{FILES}}').order('host/{{.h}}.yml').field('name', 3)`, [
  'm,h=a v=1i @0',
  'm,h=b v=1i @1',
]);
sl(
  'default when absent',
  `|sideload().source('{{FILES}}').order('nope/{{.h}}.yml').field('limit', 42).tag('t', 'dflt')`,
  ['m,h=a v=1i @0'],
);
sl(
  'key in later file',
  `|sideload().source('{{FILES}}').order('host/{{.h}}.yml', 'default.yml').field('only', 'no')`,
  ['m,h=a v=1i @0'],
);
sl(
  'json file',
  `|sideload().source('{{FILES}}').order('j/x.json').field('limit', 0).field('name', '')`,
  ['m v=1i @0'],
);
sl(
  'existing field is replaced',
  `|sideload().source('{{FILES}}').order('default.yml').field('limit', 0).tag('name', '')`,
  ['m,name=mine limit=99i @0'],
);
sl(
  'batch',
  `|groupBy('h')|window().periodCount(2).everyCount(2)|sideload().source('{{FILES}}').order('host/{{.h}}.yml').field('limit', 0).tag('name', 'x')`,
  ['m,h=a v=1i @0', 'm,h=a v=2i @1'],
);
const sd = (name, s, extra) =>
  def('node/sideload', name, `stream|from()${s}`, { enable: true, ...extra });
sd('no source', `|sideload().order('a').field('x', 1)`);
sd('no order', `|sideload().source('{{FILES}}').field('x', 1)`, { files: SF });
sd('no fields', `|sideload().source('{{FILES}}').order('a')`, { files: SF });
sd('bad template', `|sideload().source('{{FILES}}').order('{{.a').field('x', 1)`, { files: SF });
sd('absent directory', `|sideload().source('file:///does/not/exist').order('a').field('x', 1)`);
sd('duration default', `|sideload().source('{{FILES}}').order('a').field('x', 1s)`, { files: SF });
nn('log')('passes data', `|log()`, ['m v=1i @0']);
nn('log')('properties', `|log().level('WARN').prefix('p')`, ['m v=1i @0']);
nn('log')(
  'batch',
  `|window().periodCount(2).everyCount(2)|log().level('ERROR')`,
  ['m v=1i @0', 'm v=2i @1'],
  { note: 'writes to the service log' },
);
dn('log')('bad level', `|log().level('LOUD')`);
const WALL = { wall: true };
st(
  'node/stats',
  'counter of a node',
  `var f = stream|from().measurement('m')\nf|log()\nf|stats(100ms)|changeDetect('emitted')|where(lambda: "emitted" == 3)${EMIT}`,
  one('m v=1i @0', 'm v=2i @1', 'm v=3i @2'),
  { ...WALL, waitMs: 500 },
);
st(
  'node/stats',
  'per group',
  `var f = stream|from().measurement('m').groupBy('h')\nf|log()\nf|stats(100ms)|changeDetect('emitted')|where(lambda: "emitted" == 2)${EMIT}`,
  one('m,h=a v=1i @0', 'm,h=b v=2i @1', 'm,h=a v=3i @2'),
  { ...WALL, waitMs: 500 },
);
st(
  'node/stats',
  'node without child',
  `stream|from().measurement('m')|stats(100ms)|changeDetect('emitted')|where(lambda: "emitted" == 2)${EMIT}`,
  one('m v=1i @0', 'm v=2i @1'),
  { ...WALL, waitMs: 500, note: 'a node without child gets one so that its output is counted' },
);
st(
  'node/stats',
  'aligned',
  `stream|from().measurement('m')|stats(200ms).align()|eval(lambda: unixNano("time") % 200000000, lambda: "emitted").as('rest', 'e')|changeDetect('e')|where(lambda: "e" == 1)${EMIT}`,
  one('m v=1i @0'),
  { ...WALL, waitMs: 700 },
);
def('node/stats', 'no interval', `stream|from()|stats()`, { enable: true });
const dm = (name, chain, w, extra) =>
  st(
    'node/deadman',
    name,
    `stream|from().measurement('m')${chain}\n    .details('')\n    .stateChangesOnly()\n    .post('{{SINK}}/alert')`,
    w,
    { ...WALL, ...extra },
  );
dm('no data', `|deadman(0.0, 500ms)`, one('n v=1i @0'), {
  waitMs: 1800,
  note: 'the second statistics point gives the event',
});
dm(
  'own id and message',
  `|deadman(0.0, 500ms).id('dead').message('{{ .ID }} {{ .Level }}')`,
  one('n v=1i @0'),
  { waitMs: 1800 },
);
dm('extra condition false', `|deadman(0.0, 500ms, lambda: FALSE)`, one('n v=1i @0'), {
  waitMs: 1300,
});
dm(
  'other levels may be added',
  `|deadman(-1.0, 500ms).info(lambda: "emitted" < 5.0)`,
  one('n v=1i @0'),
  { waitMs: 1800 },
);
def('node/deadman', 'int threshold', `stream|from()|deadman(0, 10s)`, { enable: true });
def('node/deadman', 'no interval', `stream|from()|deadman(0.0)`, { enable: true });
add({
  group: 'node/deadman',
  name: 'nodes of the macro',
  type: 'dot',
  script: `stream|from().measurement('m')|deadman(1.0, 10s)`,
});
add({
  group: 'node/deadman',
  name: 'nodes of the macro behind a window',
  type: 'dot',
  script: `stream|from().measurement('m')|window().period(10s).every(10s)|mean('v')|deadman(1.0, 10s)`,
});
gr(
  'node/barrier',
  'idle closes the window',
  `|barrier().idle(700ms)|window().period(10s).every(10s)|count('v')`,
  ['m,h=a v=1i @0', 'm,h=a v=2i @9'].concat([]),
  { waitMs: 10, note: 'not yet idle' },
);
gr(
  'node/barrier',
  'idle of a second after the last point',
  `|barrier().idle(1s)|window().period(10s).every(10s)|count('v')`,
  ['m,h=a v=1i @0', 'm,h=a v=2i @9'],
  { waitMs: 1500 },
);
gr(
  'node/barrier',
  'old points are dropped',
  `|barrier().idle(1s)`,
  [
    ...seq('m,h=a v=1i @0'),
    { sleepMs: 1400 },
    ...seq('m,h=a v=2i @0', 'm,h=a v=3i @1', 'm,h=a v=4i @2', 'm,h=b v=5i @0'),
  ],
  { note: 'points before the barrier time (last point + idle) are lost' },
);
gr(
  'node/barrier',
  'delete forgets state',
  `|barrier().idle(1s).delete(TRUE)|eval(lambda: count()).as('c')`,
  [...seq('m,h=a v=1i @0', 'm,h=a v=1i @1'), { sleepMs: 1400 }, ...seq('m,h=a v=2i @10')],
);
gr(
  'node/barrier',
  'without delete state is kept',
  `|barrier().idle(1s)|eval(lambda: count()).as('c')`,
  [...seq('m,h=a v=1i @0', 'm,h=a v=1i @1'), { sleepMs: 1400 }, ...seq('m,h=a v=2i @10')],
);
gr(
  'node/barrier',
  'period',
  `|barrier().period(500ms)|window().period(10s).every(10s)|count('v')`,
  ['m,h=a v=1i @0', 'm,h=a v=2i @9'],
  { waitMs: 900, note: 'the barrier time is the wall clock' },
);
dn('barrier')('idle and period', `|barrier().idle(1s).period(1s)`);
dn('barrier')('nothing', `|barrier()`);
dn('barrier')('zero idle', `|barrier().idle(0s)`);
dn('barrier')('negative period', `|barrier().period(-1s)`);
dn('barrier')('delete int', `|barrier().idle(1s).delete(1)`);

// ================================================================ alert node
// al(group, name, properties, lines): alert on stream|from().measurement('m') posting every event to the sink
const alN = (group, name, by, props, w, extra = {}) =>
  st(
    'alert/' + group,
    name,
    `stream\n    |from()\n        .measurement('m')${by}\n    |alert()\n        .id('i')\n        .message('{{ .Level }}')\n        .details('')${props}\n        .post('{{SINK}}/alert')`,
    typeof w[0] === 'object' ? w : one(...w),
    extra,
  );
const al = (group, name, props, w, extra) => alN(group, name, '', props, w, extra);
const LV = '.info(lambda: "v" > 1).warn(lambda: "v" > 2).crit(lambda: "v" > 3)';
const P = (...vs) => vs.map((v, i) => `m v=${v}i @${i}`);
al('level', 'all levels up and down', LV, P(0, 2, 3, 4, 3, 2, 1, 1));
al('level', 'stay', LV, P(4, 4, 4, 0, 0, 4));
al('level', 'only crit', '.crit(lambda: "v" > 3)', P(0, 4, 5, 1));
al('level', 'only info', '.info(lambda: TRUE)', P(0, 4));
al('level', 'no level', '', P(0, 4));
al(
  'level',
  'warn matches but crit does not exist',
  '.info(lambda: "v" > 1).warn(lambda: "v" > 2)',
  P(3, 2, 5, 0),
);
al(
  'level',
  'gap between levels',
  '.info(lambda: "v" == 1).crit(lambda: "v" == 3)',
  P(1, 3, 1, 0, 3, 0),
);
al(
  'level',
  'error in crit, warn matches',
  '.warn(lambda: "v" > 0).crit(lambda: "nope" > 1)',
  P(1, 0),
);
al('level', 'missing field', '.crit(lambda: "v" > 0)', ['m v=1i @0', 'm w=1i @1', 'm v=0i @2']);
al('level', 'wrong type of result', '.crit(lambda: "v")', P(1));
al('level', 'string comparison', `.crit(lambda: "s" == 'bad')`, ['m s="bad" @0', 'm s="good" @1']);
al('level', 'tag in predicate', `.crit(lambda: "h" =~ /^x/)`, ['m,h=x1 v=1i @0', 'm,h=y v=1i @1']);
al('level', 'count in predicate', '.crit(lambda: count() > 2)', P(1, 1, 1, 1), {
  note: 'the predicate of the present level may be evaluated twice',
});
al('level', 'sigma in predicate', '.crit(lambda: sigma("f") > 1.5)', [
  'm f=1 @0',
  'm f=1 @1',
  'm f=1 @2',
  'm f=1 @3',
  'm f=10 @4',
  'm f=1 @5',
]);
alN(
  'level',
  'groups',
  `.groupBy('h')`,
  LV,
  ['m,h=a v=4i @0', 'm,h=b v=2i @0', 'm,h=a v=0i @1', 'm,h=b v=4i @1'],
  { note: 'one event id for both groups: previousLevel is kept per id' },
);
al('reset', 'crit reset', LV + '.critReset(lambda: "v" < 1)', P(4, 2, 3, 0, 2));
al(
  'reset',
  'every reset',
  LV + '.infoReset(lambda: "v" < 1).warnReset(lambda: "v" < 1).critReset(lambda: "v" < 1)',
  P(4, 3, 2, 1, 0, 2, 1, 3, 1, 0),
);
al('reset', 'reset true at once', '.warn(lambda: "v" > 2).warnReset(lambda: TRUE)', P(3, 2, 3));
al('reset', 'reset without level', '.crit(lambda: "v" > 3).warnReset(lambda: FALSE)', P(4, 2, 0));
al('reset', 'higher level wins over reset', LV + '.infoReset(lambda: FALSE)', P(2, 1, 4, 1, 0));
al('reset', 'error in reset', '.warn(lambda: "v" > 2).warnReset(lambda: "nope" > 1)', P(3, 1, 3));
al('stateChanges', 'only changes', LV + '.stateChangesOnly()', P(0, 2, 2, 4, 4, 2, 0, 0));
al(
  'stateChanges',
  'with interval',
  LV + '.stateChangesOnly(3s)',
  P(4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0),
  { note: 'OK is not repeated' },
);
al('stateChanges', 'interval longer', LV + '.stateChangesOnly(10s)', [
  'm v=4i @0',
  'm v=4i @5',
  'm v=4i @10',
  'm v=4i @19',
  'm v=4i @21',
  'm v=0i @22',
]);
alN(
  'stateChanges',
  'per group',
  `.groupBy('h')`,
  LV + `.id('{{ index .Tags "h" }}').stateChangesOnly()`,
  ['m,h=a v=4i @0', 'm,h=b v=4i @0', 'm,h=a v=4i @1', 'm,h=b v=0i @1', 'm,h=a v=0i @2'],
);
al('noRecoveries', 'stream', LV + '.noRecoveries()', P(4, 0, 0, 4, 2, 0));
al(
  'noRecoveries',
  'with changes only',
  LV + '.noRecoveries().stateChangesOnly()',
  P(4, 4, 0, 4, 0),
);
al(
  'history',
  'flapping suppresses',
  '.crit(lambda: "v" == 1).flapping(0.25, 0.5).history(5)',
  P(1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1),
);
al(
  'history',
  'flapping with default history',
  '.crit(lambda: "v" == 1).flapping(0.1, 0.3)',
  P(1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0),
);
al(
  'history',
  'history of two',
  '.crit(lambda: "v" == 1).history(2).stateChangesOnly()',
  P(1, 0, 1, 1, 0),
);
al(
  'history',
  'history of one',
  '.crit(lambda: "v" == 1).history(1).stateChangesOnly()',
  P(1, 0, 1, 1, 0),
  { note: 'at least 2 is used' },
);
al('duration', 'grows until recovery', '.crit(lambda: "v" == 1)', [
  'm v=1i @0',
  'm v=1i @10',
  'm v=0i @70',
  'm v=1i @80',
  'm v=0i @81',
]);
al('duration', 'time going back', '.crit(lambda: "v" == 1)', [
  'm v=1i @10',
  'm v=1i @4',
  'm v=0i @5',
]);
const be = (name, props, lines, extra) =>
  alN('batch', name, `\n    |window().periodCount(3).everyCount(3)`, props, lines, extra);
be('highest level', LV, P(0, 4, 2, 0, 0, 0, 2, 3, 0));
be('all', LV + '.all()', P(4, 4, 2, 3, 2, 3, 4, 4, 4, 0, 4, 4));
be('recovery takes the batch time', LV, P(4, 0, 0, 0, 0, 0));
be('empty batch', LV, []);
alN(
  'batch',
  'grouped',
  `.groupBy('h')\n    |window().periodCount(2).everyCount(2)`,
  LV + `.id('{{ .Group }}')`,
  ['m,h=a,k=1 v=4i @0', 'm,h=b v=0i @1', 'm,h=a,k=2 v=0i @2', 'm,h=b v=2i @3'],
);
alN(
  'batch',
  'empty windows are ignored',
  `\n    |window().period(2s).every(5s)`,
  '.crit(lambda: "v" == 1)',
  ['m v=1i @0', 'm v=1i @4', 'm v=1i @6', 'm v=0i @14', 'm v=0i @21'],
);
st(
  'alert/batch',
  'fields of the deciding point',
  `stream|from().measurement('m').groupBy('h')|window().periodCount(3).everyCount(3)|alert().id('{{ .Group }}').message('{{ .Level }} {{ index .Fields "v" }} {{ .Time }}').details('{{ index .Tags "h" }}').crit(lambda: "v" > 3).post('{{SINK}}/alert')`,
  one('m,h=a v=1i @0', 'm,h=a v=5i @1', 'm,h=a v=9i @2'),
);
const tpl = (name, props, w, extra = {}) =>
  st(
    'alert/template',
    name,
    `stream\n    |from()\n        .measurement('m')\n        .groupBy('h')\n    |alert()\n        .crit(lambda: "v" > 3)${props}\n        .post('{{SINK}}/alert')`,
    one(...w),
    extra,
  );
const TP = ['m,h=a,k=x&y v=4i,f=1000000,s="q<1>" @1', 'm,h=a v=0i,f=0.5 @61'];
tpl('default id and message', `.details('')`, TP);
tpl('default details', ``, TP.slice(0, 1));
tpl(
  'fields of the id',
  `.details('').id('{{ .Name }}|{{ .TaskName }}|{{ .Group }}|{{ index .Tags "h" }}|{{ .Tags.h }}|{{ .ServerInfo.Hostname }}')`,
  TP.slice(0, 1),
  { note: 'the host name is a setting of the server' },
);
tpl(
  'fields of the message',
  `.details('').id('x').message('{{ .ID }}|{{ .Name }}|{{ .TaskName }}|{{ .Group }}|{{ .Tags }}|{{ .Fields }}|{{ .Level }}|{{ .Time }}|{{ .Duration }}')`,
  TP,
);
tpl(
  'fields of the details',
  `.id('x').message('m <1>').details('{{ .ID }}|{{ .Message }}|{{ index .Fields "s" }}|{{ .Level }}|{{ .Time }}|{{ .Duration }}|{{ .Tags }}')`,
  TP,
);
tpl(
  'details html',
  `.id('x').message('a"b').details('<b id="{{ .Message }}">{{ .Message }}</b> {{ index .Tags "k" }}')`,
  TP.slice(0, 1),
);
tpl('details json', `.id('x').message('m').details('{{ json .Tags }}')`, TP.slice(0, 1));
tpl(
  'missing tag and field',
  `.details('').id('x').message('{{ index .Tags "zz" }}|{{ .Tags.zz }}|{{ index .Fields "zz" }}|{{ .Fields.zz }}')`,
  TP.slice(0, 1),
);
tpl(
  'conditions',
  `.details('').id('x').message('{{ if eq .Level "OK" }}fine{{ else if eq .Level "CRITICAL" }}broken{{ else }}?{{ end }}')`,
  TP,
);
tpl(
  'comparison of fields',
  `.details('').id('x').message('{{ if gt (index .Fields "v") 3 }}high{{ end }}{{ if lt (index .Fields "f") 1.0 }}low{{ end }}')`,
  TP,
);
tpl(
  'range and variables',
  `.details('').id('x').message('{{ range $k, $v := .Tags }}{{ $k }}={{ $v }};{{ end }}{{ $l := .Level }}{{ $l | printf "%q" }}')`,
  TP.slice(0, 1),
);
tpl(
  'printf',
  `.details('').id('x').message('{{ printf "%0.3f|%d|%s|%v|%5d|%-5d|%x" (index .Fields "f") (index .Fields "v") .Level .Tags (index .Fields "v") (index .Fields "v") 255 }}')`,
  TP.slice(0, 1),
);
tpl(
  'pipes',
  `.details('').id('x').message('{{ index .Fields "f" | printf "%0.2f" }} {{ .Level | len }} {{ .Name | html }} {{ "a b&c" | urlquery }} {{ "<x>" | js }}')`,
  TP.slice(0, 1),
);
tpl(
  'logic functions',
  `.details('').id('x').message('{{ and true false }} {{ or 0 "z" }} {{ not true }} {{ ne 1 2 }} {{ le 2 2 }} {{ ge 1 2 }} {{ len .Tags }} {{ print 1 2 "a" "b" 3 }} {{ println "x" }}')`,
  TP.slice(0, 1),
);
tpl(
  'time methods',
  `.details('').id('x').message('{{ .Time.Unix }} {{ .Time.Year }} {{ .Time.Format "2006-01-02T15:04" }} {{ .Duration.Seconds }}')`,
  TP,
);
tpl(
  'trim markers and comments',
  `.details('').id('x').message('a {{- /* no */ -}} b {{- .Level -}} c')`,
  TP.slice(0, 1),
);
tpl(
  'with and else',
  `.details('').id('x').message('{{ with index .Tags "h" }}[{{ . }}]{{ end }}{{ with index .Tags "q" }}x{{ else }}none{{ end }}')`,
  TP.slice(0, 1),
);
tpl(
  'braces in text',
  `.details('').id('x').message('{ "a": {{ index .Fields "v" }} } {{"{{"}}')`,
  TP.slice(0, 1),
);
tpl(
  'triple quoted',
  `.id('x').message('''it's {{ .Level }}''').details('''<p>{{ .ID }}</p>''')`,
  TP.slice(0, 1),
);
tpl('error in message', `.details('').id('x').message('{{ .Nope }}')`, TP.slice(0, 1));
tpl('error in id', `.details('').id('{{ .Level }}').message('m')`, TP.slice(0, 1));
tpl('error in details', `.id('x').message('m').details('{{ .Nope }}')`, TP.slice(0, 1));
tpl(
  'int compared with float',
  `.details('').id('x').message('{{ if gt (index .Fields "v") 3.0 }}high{{ end }}')`,
  TP.slice(0, 1),
);
const ad = (name, s, extra) =>
  def('alert/error', name, `stream|from()|alert()${s}`, { enable: true, ...extra });
ad('bad id template', `.id('{{ .Name')`);
ad('bad message template', `.message('{{ if }}')`);
ad('bad details template', `.details('{{ nofunc . }}')`);
ad('unknown function in id', `.id('{{ json . }}')`);
ad('flapping above one', `.flapping(0.5, 1.5)`);
ad('flapping ints', `.flapping(0, 1)`);
ad('crit not lambda', `.crit('x')`);
ad('crit type error', `.crit(lambda: 'a' + 1 > 2)`);
ad('crit constant', `.crit(lambda: 5)`);
ad('log relative path', `.log('x.log')`);
ad('post without url', `.post()`);
ad('post unknown endpoint', `.post().endpoint('nope')`);
ad('post two urls', `.post('http://a/', 'http://b/')`);
ad('topic int', `.topic(5)`);
ad('bad topic', `.topic('a b')`);
ad('unknown property', `.nothing(1)`);
ad('mode without log', `.mode(0644)`);
ad('bad mode', `.log('/tmp/oracle-x.log').mode(0044)`);
ad('email without config', `.email('a@b.example')`);
ad('slack disabled', `.slack().channel('#x')`);
ad('unknown handler', `.carrier()`);
ad('two handlers', `.log('/tmp/oracle-x.log').post('http://127.0.0.1:9/')`);
ad('history zero', `.history(0)`);
ad('stateChangesOnly string', `.stateChangesOnly('5m')`);
ad('inhibit without category', `.inhibit()`);
ad('inhibit only category', `.inhibit('c')`);
ad('exec', `.exec('/bin/true', 'a')`);
ad('tcp without address', `.tcp()`);
ad('tcp', `.tcp('127.0.0.1:9')`);
ad('snmp without oid', `.snmpTrap('')`);
ad('alerta', `.alerta().resource('{{ .x')`);
ad('victorOps', `.victorOps().routingKey('k')`);
ad('pagerDuty', `.pagerDuty()`);
ad('opsGenie2 bad recovery', `.opsGenie2().recoveryAction('x')`);
const ag = (name, props, w, extra = {}) =>
  st(
    'alert/output',
    name,
    `stream\n    |from()\n        .measurement('m')\n        .groupBy('h')\n    |alert()\n        .id('i-{{ .Group }}')\n        .message('msg {{ .Level }}')\n        .details('')\n        .warn(lambda: "v" > 2)${props}\n    |httpPost('{{SINK}}/emit')`,
    one(...w),
    extra,
  );
const AO = [
  'm,h=a,k=1 v=0i @0',
  'm,h=a v=3i @1',
  'm,h=a v=4i @2',
  'm,h=a v=0i @5',
  'm,h=a v=0i @6',
];
ag('nothing added', ``, AO, { note: 'only points which made an event pass' });
ag('levelTag', `.levelTag('lvl')`, AO);
ag('levelField', `.levelField('lvl')`, AO);
ag('messageField', `.messageField('msg')`, AO);
ag('durationField', `.durationField('dur')`, AO);
ag('idTag', `.idTag('aid')`, AO);
ag('idField', `.idField('aid')`, AO);
ag(
  'all of them',
  `.levelTag('lt').levelField('lf').messageField('mf').durationField('df').idTag('it').idField('if')`,
  AO,
);
ag('field is overwritten', `.levelField('v')`, AO);
ag('tag is overwritten', `.levelTag('k')`, AO);
ag('group tag as levelTag', `.levelTag('h')`, AO.slice(0, 2));
ag('state changes only', `.stateChangesOnly()`, AO);
ag('no recoveries', `.noRecoveries()`, AO);
st(
  'alert/output',
  'batch',
  `stream|from().measurement('m').groupBy('h')|window().periodCount(2).everyCount(2)|alert().id('i').message('x {{ .Level }}').details('').warn(lambda: "v" > 2).levelTag('lt').levelField('lf').messageField('mf').durationField('df').idTag('it').idField('if')|httpPost('{{SINK}}/emit')`,
  one(
    'm,h=a v=1i @0',
    'm,h=a v=3i @1',
    'm,h=a v=4i @2',
    'm,h=a v=4i @3',
    'm,h=a v=0i @4',
    'm,h=a v=0i @5',
  ),
);
st(
  'alert/output',
  'post payload of numbers and tags',
  `stream|from().measurement('m')|alert().id('i').message('<&>').details('').info(lambda: TRUE).post('{{SINK}}/alert')`,
  one('m,h=a,k=b i=9007199254740993i,f=2,g=1e21,s="a\\"b<c>",b=true @0'),
);
st(
  'alert/output',
  'post headers',
  `stream|from().measurement('m')|alert().id('i').message('m').details('').info(lambda: TRUE).post('{{SINK}}/echo/a').header('X-Key', 'v1').header('x-b', '2')`,
  one('m v=1i @0'),
);
st(
  'alert/output',
  'two posts',
  `stream|from().measurement('m')|alert().id('i').message('m').details('').info(lambda: TRUE).post('{{SINK}}/alert/one').post('{{SINK}}/alert/two')`,
  one('m v=1i @0'),
);
st(
  'alert/output',
  'post failure',
  `stream|from().measurement('m')|alert().id('i').message('m').details('').info(lambda: TRUE).post('{{SINK}}/status/500/no').captureResponse()|httpPost('{{SINK}}/emit')`,
  one('m v=1i @0', 'm v=2i @1'),
);
st(
  'alert/output',
  'chain of two alerts',
  `stream|from().measurement('m')|alert().id('first').message('m').details('').info(lambda: "v" > 1).levelField('lvl').post('{{SINK}}/alert/one')|alert().id('second').message('{{ index .Fields "lvl" }}').details('').crit(lambda: "v" > 2).post('{{SINK}}/alert/two')`,
  one('m v=1i @0', 'm v=2i @1', 'm v=3i @2', 'm v=0i @3'),
);
const inh = (name, a, b, w, extra = {}) =>
  st(
    'alert/inhibit',
    name,
    `var a = stream|from().measurement('top').groupBy('dc')\n    |alert().id('top-{{ index .Tags "dc" }}').message('{{ .Level }}').details('').crit(lambda: "v" > 0)${a}.post('{{SINK}}/alert/a')\nvar b = stream|from().measurement('sub').groupBy('dc', 'h')\n    |alert().id('sub-{{ index .Tags "h" }}').message('{{ .Level }}').details('').crit(lambda: "v" > 0)${b}.post('{{SINK}}/alert/b')`,
    seq(...w),
    extra,
  );
const IW = [
  'top,dc=e v=1i @0',
  'sub,dc=e,h=1 v=1i @1',
  'sub,dc=f,h=2 v=1i @1',
  'top,dc=e v=0i @2',
  'sub,dc=e,h=1 v=1i @3',
  'sub,dc=e,h=1 v=0i @4',
];
inh('by tag', `.inhibit('c', 'dc')`, `.category('c')`, IW);
inh('without tags', `.inhibit('c')`, `.category('c')`, IW);
inh('other category', `.inhibit('d', 'dc')`, `.category('c')`, IW);
inh('recovery inhibited', `.inhibit('c', 'dc')`, `.category('c')`, [
  'sub,dc=e,h=1 v=1i @0',
  'top,dc=e v=1i @1',
  'sub,dc=e,h=1 v=0i @2',
  'top,dc=e v=0i @3',
  'sub,dc=e,h=1 v=1i @4',
]);
inh('tag that is no dimension', `.inhibit('c', 'zz')`, `.category('c')`, IW);
inh('two categories', `.inhibit('x', 'dc').inhibit('c', 'dc')`, `.category('c')`, IW);
inh('no category', `.inhibit('', 'dc')`, ``, IW, {
  note: 'the empty category matches every node without category, the inhibiting one included',
});

// ---------------------------------------------------------------- topics and handlers
const H = (topic, id, kind, options, match) => ({
  topic,
  spec: { id, kind, ...(options ? { options } : {}), ...(match ? { match } : {}) },
});
const post = (p, o) => [`post`, { url: `{{SINK}}/alert/${p}`, ...o }];
const tpc = (name, handlers, w, extra = {}) =>
  st(
    'alert/topic',
    name,
    `stream\n    |from()\n        .measurement('m')\n        .groupBy('h')\n    |alert()\n        .topic('base')\n        .id('{{ index .Tags "h" }}')\n        .message('{{ .ID }} {{ .Level }}')\n        .details('')\n        .warn(lambda: "v" > 1)\n        .crit(lambda: "v" > 2)${extra.props || ''}`,
    seq(...w),
    { handlers, topics: true, ...extra, props: undefined },
  );
const TW = [
  'm,h=a v=2i @0',
  'm,h=a v=2i @1',
  'm,h=b v=3i @2',
  'm,h=a v=3i @3',
  'm,h=a v=0i @4',
  'm,h=b v=0i @5',
];
tpc('no handler', [], TW);
tpc('one handler', [H('base', 'one', ...post('one'))], TW);
tpc(
  'two handlers',
  [H('base', 'one', ...post('one')), H('base', 'two', ...post('two'))],
  TW.slice(0, 3),
);
tpc('named and own handler', [H('base', 'one', ...post('one'))], TW.slice(0, 3), {
  props: `.post('{{SINK}}/alert/own')`,
});
tpc('match level', [H('base', 'one', ...post('one'), 'level() >= CRITICAL')], TW);
tpc('match changed', [H('base', 'one', ...post('one'), 'changed() == TRUE')], TW);
tpc('match changed bare', [H('base', 'one', ...post('one'), 'changed()')], TW);
tpc('match tag', [H('base', 'one', ...post('one'), `"h" == 'b'`)], TW);
tpc('match absent tag', [H('base', 'one', ...post('one'), `"zz" == 'b'`)], TW);
tpc('match name', [H('base', 'one', ...post('one'), `name() == 'm' AND level() == OK`)], TW);
tpc(
  'match taskName',
  [H('base', 'one', ...post('one'), `taskName() == 'oracle' AND level() == WARNING`)],
  TW,
);
tpc(
  'match combined',
  [
    H(
      'base',
      'one',
      ...post('one'),
      `changed() AND (level() == INFO OR level() == WARNING) AND "h" =~ /a/`,
    ),
  ],
  TW,
);
tpc('match bad syntax', [H('base', 'one', ...post('one'), `level() >`)], TW.slice(0, 1));
tpc('match unknown function', [H('base', 'one', ...post('one'), `nofunc() == 1`)], TW.slice(0, 1));
tpc('match not boolean', [H('base', 'one', ...post('one'), `level()`)], TW.slice(0, 1));
tpc('match unknown name', [H('base', 'one', ...post('one'), `level() == LOUD`)], TW.slice(0, 1));
tpc(
  'post headers',
  [H('base', 'one', 'post', { url: '{{SINK}}/echo/h', headers: { 'X-K': 'v' } })],
  TW.slice(0, 1),
);
tpc(
  'publish',
  [H('base', 'pub', 'publish', { topics: ['other'] }), H('other', 'one', ...post('other'))],
  TW,
);
tpc(
  'publish to two',
  [
    H('base', 'pub', 'publish', { topics: ['o1', 'o2'] }),
    H('o1', 'one', ...post('o1')),
    H('o2', 'one', ...post('o2'), 'changed()'),
  ],
  TW,
);
tpc(
  'publish with match',
  [
    H('base', 'pub', 'publish', { topics: ['other'] }, 'level() == CRITICAL'),
    H('other', 'one', ...post('other')),
  ],
  TW,
  {
    note: 'previousLevel comes from the first topic as long as the other topic has no event of that id',
  },
);
tpc(
  'publish chain',
  [
    H('base', 'pub', 'publish', { topics: ['o1'] }),
    H('o1', 'pub2', 'publish', { topics: ['o2'] }),
    H('o2', 'one', ...post('o2')),
  ],
  TW.slice(0, 3),
);
tpc('publish nowhere', [H('base', 'pub', 'publish', {})], TW.slice(0, 1));
tpc('unknown kind', [H('base', 'one', 'pigeon', {})], TW.slice(0, 1));
tpc(
  'unknown option',
  [H('base', 'one', 'post', { url: '{{SINK}}/alert/x', nope: 1 })],
  TW.slice(0, 1),
);
tpc('no url', [H('base', 'one', 'post', {})], TW.slice(0, 1));
tpc('tcp refused', [H('base', 'one', 'tcp', { address: '127.0.0.1:9' })], TW.slice(0, 1));
tpc('slack disabled', [H('base', 'one', 'slack', { channel: '#a' })], TW.slice(0, 1));
tpc('no recoveries keep the event', [], TW, { props: '.noRecoveries()' });
tpc('state changes only', [H('base', 'one', ...post('one'))], TW, { props: '.stateChangesOnly()' });
st(
  'alert/topic',
  'aggregate',
  `stream|from().measurement('m').groupBy('h')|alert().topic('base').id('{{ index .Tags "h" }}').message('{{ .ID }} {{ .Level }}').details('d').warn(lambda: "v" > 1).crit(lambda: "v" > 2)`,
  one('m,h=a v=2i @0', 'm,h=b v=3i @2', 'm,h=a v=0i @4'),
  {
    handlers: [
      H('base', 'agg', 'aggregate', {
        interval: 400000000,
        topic: 'sum',
        id: 'all',
        message: '{{ .Count }} in {{ .Interval }}',
      }),
      H('sum', 'one', ...post('sum')),
    ],
    waitMs: 700,
    topics: true,
  },
);
st(
  'alert/topic',
  'two tasks share a topic',
  `stream|from().measurement('m')|alert().topic('base').id('x').message('from a {{ .Level }}').details('').crit(lambda: "v" > 1)`,
  seq('m v=2i @0', 'm v=1i @1', 'm v=3i @2'),
  {
    handlers: [H('base', 'one', ...post('one'))],
    topics: true,
    extraTasks: [
      {
        id: 'oracle-second',
        script: `stream|from().measurement('m')|alert().topic('second').id('x').message('from b {{ .Level }}').details('').warn(lambda: "v" > 2)`,
        dbrps: [{ db: 'd', rp: 'r' }],
      },
    ],
  },
);
st(
  'alert/topic',
  'two alert nodes on one topic',
  `var s = stream|from().measurement('m')\ns|eval(lambda: "v").as('v')|alert().topic('base').id('lo').message('{{ .Level }}').details('').info(lambda: "v" > 0)\ns|eval(lambda: "v").as('v')|where(lambda: "v" > 5)|alert().topic('base').id('hi').message('{{ .Level }}').details('').crit(lambda: "v" > 7)`,
  seq('m v=1i @0', 'm v=9i @1', 'm v=6i @2'),
  { topics: true },
);
st(
  'alert/topic',
  'anonymous topic',
  `stream|from().measurement('m')|alert().id('x').message('m').details('').crit(lambda: "v" > 1).post('{{SINK}}/alert')`,
  seq('m v=2i @0'),
  { topics: true },
);

// ================================================================ batch tasks (replayed against canned database answers)
const RP = { start: '2024-01-01T00:00:00Z', stop: '2024-01-01T00:00:30Z' };
const iso = (s) => new Date((T0 + s) * 1000).toISOString().replace(/\.000Z$/, 'Z');
const ser = (name, tags, rows, cols = ['time', 'v']) => ({
  name,
  ...(tags ? { tags } : {}),
  columns: cols,
  values: rows.map(([t, ...r]) => [iso(t), ...r]),
});
const ans = (...ss) => ({ series: ss });
// three answers for [0,10) [10,20) [20,30)
const DB3 = [
  {
    responses: [
      ans(
        ser('cpu', { h: 'a' }, [
          [0, 1],
          [5, 3],
        ]),
        ser('cpu', { h: 'b' }, [[1, 10]]),
      ),
      ans(
        ser('cpu', { h: 'a' }, [
          [10, 5],
          [15, 7],
        ]),
        ser('cpu', { h: 'b' }, [
          [11, 30],
          [16, 50],
        ]),
      ),
      ans(ser('cpu', { h: 'a' }, [[20, 9]])),
    ],
  },
];
const DB1 = [
  {
    responses: [
      ans(
        ser('cpu', null, [
          [0, 1],
          [5, 3],
        ]),
      ),
      ans(
        ser('cpu', null, [
          [10, 5],
          [15, 7.5],
        ]),
      ),
      ans(ser('cpu', null, [[20, 9]])),
    ],
  },
];
const Q = (props = '.period(10s).every(10s)', text = 'SELECT v FROM "d"."r"."cpu"') =>
  `batch\n    |query('${text}')\n        ${props}`;
const ba = (group, name, script, extra = {}) =>
  add({ group: 'batch/' + group, name, type: 'batch', replay: RP, db: DB1, ...extra, script });
const bq = (name, props, extra = {}) =>
  ba('query', name, Q(props, extra.text) + EMIT, { ...extra, text: undefined });
bq('period and every', '.period(10s).every(10s)');
bq('align', '.period(10s).every(10s).align()', {
  replay: { start: '2024-01-01T00:00:03Z', stop: '2024-01-01T00:00:33Z' },
});
bq('no align', '.period(10s).every(10s)', {
  replay: { start: '2024-01-01T00:00:03Z', stop: '2024-01-01T00:00:33Z' },
});
bq('offset', '.period(10s).every(10s).offset(1h)');
bq('negative offset', '.period(10s).every(10s).offset(-5s)');
bq('period longer than every', '.period(1m).every(10s)');
bq('period shorter than every', '.period(2s).every(10s)');
bq('every longer than the range', '.period(10s).every(1m)');
bq('cron', `.period(10s).cron('*/10 * * * * * *')`);
bq('cron every minute', `.period(1m).cron('* * * * *')`, {
  replay: { start: '2024-01-01T00:00:00Z', stop: '2024-01-01T00:02:30Z' },
});
bq('groupBy tag', `.period(10s).every(10s).groupBy('h')`, { db: DB3 });
bq('groupBy star', `.period(10s).every(10s).groupBy(*)`, { db: DB3 });
bq('groupBy two tags', `.period(10s).every(10s).groupBy('h', 'a b')`, { db: DB3 });
bq('groupBy list', `.period(10s).every(10s).groupBy(['h', 'k'])`, { db: DB3 });
bq('groupBy time', `.period(10s).every(10s).groupBy(time(5s))`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('groupBy duration', `.period(10s).every(10s).groupBy(5s, 'h')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('groupBy time with offset', `.period(10s).every(10s).groupBy(time(5s, 2s))`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill null', `.period(10s).every(10s).groupBy(time(5s)).fill('null')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill none', `.period(10s).every(10s).groupBy(time(5s)).fill('none')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill previous', `.period(10s).every(10s).groupBy(time(5s)).fill('previous')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill linear', `.period(10s).every(10s).groupBy(time(5s)).fill('linear')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill number', `.period(10s).every(10s).groupBy(time(5s)).fill(7)`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('fill float', `.period(10s).every(10s).groupBy(time(5s)).fill(1.5)`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu"',
});
bq('where in the text', '.period(10s).every(10s)', {
  text: String.raw`SELECT v FROM "d"."r"."cpu" WHERE h = \'a\' AND k = \'b\'`,
});
bq('time condition in the text', '.period(10s).every(10s)', {
  text: String.raw`SELECT v FROM "d"."r"."cpu" WHERE time > \'2020-01-01T00:00:00Z\'`,
});
bq('group by in the text', '.period(10s).every(10s)', {
  text: 'SELECT mean(v) FROM "d"."r"."cpu" GROUP BY h',
  note: 'replaced by the dimensions of .groupBy (here none)',
});
bq('group by in text and property', `.period(10s).every(10s).groupBy('k')`, {
  text: 'SELECT mean(v) FROM "d"."r"."cpu" GROUP BY h',
});
bq('several sources', '.period(10s).every(10s)', {
  text: 'SELECT v FROM "d"."r"."cpu", "d"."r"."mem"',
});
bq('several fields and functions', '.period(10s).every(10s)', {
  text: 'SELECT max(v) - min(v) AS range, last(w) FROM "d"."r"."cpu"',
});
bq('order and limit', '.period(10s).every(10s)', {
  text: 'SELECT v FROM "d"."r"."cpu" ORDER BY time DESC LIMIT 5',
});
bq('lower case keywords', '.period(10s).every(10s)', { text: 'select v from d.r.cpu' });
bq('regex source', '.period(10s).every(10s)', { text: 'SELECT v FROM "d"."r"./^c/' });
bq('cluster default', `.period(10s).every(10s).cluster('default')`);
bq('nulls and types', '.period(10s).every(10s)', {
  db: [
    {
      responses: [
        {
          series: [
            {
              name: 'cpu',
              columns: ['time', 'i', 'f', 's', 'b'],
              values: [
                [iso(0), 1, 1.5, 'x', true],
                [iso(1), null, null, null, null],
                [iso(2), 9007199254740992, null, '', false],
              ],
            },
          ],
        },
      ],
    },
  ],
  note: 'every number becomes a float; a row without values is skipped',
});
bq('fields that start null', '.period(10s).every(10s)', {
  db: [
    {
      responses: [
        {
          series: [
            {
              name: 'cpu',
              columns: ['time', 'a', 'b'],
              values: [
                [iso(0), null, 1],
                [iso(1), 2, 3],
              ],
            },
          ],
        },
      ],
    },
  ],
});
bq('empty answers', '.period(10s).every(10s)', {
  db: [{ responses: [{ series: [] }, ans(ser('cpu', null, [[10, 5]]))] }],
});
bq('series without rows', '.period(10s).every(10s)', {
  db: [{ responses: [{ series: [{ name: 'cpu', columns: ['time', 'v'], values: [] }] }] }],
});
bq('query error', '.period(10s).every(10s)', {
  db: [{ responses: [{ error: 'no such thing' }, ans(ser('cpu', null, [[10, 5]]))] }],
});
bq('two names', '.period(10s).every(10s)', {
  db: [{ responses: [ans(ser('cpu', null, [[0, 1]]), ser('mem', null, [[1, 2]]))] }],
});
bq('groupByMeasurement', `.period(10s).every(10s).groupByMeasurement()`, {
  db: [{ responses: [ans(ser('cpu', null, [[0, 1]]), ser('mem', null, [[1, 2]]))] }],
});
bq('epoch of rows', '.period(10s).every(10s)', {
  db: [
    {
      responses: [
        {
          series: [
            {
              name: 'cpu',
              columns: ['time', 'v'],
              values: [
                ['2024-01-01T00:00:01.5Z', 1],
                ['2024-01-01T00:00:01.000000001Z', 2],
              ],
            },
          ],
        },
      ],
    },
  ],
});
ba('query', 'time of a batch without time dimension', Q() + "|count('v')" + EMIT);
ba(
  'query',
  'time of a batch with time dimension',
  Q(`.period(10s).every(10s).groupBy(time(5s))`, 'SELECT mean(v) FROM "d"."r"."cpu"') +
    "|count('v')" +
    EMIT,
);
ba('query', 'recording first', Q() + "|sum('v')" + EMIT, { replay: { ...RP, recording: true } });
ba('query', 'recording of groups', Q(`.period(10s).every(10s).groupBy('h')`) + "|sum('v')" + EMIT, {
  db: DB3,
  replay: { ...RP, recording: true },
});
ba(
  'query',
  'two queries',
  `var a = batch|query('SELECT v FROM "d"."r"."cpu"').period(10s).every(10s)\nvar b = batch|query('SELECT v FROM "d"."r"."mem"').period(10s).every(10s)\na|httpPost('{{SINK}}/emit/a')\nb|httpPost('{{SINK}}/emit/b')`,
  {
    db: [
      { ...DB1[0], match: 'cpu' },
      {
        match: 'mem',
        responses: [ans(ser('mem', null, [[2, 100]])), ans(ser('mem', null, [[12, 200]]))],
      },
    ],
  },
);
const qd = (name, text, props, extra) =>
  def('batch/error', name, `batch|query('${text}')${props}`, { taskType: 'batch', ...extra });
const QT = 'SELECT v FROM "d"."r"."cpu"';
qd('not influxql', 'SELEKT v', '.period(1s).every(1s)', { enable: true });
qd('two statements', `${QT}; ${QT}`, '.period(1s).every(1s)', { enable: true });
qd('no select', 'SHOW DATABASES', '.period(1s).every(1s)', { enable: true });
qd('other database', 'SELECT v FROM "x"."r"."cpu"', '.period(1s).every(1s)', { enable: true });
qd('no database', 'SELECT v FROM cpu', '.period(1s).every(1s)', { enable: true });
qd('no period', QT, '.every(1s)', { enable: true });
qd('no every', QT, '.period(1s)', { enable: true });
qd('every and cron', QT, `.period(1s).every(1s).cron('* * * * *')`, { enable: true });
qd('bad cron', QT, `.period(1s).cron('x')`, { enable: true });
qd('zero every', QT, '.period(1s).every(0s)', { enable: true });
qd('two time dimensions', QT, '.period(1s).every(1s).groupBy(time(1s), time(2s))', {
  enable: true,
});
qd('bad dimension', QT, '.period(1s).every(1s).groupBy(5)', { enable: true });
qd('empty dimension', QT, `.period(1s).every(1s).groupBy('')`, { enable: true });
qd('bad fill', QT, `.period(1s).every(1s).fill('magic')`, { enable: true });
qd('unknown cluster', QT, `.period(1s).every(1s).cluster('nope')`, { enable: true });
qd('time with three arguments', QT, '.period(1s).every(1s).groupBy(time(1s, 2s, 3s))');
qd('time with string', QT, `.period(1s).every(1s).groupBy(time('x'))`);
qd('query of int', 'x', '.period(5)');
qd('stream method', QT, '.period(1s).every(1s)|from()');
def('batch/error', 'no argument', 'batch|query()', { taskType: 'batch' });
def('batch/error', 'batch only', 'batch', { taskType: 'batch' });
const bn = (name, chain, extra = {}) =>
  ba('node', name, Q(extra.props) + '\n    ' + chain + EMIT, { ...extra, props: undefined });
const G = `.period(10s).every(10s).groupBy('h')`;
for (const f of [
  'mean',
  'sum',
  'count',
  'max',
  'min',
  'first',
  'last',
  'median',
  'spread',
  'stddev',
  'mode',
  'distinct',
])
  bn(f, `|${f}('v')`, { db: DB3, props: G });
bn('max usePointTimes', `|max('v').usePointTimes()`, { db: DB3, props: G });
bn('percentile', `|percentile('v', 90.0)`, { db: DB3, props: G });
bn('top with tag', `|top(1, 'v', 'h')`, { db: DB3, props: G });
bn('difference', `|difference('v')`, { db: DB3, props: G });
bn('movingAverage', `|movingAverage('v', 2)`, { db: DB3, props: G });
bn('cumulativeSum', `|cumulativeSum('v')`, { db: DB3, props: G });
bn('elapsed', `|elapsed('v', 1s)`, { db: DB3, props: G });
bn('where and eval', `|where(lambda: "v" > 4.0)|eval(lambda: "v" * 2.0).as('w')`, {
  db: DB3,
  props: G,
});
bn('eval with group tag', `|eval(lambda: "h" + '!').as('t')`, { db: DB3, props: G });
bn('derivative', `|derivative('v')`, { db: DB3, props: G });
bn('sample', `|sample(2)`, { db: DB3, props: G });
bn('shift', `|shift(1h)`, { db: DB3, props: G });
bn('default', `|default().field('x', 1).tag('k', 'z')`, { db: DB3, props: G });
bn('delete', `|delete().tag('h')`, { db: DB3, props: G });
bn('stateCount', `|stateCount(lambda: "v" > 4.0)`, { db: DB3, props: G });
bn('changeDetect', `|changeDetect('v')`, { db: DB3, props: G });
bn('window after aggregate', `|sum('v')|window().periodCount(2).everyCount(2)|mean('sum')`, {
  db: DB3,
  props: G,
});
bn('groupBy merges batches', `|groupBy()|sum('v')`, {
  db: DB3,
  props: G,
  note: 'the last set is never emitted',
});
bn('groupBy by row tag', `|groupBy('k')|sum('v')`, {
  props: '.period(10s).every(10s)',
  db: [
    {
      responses: [
        ans(
          ser('cpu', { k: 'x' }, [
            [0, 1],
            [5, 3],
          ]),
          ser('cpu', { k: 'y' }, [[1, 10]]),
        ),
        ans(ser('cpu', { k: 'x' }, [[10, 5]])),
        ans(ser('cpu', { k: 'x' }, [[20, 9]])),
      ],
    },
  ],
  sortEmissions: true,
});
bn('flatten', `|groupBy()|flatten().on('h')`, { db: DB3, props: G });
bn(
  'combine',
  `|groupBy()|combine(lambda: "h" == 'a', lambda: "h" == 'b').as('a', 'b').tolerance(2s)`,
  { db: DB3, props: G },
);
ba('node', 'httpOut is not kept', Q(G) + `|httpOut('x')` + EMIT, { db: DB3 });
ba(
  'node',
  'join of two queries',
  `var a = batch|query('SELECT v FROM "d"."r"."cpu"').period(10s).every(10s)\nvar b = batch|query('SELECT v FROM "d"."r"."mem"').period(10s).every(10s)\na|join(b).as('a', 'b')${EMIT}`,
  {
    db: [
      { ...DB1[0], match: 'cpu' },
      {
        match: 'mem',
        responses: [
          ans(
            ser('mem', null, [
              [0, 100],
              [4, 150],
            ]),
          ),
          ans(
            ser('mem', null, [
              [10, 200],
              [15, 250],
            ]),
          ),
        ],
      },
    ],
  },
);
ba(
  'node',
  'join of two queries with fill',
  `var a = batch|query('SELECT v FROM "d"."r"."cpu"').period(10s).every(10s)\nvar b = batch|query('SELECT v FROM "d"."r"."mem"').period(10s).every(10s)\na|join(b).as('a', 'b').fill(0.0)${EMIT}`,
  {
    db: [
      { ...DB1[0], match: 'cpu' },
      {
        match: 'mem',
        responses: [
          ans(
            ser('mem', null, [
              [0, 100],
              [4, 150],
            ]),
          ),
          ans(
            ser('mem', null, [
              [10, 200],
              [15, 250],
            ]),
          ),
        ],
      },
    ],
  },
);
ba(
  'node',
  'join of aggregates',
  `var a = batch|query('SELECT v FROM "d"."r"."cpu"').period(10s).every(10s)|mean('v')\nvar b = batch|query('SELECT v FROM "d"."r"."mem"').period(10s).every(10s)|max('v')\na|join(b).as('a', 'b')|eval(lambda: "a.mean" / "b.max").as('r')${EMIT}`,
  {
    db: [
      { ...DB1[0], match: 'cpu' },
      {
        match: 'mem',
        responses: [
          ans(
            ser('mem', null, [
              [0, 100],
              [4, 150],
            ]),
          ),
          ans(
            ser('mem', null, [
              [10, 200],
              [15, 250],
            ]),
          ),
        ],
      },
    ],
  },
);
ba(
  'node',
  'join with offset and shift',
  `var a = batch|query('SELECT v FROM "d"."r"."cpu"').period(10s).every(10s)|mean('v')\nvar b = batch|query('SELECT v FROM "d"."r"."mem"').period(10s).every(10s).offset(1h)|mean('v')|shift(1h)\na|join(b).as('now', 'past')${EMIT}`,
  {
    db: [
      { ...DB1[0], match: 'cpu' },
      {
        match: 'mem',
        responses: [ans(ser('mem', null, [[-3600, 100]])), ans(ser('mem', null, [[-3590, 200]]))],
      },
    ],
  },
);
ba(
  'node',
  'influxDBOut',
  Q(G) + `|mean('v')|influxDBOut().database('out').retentionPolicy('rr').measurement('avg')`,
  { db: DB3 },
);
const BH = { handlers: [H('bt', 'one', ...post('one'))], topics: true };
ba(
  'alert',
  'levels',
  Q(G) +
    `|alert().topic('bt').id('{{ .Group }}').message('{{ .Level }} {{ index .Fields "v" }}').details('').warn(lambda: "v" > 2.0).crit(lambda: "v" > 20.0)`,
  { db: DB3, ...BH },
);
ba(
  'alert',
  'after aggregate',
  Q(G) +
    `|mean('v')|alert().topic('bt').id('{{ .Group }}').message('{{ .Level }} {{ index .Fields "mean" }} {{ .Time }}').details('').warn(lambda: "mean" > 2.0).crit(lambda: "mean" > 20.0).stateChangesOnly()`,
  { db: DB3, ...BH },
);
ba(
  'alert',
  'all',
  Q(G) +
    `|alert().topic('bt').id('{{ .Group }}').message('{{ .Level }}').details('').warn(lambda: "v" > 2.0).all()`,
  { db: DB3, ...BH },
);
ba(
  'alert',
  'emitted batch',
  Q(G) +
    `|alert().id('{{ .Group }}').message('{{ .Level }}').details('').warn(lambda: "v" > 2.0).levelTag('lt').levelField('lf').durationField('df')${EMIT}`,
  { db: DB3 },
);

// ================================================================ HTTP API
const api = (group, name, steps, cleanup = [], extra = {}) =>
  add({ group: 'api/' + group, name, type: 'api', ...extra, steps, cleanup });
const S = (method, path, body, x = {}) => ({
  method,
  path,
  ...(body !== undefined ? { body } : {}),
  ...x,
});
const GET = (p, x) => S('GET', p, undefined, x),
  DEL = (p, x) => S('DELETE', p, undefined, x),
  POST = (p, b, x) => S('POST', p, b, x),
  PATCH = (p, b, x) => S('PATCH', p, b, x),
  PUT = (p, b, x) => S('PUT', p, b, x);
const DR = [{ db: 'd', rp: 'r' }];
const SRC = `stream|from().measurement('m')|httpOut('out')`;
const T = (id, x = {}) => ({ id, type: 'stream', dbrps: DR, script: SRC, ...x });
const rm = (...ids) => ids.map((i) => ['DELETE', `/tasks/${i}`]);
const rmt = (...ids) => ids.map((i) => ['DELETE', `/templates/${i}`]);

api('task', 'create and get', [POST('/tasks', T('t1')), GET('/tasks/t1')], rm('t1'));
api(
  'task',
  'create enabled',
  [
    POST('/tasks', T('t1', { status: 'enabled' })),
    GET('/tasks/t1?fields=status&fields=executing&fields=error'),
  ],
  rm('t1'),
);
api(
  'task',
  'create twice',
  [POST('/tasks', T('t1'), { hidden: true }), POST('/tasks', T('t1'))],
  rm('t1'),
);
api(
  'task',
  'invalid ids',
  ['a b', 'a/b', 'a*', 'a:b', ''].filter((x) => x).map((id) => POST('/tasks', T(id))),
);
api(
  'task',
  'valid ids',
  ['ok-1_2.3', 'größe', '-x', '.y'].map((id) => POST('/tasks', T(id), {})),
  [...rm('ok-1_2.3', encodeURIComponent('größe'), '-x', '.y')],
);
api('task', 'bad JSON', [
  POST('/tasks', '{"id":'),
  POST('/tasks', '[]'),
  POST('/tasks', ''),
  POST('/tasks', '"x"'),
]);
api(
  'task',
  'wrong JSON types',
  [
    POST('/tasks', { id: 5 }),
    POST('/tasks', T('t1', { dbrps: 'd.r' })),
    POST('/tasks', T('t1', { status: 7 })),
    POST('/tasks', T('t1', { vars: [] })),
  ],
  rm('t1'),
);
api(
  'task',
  'unknown status and type',
  [
    POST('/tasks', T('t1', { status: 'maybe' })),
    POST('/tasks', T('t2', { type: 'river' })),
    POST('/tasks', T('t3', { type: 'batch' })),
  ],
  rm('t1', 't2', 't3'),
  { note: 'the type comes from the script' },
);
api('task', 'unknown property', [POST('/tasks', T('t1', { nothing: 1 }))], rm('t1'));
api('task', 'no script', [
  POST('/tasks', T('t1', { script: undefined })),
  POST('/tasks', T('t1', { script: '' })),
]);
api(
  'task',
  'no dbrps',
  [
    POST('/tasks', T('t1', { dbrps: undefined })),
    POST('/tasks', T('t1', { dbrps: [] })),
    POST('/tasks', T('t1', { dbrps: undefined, script: 'dbrp "x"."y"\n' + SRC })),
  ],
  rm('t1'),
);
api(
  'task',
  'empty database name',
  [POST('/tasks', T('t1', { dbrps: [{ db: '', rp: '' }] })), GET('/tasks/t1?fields=dbrps')],
  rm('t1'),
);
api(
  'task',
  'start failure',
  [
    POST('/tasks', T('t1', { status: 'enabled', script: `stream|from()|window()` })),
    GET('/tasks/t1?fields=status&fields=executing&fields=error'),
  ],
  rm('t1'),
  { note: 'the task is stored although it could not be started' },
);
api('task', 'get absent', [GET('/tasks/nope'), GET('/tasks/nope/out')]);
api('task', 'delete', [
  POST('/tasks', T('t1'), { hidden: true }),
  DEL('/tasks/t1'),
  DEL('/tasks/t1'),
  GET('/tasks/t1'),
]);
api(
  'task',
  'patch script',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', { script: `stream|from().measurement('q')` }),
    GET('/tasks/t1?fields=script'),
  ],
  rm('t1'),
);
api(
  'task',
  'patch bad script',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', { script: `stream|fromm()` }),
    PATCH('/tasks/t1', { script: '' }),
    GET('/tasks/t1?fields=script'),
  ],
  rm('t1'),
);
api(
  'task',
  'patch dbrps',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', {
      dbrps: [
        { db: 'x', rp: 'y' },
        { db: 'z', rp: '' },
      ],
    }),
    PATCH('/tasks/t1', { dbrps: [] }),
  ],
  rm('t1'),
);
api(
  'task',
  'patch status',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', { status: 'enabled' }, { hidden: true }),
    GET('/tasks/t1?fields=status&fields=executing'),
    PATCH('/tasks/t1', { status: 'enabled' }, { hidden: true }),
    PATCH('/tasks/t1', { status: 'disabled' }, { hidden: true }),
    GET('/tasks/t1?fields=status&fields=executing'),
    PATCH('/tasks/t1', { status: 'sleeping' }),
  ],
  rm('t1'),
);
api(
  'task',
  'patch vars',
  [
    POST(
      '/tasks',
      T('t1', { script: `var a = 1\nvar b = 'x'\n` + SRC, vars: { a: { type: 'int', value: 5 } } }),
      { hidden: true },
    ),
    GET('/tasks/t1?fields=vars'),
    PATCH('/tasks/t1', { vars: { b: { type: 'string', value: 'q' } } }, { hidden: true }),
    GET('/tasks/t1?fields=vars'),
    PATCH('/tasks/t1', { vars: { b: { type: 'int', value: 1 } } }),
  ],
  rm('t1'),
  { note: 'vars are replaced as a whole' },
);
api(
  'task',
  'patch id',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', { id: 't2' }),
    GET('/tasks/t1'),
    GET('/tasks/t2?fields=id'),
  ],
  rm('t1', 't2'),
);
api(
  'task',
  'patch id to an existing one',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    POST('/tasks', T('t2'), { hidden: true }),
    PATCH('/tasks/t1', { id: 't2' }),
  ],
  rm('t1', 't2'),
);
api('task', 'patch absent', [PATCH('/tasks/nope', { status: 'enabled' })]);
api(
  'task',
  'patch bad JSON',
  [POST('/tasks', T('t1'), { hidden: true }), PATCH('/tasks/t1', '{'), PATCH('/tasks/t1', {})],
  rm('t1'),
);
api(
  'task',
  'patch type',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    PATCH('/tasks/t1', { type: 'batch' }),
    GET('/tasks/t1?fields=type'),
  ],
  rm('t1'),
);
api(
  'task',
  'view formats',
  [
    POST('/tasks', T('t1', { script: `stream|from( ).measurement( 'm' )` }), { hidden: true }),
    GET('/tasks/t1?script-format=raw&fields=script'),
    GET('/tasks/t1?script-format=formatted&fields=script'),
    GET('/tasks/t1?script-format=nice'),
    GET('/tasks/t1?dot-view=labels'),
    GET('/tasks/t1?dot-view=attributes'),
    GET('/tasks/t1?dot-view=3d'),
    GET('/tasks/t1?replay-id=nope'),
  ],
  rm('t1'),
);
api('task', 'unknown route', [GET('/nothing'), S('PUT', '/tasks/t1', {}), DEL('/tasks')], []);
const four = ['alpha', 'beta', 'gamma', 'beta-2'];
const mk = four.map((id) => POST('/tasks', T(id), { hidden: true }));
const ls = (name, ...qs) =>
  api('task list', name, [...mk, ...qs.map((q) => GET('/tasks' + q))], rm(...four));
ls('all ids', '?fields=id&pattern=*[a2]');
ls('default fields', '?pattern=alpha');
ls(
  'pattern',
  '?fields=id&pattern=beta*',
  '?fields=id&pattern=*a',
  '?fields=id&pattern=?eta',
  '?fields=id&pattern=[ab]*',
  '?fields=id&pattern=nope',
  '?fields=id&pattern=',
  '?fields=id&pattern=[',
);
ls(
  'offset and limit',
  '?fields=id&limit=2',
  '?fields=id&offset=1&limit=2',
  '?fields=id&offset=10',
  '?fields=id&limit=0',
  '?fields=id&limit=-1',
  '?fields=id&offset=-1',
);
ls('bad numbers', '?offset=x', '?limit=1.5');
ls(
  'single fields',
  '?pattern=alpha&fields=type',
  '?pattern=alpha&fields=link',
  '?pattern=alpha&fields=dbrps&fields=script&fields=dot&fields=vars',
  '?pattern=alpha&fields=status&fields=executing&fields=error&fields=stats&fields=created&fields=modified&fields=last-enabled',
  '?pattern=alpha&fields=template-id',
);
ls('unknown field', '?fields=nope', '?fields=ID');
ls(
  'formats in list',
  '?pattern=alpha&fields=script&script-format=raw',
  '?pattern=alpha&fields=script&script-format=x',
  '?pattern=alpha&fields=dot&dot-view=labels',
  '?pattern=alpha&fields=dot&dot-view=x',
);
api('task list', 'empty', [GET('/tasks?pattern=nope*')]);
api(
  'task',
  'endpoint while enabled and disabled',
  [
    POST('/tasks', T('t1', { status: 'enabled' }), { hidden: true }),
    GET('/tasks/t1/out'),
    POST('/write?db=d&rp=r&precision=s', 'm v=1 1704067200', { hidden: true }),
    { sleepMs: 100 },
    GET('/tasks/t1/out'),
    GET('/tasks/t1/nope'),
    PATCH('/tasks/t1', { status: 'disabled' }, { hidden: true }),
    GET('/tasks/t1/out'),
  ],
  rm('t1'),
);
api(
  'task',
  'stats of a running task',
  [
    POST(
      '/tasks',
      T('t1', {
        status: 'enabled',
        script: `stream|from().measurement('m')|where(lambda: "v" > 1)|alert().info(lambda: TRUE).topic('api-x')`,
      }),
      { hidden: true },
    ),
    POST('/write?db=d&rp=r&precision=s', 'm v=1i 1704067200\nm v=2i 1704067201\nm x=1 1704067202', {
      hidden: true,
    }),
    { sleepMs: 150 },
    GET('/tasks/t1?fields=stats'),
  ],
  [...rm('t1'), ['DELETE', '{{PREVIEW}}/alerts/topics/api-x']],
);
api(
  'task',
  'script change of an enabled task',
  [
    POST('/tasks', T('t1', { status: 'enabled' }), { hidden: true }),
    PATCH(
      '/tasks/t1',
      { script: `stream|from().measurement('m')|httpOut('other')` },
      { hidden: true },
    ),
    GET('/tasks/t1/out'),
    GET('/tasks/t1/other'),
    PATCH('/tasks/t1', { status: 'disabled' }, { hidden: true }),
    PATCH('/tasks/t1', { status: 'enabled' }, { hidden: true }),
    GET('/tasks/t1/out'),
    GET('/tasks/t1/other'),
  ],
  rm('t1'),
  { note: 'takes effect after disabling and enabling' },
);

const TPL = (id, x = {}) => ({
  id,
  type: 'stream',
  script: `// how much\nvar limit = 5\nvar field string\nstream|from().measurement('m').where(lambda: "v" > limit)|httpOut('out')`,
  ...x,
});
const TV = { field: { type: 'string', value: 'v' } };
api('template', 'create, get, delete', [
  POST('/templates', TPL('p1')),
  GET('/templates/p1'),
  DEL('/templates/p1'),
  DEL('/templates/p1'),
  GET('/templates/p1'),
]);
api(
  'template',
  'errors',
  [
    POST('/templates', '{'),
    POST('/templates', TPL('a b')),
    POST('/templates', TPL('p1', { script: undefined })),
    POST('/templates', TPL('p1', { script: 'stream|' })),
    POST('/templates', TPL('p1', { script: 'var a = 1' })),
    POST('/templates', TPL('p1', { type: 'river' })),
    POST('/templates', TPL('p1')),
    POST('/templates', TPL('p1')),
    PATCH('/templates/nope', { script: SRC }),
    PATCH('/templates/p1', '{'),
    PATCH('/templates/p1', { script: 'stream|' }),
  ],
  rmt('p1'),
);
api(
  'template',
  'list',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    POST('/templates', TPL('p2'), { hidden: true }),
    GET('/templates?fields=id'),
    GET('/templates?fields=id&pattern=*2'),
    GET('/templates?fields=id&offset=1'),
    GET('/templates?fields=id&limit=1'),
    GET('/templates?fields=nope'),
    GET('/templates?pattern=p1&fields=vars'),
    GET('/templates?pattern=p1&fields=script&script-format=raw'),
    GET('/templates?offset=x'),
  ],
  rmt('p1', 'p2'),
);
api(
  'template',
  'task of a template',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    POST('/tasks', { id: 't1', 'template-id': 'p1', dbrps: DR, vars: TV }),
    GET('/tasks?pattern=t1&fields=template-id&fields=script'),
    POST('/tasks', { id: 't2', 'template-id': 'nope', dbrps: DR }),
    POST('/tasks', { id: 't3', 'template-id': 'p1', dbrps: DR }),
    POST('/tasks', { id: 't4', 'template-id': 'p1', dbrps: DR, vars: TV, script: SRC }),
  ],
  [...rm('t1', 't2', 't3', 't4'), ...rmt('p1')],
);
api(
  'template',
  'update reaches tasks',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    POST(
      '/tasks',
      { id: 't1', 'template-id': 'p1', dbrps: DR, vars: TV, status: 'enabled' },
      { hidden: true },
    ),
    PATCH('/templates/p1', {
      script: `var field string\nstream|from().measurement('n')|httpOut('fresh')`,
    }),
    GET('/tasks/t1?fields=script&fields=status&fields=executing'),
    GET('/tasks/t1/fresh'),
    GET('/tasks/t1/out'),
  ],
  [...rm('t1'), ...rmt('p1')],
);
api(
  'template',
  'failing update is rolled back',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    POST(
      '/tasks',
      { id: 't1', 'template-id': 'p1', dbrps: DR, vars: TV, status: 'enabled' },
      { hidden: true },
    ),
    PATCH('/templates/p1', {
      script: `var field string\nvar other int\nstream|from().measurement('n')|httpOut('fresh')`,
    }),
    GET('/tasks/t1?fields=script&fields=status&fields=executing'),
    GET('/tasks/t1/out'),
  ],
  [...rm('t1'), ...rmt('p1')],
);
api(
  'template',
  'delete keeps tasks',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    POST(
      '/tasks',
      { id: 't1', 'template-id': 'p1', dbrps: DR, vars: TV, status: 'enabled' },
      { hidden: true },
    ),
    DEL('/templates/p1'),
    GET('/tasks/t1?fields=status&fields=executing&fields=script'),
    GET('/tasks/t1/out'),
  ],
  [...rm('t1'), ...rmt('p1')],
);
api(
  'template',
  'change of the id',
  [
    POST('/templates', TPL('p1'), { hidden: true }),
    PATCH('/templates/p1', { id: 'p2' }),
    GET('/templates/p1'),
    GET('/templates/p2?fields=id'),
  ],
  rmt('p1', 'p2'),
);
api(
  'template',
  'vars of every type',
  [
    POST(
      '/templates',
      TPL('p1', {
        script: `var a = 1\nvar b = 2.5\nvar c = 's'\nvar d = TRUE\nvar e = 10s\nvar f = /x/\nvar g = ['a', 'b']\nvar h = lambda: "v" > a\nstream|from()`,
      }),
      { hidden: true },
    ),
    GET('/templates/p1'),
  ],
  rmt('p1'),
);

// ---------------------------------------------------------------- recordings and replays
api(
  'recording',
  'absent things',
  [
    GET('/recordings/nope'),
    DEL('/recordings/nope'),
    POST('/recordings/stream', { task: 'nope', stop: '2024-01-01T00:00:00Z' }),
    POST('/recordings/batch', {
      task: 'nope',
      start: '2024-01-01T00:00:00Z',
      stop: '2024-01-01T00:00:10Z',
    }),
    POST('/recordings/nothing', {}),
  ],
  [],
  { note: 'GET of an absent recording should be 404' },
);
api('recording', 'bad requests', [
  POST('/recordings/stream', '{'),
  POST('/recordings/batch', '{'),
  POST('/recordings/query', '{'),
  POST('/recordings/query', { type: 'stream' }),
  POST('/recordings/query', { query: 'SELECT 1', type: 'river' }),
]);
api(
  'recording',
  'bad id',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    POST('/recordings/stream', { id: 'a b', task: 't1', stop: '2024-01-01T00:00:00Z' }),
    POST('/recordings/batch', { task: 't1' }),
  ],
  rm('t1'),
);
api(
  'recording',
  'stream',
  [
    POST('/tasks', T('t1'), { hidden: true }),
    POST('/recordings/stream', { id: 'r1', task: 't1', stop: '2024-01-01T00:00:05Z' }),
    GET('/recordings/r1'),
    POST(
      '/write?db=d&rp=r&precision=s',
      'm v=1i 1704067200\nm v=2i 1704067204\nm v=3i 1704067206',
      { hidden: true },
    ),
    GET('/recordings/r1', { until: 202, normSize: true }),
    GET('/recordings?fields=id&fields=status&fields=type'),
    POST('/recordings/stream', { id: 'r1', task: 't1', stop: '2024-01-01T00:00:05Z' }),
    DEL('/recordings/r1'),
    GET('/recordings?fields=id'),
  ],
  [...rm('t1'), ['DELETE', '/recordings/r1']],
);
api('recording', 'list', [
  GET('/recordings?pattern=nope*'),
  GET('/recordings?fields=nope'),
  GET('/recordings?offset=x'),
  GET('/replays?pattern=nope*'),
  GET('/replays?fields=nope'),
  GET('/replays?limit=x'),
]);
api('replay', 'absent things', [
  GET('/replays/nope'),
  DEL('/replays/nope'),
  POST('/replays', { task: 'nope', recording: 'nope' }),
]);
api(
  'replay',
  'bad requests',
  [
    POST('/replays', '{'),
    POST('/replays/batch', '{'),
    POST('/replays/query', '{'),
    POST('/tasks', T('t1'), { hidden: true }),
    POST('/replays', { task: 't1', recording: 'nope' }),
    POST('/replays', { id: 'a b', task: 't1', recording: 'nope' }),
    POST('/replays/batch', {
      task: 't1',
      start: '2024-01-01T00:00:00Z',
      stop: '2024-01-01T00:00:10Z',
    }),
    POST('/replays/query', { task: 't1' }),
  ],
  rm('t1'),
);
const REC = [
  POST(
    '/tasks',
    T('t1', {
      script: `stream|from().measurement('m')|window().period(5s).every(5s)|sum('v')|httpPost('{{SINK}}/emit')`,
    }),
    { hidden: true },
  ),
  POST(
    '/recordings/stream',
    { id: 'r1', task: 't1', stop: '2024-01-01T00:00:15Z' },
    { hidden: true },
  ),
  POST(
    '/write?db=d&rp=r&precision=s',
    'm v=1i 1704067200\nm v=2i 1704067204\nm v=3i 1704067206\nm v=4i 1704067212\nm v=5i 1704067216',
    { hidden: true },
  ),
  GET('/recordings/r1', { until: 202, hidden: true }),
];
const RECC = [...rm('t1'), ['DELETE', '/replays/p1'], ['DELETE', '/recordings/r1']];
api(
  'replay',
  'stream with recorded time',
  [
    ...REC,
    POST('/replays', { id: 'p1', task: 't1', recording: 'r1', 'recording-time': true }),
    GET('/replays/p1', { until: 202, hidden: true }),
    GET('/replays?fields=id&fields=status&fields=task&fields=recording&fields=clock'),
    POST('/replays', { id: 'p1', task: 't1', recording: 'r1' }),
    DEL('/replays/p1'),
    GET('/replays/p1'),
  ],
  RECC,
);
api(
  'replay',
  'clock and time',
  [
    ...REC,
    POST('/replays', { id: 'p1', task: 't1', recording: 'r1', clock: 'slow' }),
    POST('/replays', {
      id: 'p1',
      task: 't1',
      recording: 'r1',
      clock: 'fast',
      'recording-time': 'yes',
    }),
  ],
  RECC,
);

// ---------------------------------------------------------------- alerts
const HS = (id, x = {}) => ({ id, kind: 'log', options: { path: '/tmp/oracle-h.log' }, ...x });
const AT = '{{PREVIEW}}/alerts/topics';
const rmh = (...t) => t.map((x) => ['DELETE', `${AT}/${x}`]);
api('alerts', 'no topics', [
  GET(AT),
  GET(AT + '?pattern=x*'),
  GET(AT + '/nope'),
  GET(AT + '/nope/events'),
  GET(AT + '/nope/handlers'),
  GET(AT + '/nope/handlers/h'),
  GET(AT + '/nope/events/e'),
  DEL(AT + '/nope'),
]);
api('alerts', 'bad parameters', [
  GET(AT + '?min-level=LOUD'),
  GET(AT + '?min-level=warning'),
  GET(AT + '?min-level=CRIT'),
  GET(AT + '?pattern=['),
]);
api(
  'alerts',
  'handler life',
  [
    POST(AT + '/x1/handlers', HS('h1')),
    GET(AT + '/x1/handlers/h1'),
    GET(AT + '/x1/handlers'),
    GET(AT + '/x1'),
    GET(AT + '?pattern=x1'),
    DEL(AT + '/x1/handlers/h1'),
    GET(AT + '/x1/handlers/h1'),
    GET(AT + '/x1/handlers'),
    DEL(AT + '/x1/handlers/h1'),
  ],
  rmh('x1'),
);
api(
  'alerts',
  'handler with match',
  [
    POST(AT + '/x1/handlers', HS('h1', { match: 'level() >= WARNING' })),
    POST(AT + '/x1/handlers', HS('h2', { match: 'level( ) ==' })),
  ],
  [['DELETE', AT + '/x1/handlers/h1'], ['DELETE', AT + '/x1/handlers/h2'], ...rmh('x1')],
);
api(
  'alerts',
  'handler errors',
  [
    POST(AT + '/x1/handlers', '{'),
    POST(AT + '/x1/handlers', {}),
    POST(AT + '/x1/handlers', { id: 'h', options: {} }),
    POST(AT + '/x1/handlers', { kind: 'log' }),
    POST(AT + '/x1/handlers', HS('h', { kind: 'pigeon' })),
    POST(AT + '/x1/handlers', HS('a b')),
    POST(AT + '/x1/handlers', HS('h', { options: { nope: 1 } })),
    POST(AT + '/x1/handlers', HS('h', { options: { path: 'relative' } })),
  ],
  [['DELETE', AT + '/x1/handlers/h'], ...rmh('x1')],
);
api(
  'alerts',
  'handler patch',
  [
    POST(AT + '/x1/handlers', HS('h1'), { hidden: true }),
    PATCH(AT + '/x1/handlers/h1', [
      { op: 'replace', path: '/options/path', value: '/tmp/oracle-other.log' },
    ]),
    PATCH(AT + '/x1/handlers/h1', [{ op: 'add', path: '/match', value: 'changed()' }]),
    PATCH(AT + '/x1/handlers/h1', [{ op: 'remove', path: '/match' }]),
    PATCH(AT + '/x1/handlers/h1', '{'),
    PATCH(AT + '/x1/handlers/h1', [{ op: 'replace', path: '/nope/x', value: 1 }]),
    PATCH(AT + '/x1/handlers/h1', [{ op: 'replace', path: '/kind', value: 'pigeon' }]),
    PATCH(AT + '/x1/handlers/nope', []),
    GET(AT + '/x1/handlers/h1'),
  ],
  [['DELETE', AT + '/x1/handlers/h1'], ...rmh('x1')],
);
api(
  'alerts',
  'handler put',
  [
    POST(AT + '/x1/handlers', HS('h1'), { hidden: true }),
    PUT(AT + '/x1/handlers/h1', HS('h1', { kind: 'tcp', options: { address: '127.0.0.1:9' } })),
    PUT(AT + '/x1/handlers/h1', HS('h2')),
    GET(AT + '/x1/handlers'),
    PUT(AT + '/x1/handlers/nope', HS('nope')),
    PUT(AT + '/x1/handlers/h2', '{'),
  ],
  [['DELETE', AT + '/x1/handlers/h1'], ['DELETE', AT + '/x1/handlers/h2'], ...rmh('x1')],
);
api(
  'alerts',
  'handler list with pattern',
  [
    POST(AT + '/x1/handlers', HS('ha'), { hidden: true }),
    POST(AT + '/x1/handlers', HS('hb'), { hidden: true }),
    GET(AT + '/x1/handlers?pattern=*b'),
    GET(AT + '/x1/handlers?pattern=['),
    GET(AT + '/x1/handlers'),
  ],
  [['DELETE', AT + '/x1/handlers/ha'], ['DELETE', AT + '/x1/handlers/hb'], ...rmh('x1')],
);
const EV = [
  POST(
    '/tasks',
    T('t1', {
      status: 'enabled',
      script: `stream|from().measurement('m').groupBy('h')|alert().topic('x1').id('{{ index .Tags "h" }}').message('{{ .ID }} {{ .Level }}').details('d').info(lambda: "v" > 1).warn(lambda: "v" > 2).crit(lambda: "v" > 3)`,
    }),
    { hidden: true },
  ),
  POST(
    '/write?db=d&rp=r&precision=s',
    'm,h=a v=4i 1704067200\nm,h=b v=2i 1704067201\nm,h=c v=3i 1704067202\nm,h=b v=0i 1704067203',
    { hidden: true },
  ),
  { sleepMs: 150 },
];
api(
  'alerts',
  'one event',
  [
    POST(
      '/tasks',
      T('t1', {
        status: 'enabled',
        script: `stream|from().measurement('m')|alert().topic('x1').id('e1').message('{{ .Level }}').details('d').crit(lambda: "v" > 3)`,
      }),
      { hidden: true },
    ),
    POST('/write?db=d&rp=r&precision=s', 'm v=4i 1704067200\nm v=4i 1704067260', { hidden: true }),
    { sleepMs: 150 },
    GET(AT + '/x1'),
    GET(AT + '/x1/events'),
    GET(AT + '/x1/events/e1'),
    GET(AT + '/x1/events/nope'),
    GET(AT + '/x1/events?min-level=CRITICAL'),
    GET(AT + '/x1/events?min-level=LOUD'),
    GET(AT + '?pattern=x1&min-level=CRITICAL'),
    DEL(AT + '/x1'),
    GET(AT + '/x1'),
  ],
  [...rm('t1'), ...rmh('x1')],
);
api(
  'alerts',
  'single events of several',
  [...EV, GET(AT + '/x1/events/a'), GET(AT + '/x1/events/b'), GET(AT + '/x1/events/c')],
  [...rm('t1'), ...rmh('x1')],
);
api(
  'alerts',
  'events stay when the task is deleted',
  [...EV, DEL('/tasks/t1'), GET(AT + '/x1/events/a')],
  [...rm('t1'), ...rmh('x1')],
);
api('alerts', 'preview path falls back', [
  GET('{{PREVIEW}}/ping'),
  GET('{{PREVIEW}}/tasks?pattern=nope'),
  GET('{{PREVIEW}}/nothing'),
]);

// ---------------------------------------------------------------- config, service tests, storage, misc
const rd = (section) => [['POST', `/config/${section}`, '']];
api('config', 'get', [
  GET('/config/smtp'),
  GET('/config/smtp/'),
  GET('/config/nope'),
  GET('/config/smtp/x'),
  GET('/config/talk'),
]);
api(
  'config',
  'set and delete',
  [
    POST(
      '/config/smtp/',
      { set: { host: 'mail.example', port: 2525, to: ['a@b.example'] } },
      { hidden: true },
    ),
    GET('/config/smtp/'),
    POST('/config/smtp/', { delete: ['port'] }, { hidden: true }),
    GET('/config/smtp/'),
    POST('/config/smtp/', { delete: ['host', 'to'] }, { hidden: true }),
    GET('/config/smtp/'),
  ],
  [['POST', '/config/smtp/', { delete: ['host', 'port', 'to'] }]],
);
api(
  'config',
  'redaction',
  [
    GET('/config/smtp/'),
    POST('/config/smtp/', { set: { password: 'secret' } }, { hidden: true }),
    GET('/config/smtp/'),
    POST('/config/smtp/', { delete: ['password'] }, { hidden: true }),
    GET('/config/smtp/'),
  ],
  [['POST', '/config/smtp/', { delete: ['password'] }]],
);
api(
  'config',
  'errors',
  [
    POST('/config/smtp/', '{'),
    POST('/config/nope/', { set: { a: 1 } }),
    POST('/config/smtp/', { set: { nope: 1 } }),
    POST('/config/smtp/', { set: { port: -1 } }),
    POST('/config/smtp/', { set: { port: 'abc' } }),
    POST('/config/smtp', { set: { port: 5 } }),
    POST('/config/smtp/', { add: { x: 1 } }),
    POST('/config/smtp', { add: { host: 'x' } }),
    POST('/config/smtp/x', { set: { port: 5 } }),
    POST('/config/smtp/', { set: { port: 5 }, add: { a: 1 } }),
    POST('/config/', {}),
    DEL('/config/smtp'),
  ],
  [['POST', '/config/smtp/', { delete: ['port'] }]],
);
api(
  'config',
  'string conversion',
  [
    ...[{ port: '2626' }, { 'idle-timeout': '5s' }, { global: 'true' }, { username: 5 }].map(
      (set) => POST('/config/smtp/', { set }, { hidden: true }),
    ),
    GET('/config/smtp/'),
  ],
  [['POST', '/config/smtp/', { delete: ['port', 'global', 'idle-timeout', 'username'] }]],
  { note: 'four updates: which of them are accepted shows in the result' },
);
api(
  'config',
  'list section add and remove',
  [
    GET('/config/httppost'),
    POST(
      '/config/httppost',
      { add: { endpoint: 'oracle', url: 'http://127.0.0.1:9/x', headers: { a: 'b' } } },
      { hidden: true },
    ),
    GET('/config/httppost/oracle'),
    GET('/config/httppost'),
    POST('/config/httppost/oracle', { set: { url: 'http://127.0.0.1:9/y' } }, { hidden: true }),
    GET('/config/httppost/oracle'),
    POST('/config/httppost', { remove: ['oracle'] }, { hidden: true }),
    GET('/config/httppost/oracle'),
  ],
  [['POST', '/config/httppost', { remove: ['oracle'] }]],
);
api(
  'config',
  'list section errors',
  [
    POST('/config/httppost', { add: { url: 'http://127.0.0.1:9/x' } }),
    POST('/config/httppost', { add: { endpoint: 5 } }),
    POST('/config/httppost/new', { add: { endpoint: 'new' } }),
    POST('/config/httppost/nope', { set: { url: 'x' } }),
    POST('/config/httppost/oracle', { remove: ['oracle'] }),
  ],
  [['POST', '/config/httppost', { remove: ['nope', 'new', 'oracle'] }]],
);
api(
  'config',
  'redacted basic auth',
  [
    POST(
      '/config/httppost',
      {
        add: {
          endpoint: 'oracle',
          url: 'http://127.0.0.1:9/x',
          'basic-auth': { username: 'u', password: 'p' },
        },
      },
      { hidden: true },
    ),
    GET('/config/httppost/oracle'),
  ],
  [['POST', '/config/httppost', { remove: ['oracle'] }]],
);
for (const s of [
  'victorops',
  'pagerduty',
  'pagerduty2',
  'pushover',
  'telegram',
  'opsgenie',
  'opsgenie2',
  'alerta',
  'hipchat',
  'sensu',
  'snmptrap',
  'mqtt',
  'talk',
])
  api('config', `defaults of ${s}`, [GET('/config/' + s)]);
api('service tests', 'absent and bad', [
  GET('/service-tests/nope'),
  POST('/service-tests/nope', {}),
  GET('/service-tests?pattern=['),
  GET('/service-tests?pattern=s*'),
  GET('/service-tests?pattern=nope'),
  POST('/service-tests/smtp', '{'),
]);
api(
  'service tests',
  'disabled services',
  [
    'victorops',
    'pagerduty',
    'pagerduty2',
    'pushover',
    'telegram',
    'opsgenie',
    'opsgenie2',
    'alerta',
    'hipchat',
    'sensu',
    'snmptrap',
    'talk',
    'smtp',
  ].map((s) => POST('/service-tests/' + s, {})),
);
for (const s of [
  'alerta',
  'hipchat',
  'httppost',
  'opsgenie',
  'opsgenie2',
  'pagerduty',
  'pushover',
  'sensu',
  'smtp',
  'snmptrap',
  'talk',
  'telegram',
  'victorops',
])
  api('service tests', `options of ${s}`, [GET('/service-tests/' + s)]);
api('storage', 'stores', [
  GET('/storage'),
  POST('/storage/stores/tasks', { action: 'rebuild' }),
  POST('/storage/stores/nope', { action: 'rebuild' }),
  POST('/storage/stores/tasks', { action: 'polish' }),
  POST('/storage/stores/tasks', '{'),
]);
api('misc', 'ping', [GET('/ping'), S('HEAD', '/ping'), POST('/ping', '')]);
api('misc', 'write', [
  POST('/write?db=d&rp=r', 'm v=1 1'),
  POST('/write?rp=r', 'm v=1 1'),
  POST('/write?db=d', 'm v=1 1'),
  POST('/write?db=d&rp=r', ''),
  POST('/write?db=d&rp=r', 'm'),
  POST('/write?db=d&rp=r', 'm v='),
  POST('/write?db=d&rp=r', 'm v=1 abc'),
  POST('/write?db=d&rp=r', 'm v=1 1\nbad\nm v=2 2'),
  POST('/write?db=d&rp=r&precision=zz', 'm v=1 1'),
  POST('!/write?db=d&rp=r', 'm v=1 1'),
  GET('/write?db=d'),
]);
api(
  'misc',
  'log level',
  [
    POST('/loglevel', { level: 'LOUD' }),
    POST('/loglevel', '{'),
    POST('/loglevel', { level: 'info' }),
  ],
  [['POST', '/loglevel', { level: 'info' }]],
);
api('misc', 'options request', [S('OPTIONS', '/tasks')]);
for (const [n, p] of [
  ['ns', 'n'],
  ['microseconds', 'u'],
  ['milliseconds', 'ms'],
  ['seconds', 's'],
  ['minutes', 'm'],
  ['hours', 'h'],
]) {
  const f = { n: 1e9, u: 1e6, ms: 1e3, s: 1, m: 1 / 60, h: 1 / 3600 }[p];
  st('write/precision', n, `stream|from().measurement('m')${EMIT}`, [
    { db: 'd', rp: 'r', precision: p, lines: [`m v=1i ${BigInt(Math.round(T0 * f))}`] },
  ]);
}
st('write/precision', 'default', `stream|from().measurement('m')${EMIT}`, [
  { db: 'd', rp: 'r', lines: ['m v=1i 1704067200000000000'] },
]);
const wl = (name, ...lines) =>
  st('write/line', name, `stream|from()${EMIT}`, [{ db: 'd', rp: 'r', precision: 's', lines }]);
wl('field types', `m i=5i,f=5,g=5.5,s="x",t=true,u=T,v=false,w=F ${T0}`);
wl('escapes', String.raw`m\ n\,o,t\ a=v\,b\=c f\ 1="q\"u\\o" ${T0}`);
wl('comments and blank lines', `# note`, ``, `m v=1 ${T0}`);
wl('one bad line', `m v=1 ${T0}`, `m v=x ${T0}`, `m v=3 ${T0}`);
wl('tags unsorted', `m,z=1,a=2 v=1 ${T0}`);
wl('same measurement many points', ...[0, 1, 2].map((i) => `m v=${i}i ${T0 + i}`));
wl('unsigned integer', `m v=5u ${T0}`);
wl('newline in string', `m s="a\nb" ${T0}`);

// ================================================================ DOT
const dot = (name, script, extra = {}) =>
  add({ group: 'dot', name, type: 'dot', ...extra, script });
dot('single from', `stream|from()`);
dot(
  'branches',
  `var a = stream|from()\na|window().period(1s).every(1s)|mean('v')|httpOut('x')\na|eval(lambda: 1).as('b')|alert().crit(lambda: TRUE)`,
);
dot(
  'join',
  `var a = stream|from().measurement('a')\nvar b = stream|from().measurement('b')\na|join(b).as('a', 'b')|union(a)`,
);
dot(
  'names of nodes',
  `stream|from()|where(lambda: TRUE)|groupBy('h')|sample(1)|derivative('v')|changeDetect('v')|stateCount(lambda: TRUE)|stateDuration(lambda: TRUE)|default().field('a', 1)|delete().field('b')|shift(1s)|flatten().on('h')|combine(lambda: TRUE).as('c')|log()|httpOut('o')|httpPost('http://127.0.0.1:9/')|barrier().idle(1s)|influxDBOut()`,
);
dot(
  'influxql names',
  `var w = stream|from()|window().period(1s).every(1s)\nw|mean('v')\nw|top(1, 'v')\nw|holtWinters('v', 1, 0, 1s)\nw|holtWintersWithFit('v', 1, 0, 1s)\nw|movingAverage('v', 2)\nw|cumulativeSum('v')\nw|elapsed('v', 1s)\nw|difference('v')`,
);
dot('loopback', `stream|from()|kapacitorLoopback().database('x').retentionPolicy('y')`);
dot('stats', `var a = stream|from()\na|stats(10s)|httpOut('x')`);
dot('batch', `batch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s)|mean('v')`, {
  taskType: 'batch',
});
dot(
  'two queries',
  `var a = batch|query('SELECT v FROM "d"."r"."m"').period(1s).every(1s)\nvar b = batch|query('SELECT v FROM "d"."r"."n"').period(1s).every(1s)\na|join(b).as('a', 'b')`,
  { taskType: 'batch' },
);
dot('running', `stream|from().measurement('m')|where(lambda: "v" > 1)|httpOut('x')`, {
  writes: one('m v=1i @0', 'm v=2i @1'),
});
dot(
  'running with groups',
  `stream|from().measurement('m').groupBy('h')|window().period(10s).every(10s)|count('v')|alert().info(lambda: TRUE)`,
  { writes: one('m,h=a v=1i @0', 'm,h=b v=2i @1', 'm,h=a v=2i @11') },
);

// ================================================================ restarts of a task
const req = (method, path, body) => ({ request: { method, path: '{{BASE}}' + path, body } });
const OFF = req('PATCH', '/tasks/oracle', { status: 'disabled' }),
  ON = req('PATCH', '/tasks/oracle', { status: 'enabled' });
const restart = [OFF, ON];
const rs = (name, chain, w, extra) =>
  st('restart', name, `stream|from().measurement('m').groupBy('h')${chain}`, w, extra);
const RA = `|alert().id('{{ index .Tags "h" }}').message('{{ .Level }} {{ .Duration }}').details('').warn(lambda: "v" > 1).crit(lambda: "v" > 2)`;
rs('alert level is restored', RA + `.stateChangesOnly().post('{{SINK}}/alert')`, [
  ...seq('m,h=a v=3i @0', 'm,h=b v=2i @1'),
  ...restart,
  ...seq('m,h=a v=3i @10', 'm,h=b v=0i @11', 'm,h=a v=0i @12'),
]);
rs('recovery before restart is kept', RA + `.stateChangesOnly().post('{{SINK}}/alert')`, [
  ...seq('m,h=a v=3i @0', 'm,h=a v=0i @1'),
  ...restart,
  ...seq('m,h=a v=0i @10', 'm,h=a v=2i @11'),
]);
rs(
  'restored from a named topic',
  RA + `.topic('base').stateChangesOnly()`,
  [...seq('m,h=a v=3i @0'), ...restart, ...seq('m,h=a v=3i @10', 'm,h=a v=0i @12')],
  { handlers: [H('base', 'one', ...post('one'))], topics: true },
);
rs('without state changes only', RA + `.post('{{SINK}}/alert')`, [
  ...seq('m,h=a v=3i @0', 'm,h=a v=3i @5'),
  ...restart,
  ...seq('m,h=a v=3i @10', 'm,h=a v=0i @12'),
]);
rs(
  'reset lambda after restart',
  `|alert().id('x').message('{{ .Level }}').details('').crit(lambda: "v" > 2).critReset(lambda: "v" < 1).post('{{SINK}}/alert')`,
  [...seq('m,h=a v=3i @0'), ...restart, ...seq('m,h=a v=2i @10', 'm,h=a v=0i @12')],
);
rs('window is lost', `|window().period(10s).every(10s)|sum('v')${EMIT}`, [
  ...seq('m,h=a v=1i @0', 'm,h=a v=2i @5'),
  ...restart,
  ...seq('m,h=a v=4i @9', 'm,h=a v=8i @12', 'm,h=a v=16i @20'),
]);
rs('counters are lost', `|eval(lambda: count()).as('c')${EMIT}`, [
  ...seq('m,h=a v=1i @0', 'm,h=a v=2i @5'),
  ...restart,
  ...seq('m,h=a v=4i @9'),
]);
rs('derivative starts again', `|derivative('v')${EMIT}`, [
  ...seq('m,h=a v=1i @0', 'm,h=a v=2i @5'),
  ...restart,
  ...seq('m,h=a v=4i @9', 'm,h=a v=8i @10'),
]);
rs('rows of httpOut are lost', `|httpOut('last')`, [...seq('m,h=a v=1i @0'), ...restart]);
rs('data while disabled is lost', EMIT, [
  ...seq('m,h=a v=1i @0'),
  OFF,
  { db: 'd', rp: 'r', precision: 's', lines: [at('m,h=a v=2i @1')], noWait: true },
  { sleepMs: 50 },
  ON,
  ...seq('m,h=a v=3i @2'),
]);
rs('script change needs a restart', EMIT, [
  req('PATCH', '/tasks/oracle', {
    script: `stream|from().measurement('m')|eval(lambda: "v" * 10).as('x')|httpPost('{{SINK}}/emit')`,
  }),
  ...seq('m,h=a v=1i @0'),
  ...restart,
  ...seq('m,h=a v=2i @1'),
]);
rs('new dbrps need a restart', EMIT, [
  req('PATCH', '/tasks/oracle', { dbrps: [{ db: 'z', rp: 'z' }] }),
  ...seq('m,h=a v=1i @0'),
  ...restart,
  ...seq('m,h=a v=2i @1'),
  { db: 'z', rp: 'z', precision: 's', lines: [at('m,h=a v=3i @2')] },
]);
gr(
  'node/barrier',
  'delete removes the row of httpOut',
  `|barrier().idle(1s).delete(TRUE)|httpOut('last')`,
  [...seq('m,h=a v=1i @0', 'm,h=b v=1i @1')],
  { waitMs: 1500 },
);
gr(
  'node/barrier',
  'delete frees a count window',
  `|barrier().idle(1s).delete(TRUE)|window().periodCount(3).everyCount(3)|count('v')`,
  [
    ...seq('m,h=a v=1i @0', 'm,h=a v=1i @1'),
    { sleepMs: 1400 },
    ...seq('m,h=a v=1i @10', 'm,h=a v=1i @11', 'm,h=a v=1i @12'),
  ],
);
gr(
  'node/barrier',
  'idle advances a join',
  `|barrier().idle(1s)|eval(lambda: "v").as('v')|join(stream|from().measurement('n').groupBy('h')|barrier().idle(1s)).as('a', 'b').fill(0)`,
  seq('m,h=a v=1i @0', 'n,h=a v=2i @0', 'm,h=a v=3i @1'),
  { waitMs: 2600 },
);

// more grouping of batches
const bm = (name, chain, extra) =>
  bn(name, chain, {
    db: [
      {
        responses: [
          ans(
            ser('cpu', { h: 'a', k: '1' }, [
              [0, 1],
              [5, 3],
            ]),
            ser('cpu', { h: 'a', k: '2' }, [[1, 10]]),
            ser('mem', { h: 'b', k: '1' }, [[2, 7]]),
          ),
          ans(ser('cpu', { h: 'a', k: '1' }, [[10, 5]])),
          ans(ser('cpu', { h: 'a', k: '1' }, [[20, 9]])),
        ],
      },
    ],
    props: `.period(10s).every(10s).groupBy('h', 'k')`,
    sortEmissions: true,
    note: 'the order of the groups of one time is not defined',
    ...extra,
  });
bm('groupBy one of two tags', `|groupBy('h')|sum('v')`);
bm('groupBy star', `|groupBy(*)|sum('v')`);
bm('groupBy star exclude', `|groupBy(*).exclude('k')|sum('v')`);
bm('groupBy measurement', `|groupBy().byMeasurement()|sum('v')`);
bm('groupBy keeps row order by time', `|groupBy('h')`);
bm('groupBy absent tag', `|groupBy('zz')|count('v')`);

// recordings and replays of queries
const CPU3 = [
  {
    responses: [
      ans(
        ser('cpu', { h: 'a' }, [
          [0, 1],
          [5, 3],
        ]),
        ser('cpu', { h: 'b' }, [[1, 10]]),
      ),
    ],
    repeat: true,
  },
];
const XT = (x) => POST('/tasks', T('t1', { script: x }), { hidden: true });
api(
  'recording',
  'query',
  [
    POST('/recordings/query', {
      id: 'r1',
      type: 'stream',
      query: 'SELECT v FROM "d"."r"."cpu" GROUP BY h',
    }),
    GET('/recordings/r1', { until: 202, normSize: true }),
    DEL('/recordings/r1'),
    POST('/recordings/query', { id: 'r2', type: 'batch', query: 'SELECT v FROM "d"."r"."cpu"' }),
    GET('/recordings/r2', { until: 202, normSize: true }),
    POST('/recordings/query', { id: 'r3', type: 'stream', query: 'SELECT v FROM cpu' }),
    GET('/recordings/r3', { until: 202, normSize: true }),
  ],
  ['r1', 'r2', 'r3'].map((r) => ['DELETE', '/recordings/' + r]),
  { db: CPU3 },
);
api(
  'replay',
  'query into a stream task',
  [
    XT(
      `stream|from().measurement('cpu').groupBy('h')|alert().topic('x1').id('{{ index .Tags "h" }}').message('{{ index .Fields "v" }}').details('').info(lambda: TRUE)`,
    ),
    POST(
      '/replays/query',
      {
        id: 'p1',
        task: 't1',
        query: 'SELECT v FROM "d"."r"."cpu" GROUP BY h',
        'recording-time': true,
      },
      { hidden: true },
    ),
    GET('/replays/p1', { until: 202, hidden: true }),
    { sleepMs: 100 },
    GET('/replays?fields=id&fields=status&fields=error'),
    GET(AT + '/x1/events/a'),
    GET(AT + '/x1/events/b'),
  ],
  [...rm('t1'), ['DELETE', '/replays/p1'], ...rmh('x1')],
  { db: CPU3 },
);
api(
  'replay',
  'stream events of a replay',
  [
    XT(
      `stream|from().measurement('m')|window().period(5s).every(5s)|sum('v')|alert().topic('x1').id('e').message('{{ index .Fields "sum" }}').details('').info(lambda: TRUE)`,
    ),
    POST(
      '/recordings/stream',
      { id: 'r1', task: 't1', stop: '2024-01-01T00:00:15Z' },
      { hidden: true },
    ),
    POST(
      '/write?db=d&rp=r&precision=s',
      'm v=1i 1704067200\nm v=2i 1704067204\nm v=3i 1704067206\nm v=4i 1704067212\nm v=5i 1704067216',
      { hidden: true },
    ),
    GET('/recordings/r1', { until: 202, hidden: true }),
    POST(
      '/replays',
      { id: 'p1', task: 't1', recording: 'r1', 'recording-time': true },
      { hidden: true },
    ),
    GET('/replays/p1', { until: 202, hidden: true }),
    { sleepMs: 100 },
    GET('/replays?fields=id&fields=status&fields=error'),
    GET(AT + '/x1'),
    GET(AT + '/x1/events/e'),
  ],
  [...RECC, ...rmh('x1')],
  { note: 'the last window is not flushed at the end of the recording' },
);
api(
  'replay',
  'task which fails',
  [
    XT(`stream|from().measurement('m')|window()`),
    POST(
      '/recordings/stream',
      { id: 'r1', task: 't1', stop: '2024-01-01T00:00:05Z' },
      { hidden: true },
    ),
    POST('/write?db=d&rp=r&precision=s', 'm v=1i 1704067200\nm v=3i 1704067206', { hidden: true }),
    GET('/recordings/r1', { until: 202, hidden: true }),
    POST('/replays', { id: 'p1', task: 't1', recording: 'r1' }, { hidden: true }),
    GET('/replays/p1', { until: 202, hidden: true }),
    GET('/replays?fields=id&fields=status&fields=error&fields=progress'),
  ],
  RECC,
);
api(
  'recording',
  'two recordings are listed newest first',
  [
    POST(
      '/recordings/query',
      { id: 'r1', type: 'batch', query: 'SELECT v FROM "d"."r"."cpu"' },
      { hidden: true },
    ),
    GET('/recordings/r1', { until: 202, hidden: true }),
    { sleepMs: 1100 },
    POST(
      '/recordings/query',
      { id: 'r0', type: 'batch', query: 'SELECT v FROM "d"."r"."cpu"' },
      { hidden: true },
    ),
    GET('/recordings/r0', { until: 202, hidden: true }),
    GET('/recordings?fields=id'),
    GET('/recordings?fields=id&limit=1'),
    GET('/recordings?fields=id&offset=1'),
    GET('/recordings?fields=id&pattern=*0'),
    GET('/recordings?fields=nope'),
  ],
  ['r1', 'r0'].map((r) => ['DELETE', '/recordings/' + r]),
  { db: CPU3 },
);

export default cases;
