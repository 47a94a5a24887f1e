// Scripts composed from the constructs of the language: mostly valid, with typical mistakes. They
// contain constructs that mutated recordings do not reach: divisions by fields, guards of missing
// ones, names and groups after unions and joins, joins of one node with itself, cron schedules,
// templates with parts, and functions with arguments of every kind.
import fc from 'fast-check';

const pick = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

/** A text with a hole for each `_`. */
function filled(text: string, ...holes: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  const parts = text.split('_');
  return fc
    .tuple(...holes)
    .map((values) => parts.map((part, i) => part + (values[i] ?? '')).join(''));
}

/**
 * References of the sample points: `n` is an integer, `s` a text, `b` a boolean, each absent at
 * times.
 */
const FIELDS = ['v', 'w', 'n', 's', 'b', 'h', 'k', 'x'];
const TAGS = ['h', 'k', 'zz'];

const field = pick(...FIELDS);
const tag = pick(...TAGS);
const duration = pick('1u', '500ms', '1s', '2s', '7s', '1m', '1w', '0s');
const count = pick('0', '1', '2', '3', '10', '-1');

const { number, condition } = fc.letrec<{ number: string; condition: string }>((tie) => ({
  number: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    pick('"v"', '"w"', '"n"', '1', '2.5', '0.0', '0', '0777', 'count()', 'unixNano("time")'),
    filled('_ _ _', tie('number'), pick('+', '-', '*', '/', '%'), tie('number')),
    filled('(_ _ _)', tie('number'), pick('/', '*'), tie('number')),
    filled('-_', pick('"v"', '"n"', '1', 'TRUE', "'a'", '"time"', '1s')),
    filled('_ + _', tie('number'), duration),
    filled('_(_)', pick('float', 'int', 'sqrt', 'sigma', 'abs', 'j0', 'erfc'), tie('number')),
    filled('_(_, _)', pick('pow', 'jn', 'max', 'mod'), tie('number'), tie('number')),
    filled('if(_, _, _)', tie('condition'), tie('number'), tie('number')),
  ),
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    pick('TRUE', '"b"', '"h" == \'a\'', '"s" =~ /a.c/', 'isPresent("x")', '!"b"', '!5'),
    filled('_ _ _', tie('number'), pick('>', '<=', '==', '!='), tie('number')),
    filled('_ _ _', tie('condition'), pick('AND', 'OR'), tie('condition')),
    filled('!isPresent("_") OR !"_"', field, field),
    filled('!(_)', fc.oneof(tie('number'), tie('condition'))),
    filled('_ // why\n AND _', tie('condition'), tie('condition')),
    filled('(_)', tie('condition')),
  ),
}));

const template = pick(
  '{{ .Name }}:{{ .Group }}',
  '{{ index .Fields "v" | printf "%.1f" }}',
  '{{ printf "%[2]d %*d" 1 2 3 }}',
  '{{ define "p" }}[{{ . }}]{{ end }}{{ template "p" .Name }}',
  '{{ block "p" .Tags }}{{ index . "h" }}{{ end }}',
  '{{ range $k, $v := .Tags }}{{ $k }}={{ $v }} {{ end }}',
  '{{ json . }}',
  '{{ index .Tags "h" | html }} {{ .Tags.none | html }} {{ html .Name }}',
  '{{ printf "%#v %U %#U %#v" .Tags 65 8364 .Fields }}',
  '{{ template "absent" }}',
  '{{ nil }}',
);

const alert = fc
  .tuple(
    pick('.crit', '.warn', '.info'),
    condition,
    fc.array(
      fc.oneof(
        filled(".message('_')", template),
        filled(".id('_')", template),
        filled(".details('_')", template),
        pick('.flapping(0.1, 0.3).history(5)', '.stateChangesOnly()', '.stateChangesOnly(2s)'),
        pick(".levelTag('h')", ".durationField('v')", '.all()', '.noRecoveries()', '.info'),
        pick(".inhibit('', 'h')", ".inhibit('c')", ".category('c')"),
        pick(
          '.flapping(0.8, 0.8).history(2)',
          '.flapping(0.25, 0.5)',
          ".log('/x').post('http://a')",
        ),
      ),
      { maxLength: 4 },
    ),
  )
  .map(([level, test, more]) => `|alert()${level}(lambda: ${test})${more.join('')}.topic('t')`);

const aggregate = fc.oneof(
  filled("|_('_')", pick('count', 'sum', 'mean', 'median', 'mode', 'spread', 'first'), field),
  filled("|_('_')", pick('last', 'min', 'max', 'stddev', 'distinct', 'difference'), field),
  filled("|_(_, '_', '_')", pick('top', 'bottom'), count, field, tag),
  filled(
    "|_('_', _, _, _)",
    pick('holtWinters', 'holtWintersWithFit'),
    field,
    count,
    count,
    duration,
  ),
  filled("|percentile('_', 50.0)", field),
  filled("|elapsed('_', _)", field, duration),
  filled("|movingAverage('_', _)", field, count),
);

const window = fc.oneof(
  filled(
    '|window().period(_).every(_)_',
    duration,
    duration,
    pick('', '.align()', '.fillPeriod()'),
  ),
  filled('|window().periodCount(_).everyCount(_)', count, count),
);

/** A link of a chain. */
const link = fc.oneof(
  {
    weight: 4,
    arbitrary: filled(
      "|eval(lambda: _).as('_')_",
      number,
      field,
      pick('', '.keep()', ".tags('h')"),
    ),
  },
  filled("|eval(lambda: 'text', lambda: string(_)).as('s', 'x').keep()", number),
  { weight: 3, arbitrary: filled('|where(lambda: _)', condition) },
  { weight: 3, arbitrary: window },
  { weight: 4, arbitrary: aggregate },
  { weight: 2, arbitrary: alert },
  filled("|groupBy('_')", tag),
  pick('|groupBy(*)', "|groupBy('h').byMeasurement()", "|groupBy(*).exclude('k')", '|trickle()'),
  filled('|shift(_)|shift(_)', duration, duration),
  filled("|flatten().on('h', 'k').tolerance(_)", duration),
  filled('|_(lambda: _)', pick('stateCount', 'stateDuration'), condition),
  filled("|combine(lambda: _, lambda: TRUE).as('a', 'b').tolerance(_)", condition, duration),
  filled('|sample(_)', fc.oneof(count, duration)),
  filled("|derivative('_').unit(_)", field, duration),
  filled("|changeDetect('_')", field),
  filled("|default().field('_', 1.0).tag('_', 'd')", field, tag),
  filled("|default().field('v', _).field('v', _)", pick('1h', '0.5'), pick('1h', '0.5')),
  filled("|delete().field('_').tag('_')", field, tag),
  // A microsecond would be millions of barriers.
  filled('|barrier()._(_).delete(TRUE)', pick('idle', 'period'), pick('0s', '500ms', '1s', '1m')),
  filled('|log()_', pick('', ".level('DEBUG')", ".prefix('p')")),
  filled('\n_()', pick('|log', 'log', ' httpOut', '.log')),
);

const chain = fc.array(link, { maxLength: 5 }).map((links) => links.join(''));

const source = fc
  .tuple(
    pick('stream|from()', 'stream\n    |from()', 'stream|from()|from()'),
    pick('', ".measurement('m')", ".measurement('n')"),
    pick('', ".groupBy('h')", ".groupBy('h', 'k')", '.groupBy(*)', '.groupByMeasurement()'),
    fc.oneof(pick(''), filled('.where(lambda: _)', condition), filled('.truncate(_)', duration)),
  )
  .map((parts) => parts.join(''));

const together = fc.oneof(
  filled('a|union(_)_', pick('b', 'a', 'b, a'), pick('', ".rename('u')", ".rename('')")),
  fc
    .tuple(
      pick("a|join(b).as('x', 'y')", "a|join(a, b).as('x', 'y', 'z')", "a|join(a).as('x', 'y')"),
      fc.array(
        fc.oneof(
          pick(".on('h')", '.deleteAll(TRUE)', ".streamName('j')", ".fill('null')", '.fill(0.0)'),
          filled('.tolerance(_)', duration),
        ),
        { maxLength: 4 },
      ),
    )
    .map(([head, more]) => head + more.join('')),
);

const sink = pick(
  "|httpOut('o')",
  "|influxDBOut().database('o').precision('u')",
  "|influxDBOut().database('o').measurement('q').tag('k', 'v')",
  '|log()',
  '',
);

/** Stream tasks. */
export const streamScript: fc.Arbitrary<string> = fc
  .tuple(source, chain, source, chain, fc.oneof(pick('a', 'b'), together), chain, sink)
  .map(
    ([one, first, two, second, joined, last, end]) =>
      `// ${one.length}\nvar a = ${one}${first}\nvar b = ${two}${second}\n${joined}${last}${end}\n`,
  );

const cron = fc
  .array(pick('*', '*/3', '0', '1,5', '15W', 'L', 'JAN,mar', '5L', '1#2', '2026', '59-60', '?'), {
    minLength: 4,
    maxLength: 8,
  })
  .map((fields) => `.cron('${fields.join(' ')}')`);

const batchScript = fc
  .tuple(
    pick(
      'SELECT v FROM "d"."r"."m"',
      'SELECT mean(v) FROM "d"."r"."m" WHERE h = \'a\' OR k = \'b\'',
    ),
    fc.oneof(filled('.every(_)_', duration, pick('', '.align()')), cron),
    pick('', ".groupBy('h')", '.groupBy(time(5s), *)', '.groupByMeasurement()', '.alignGroup()'),
    chain,
    sink,
  )
  .map(
    ([query, schedule, grouping, links, end]) =>
      `batch|query('${query.replaceAll("'", "\\'")}').period(10s)${schedule}${grouping}${links}${end}`,
  );

/** Scripts that do nothing, or name what is not there. */
const strange = pick(
  'var b = stream',
  'var b = stream\nvar a = 1h30m',
  "stream|from().measurement('m')\nhttpOut('x')",
  'stream|from()|alert().info',
  "var a = stream|from()\na.measurement('m')|log()",
  'time(5s)\nstream|from()|log()',
);

/** Whole scripts of the language. */
export const composedScript: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: streamScript },
  { weight: 3, arbitrary: batchScript },
  strange,
);
