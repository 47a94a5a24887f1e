// The two hundred tasks of the runtime's soak: every kind of node that keeps state, each in several
// sizes.
const FROM = `stream|from().measurement('cpu')`;
const BY_HOST = `${FROM}.groupBy('host')`;

/** Scripts by a number that makes each of them a little different. */
const KINDS: readonly ((n: number) => string)[] = [
  (n) => `${BY_HOST}|window().period(${n + 1}h).every(1h)|mean('usage')|httpOut('o')`,
  (n) =>
    `${BY_HOST}|window().period(${n + 1}h).every(30m).align()|percentile('usage', 90.0)|httpOut('o')`,
  (n) => `${BY_HOST}|window().periodCount(${n + 5}).everyCount(5)|sum('usage')|httpOut('o')`,
  (n) =>
    `${BY_HOST}|stateDuration(lambda: "usage" > ${n}.0)|stateCount(lambda: "usage" > ${n}.0)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|derivative('usage').unit(${n + 1}s).as('d')|movingAverage('d', ${n + 2})|httpOut('o')`,
  (n) => `${BY_HOST}|changeDetect('state')|sample(${n + 1})|elapsed('state', 1s)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|alert().warn(lambda: "usage" > ${60 + n}.0).crit(lambda: sigma("usage") > 2.0).stateChangesOnly().topic('t')`,
  (n) =>
    `${BY_HOST}|alert().crit(lambda: "usage" > ${40 + n}.0).history(${n + 5}).flapping(0.2, 0.4).topic('t')`,
  (n) =>
    `var a = ${BY_HOST}\nvar b = stream|from().measurement('mem').groupBy('host')\na|join(b).as('a', 'b').tolerance(${n + 1}s).fill('null')|eval(lambda: isPresent("a.usage")).as('x')|httpOut('o')`,
  (n) =>
    `var a = ${BY_HOST}\nvar b = stream|from().measurement('rack').groupBy('rack')\na|groupBy('host', 'rack')|join(b|shift(${n + 1}ms)).as('a', 'b').on('rack').tolerance(1m).fill(0.0)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|window().period(2h).every(1h)|groupBy('rack')|top(${n + 1}, 'usage', 'host')|httpOut('o')`,
  (n) => `${FROM}.groupBy('rack')|flatten().on('host').tolerance(${n + 1}s)|httpOut('o')`,
  (n) =>
    `${FROM}.groupBy('rack')|combine(lambda: "usage" > ${50 + n}.0, lambda: TRUE).as('x', 'y').tolerance(1s).max(1000)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|barrier().idle(${n + 60}m).delete(TRUE)|window().period(1h).every(1h)|count('usage')|httpOut('o')`,
  (n) => `${BY_HOST}|deadman(0.0, ${n + 5}m)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|eval(lambda: count(), lambda: spread("usage")).as('n', 's').keep()|cumulativeSum('n')|where(lambda: "cumulativeSum" > ${n})|httpOut('o')`,
  (n) =>
    `${BY_HOST}|window().period(1d).every(6h)|holtWinters('usage', ${n + 1}, 0, 1h)|httpOut('o')`,
  (n) =>
    `var a = ${BY_HOST}\nvar b = stream|from().measurement('mem').groupBy('host')\na|union(b)|sample(${n + 1})|httpOut('o')`,
  (n) =>
    `${FROM}|groupBy('host', 'rack')|default().field('extra', ${n}.0).tag('zone', 'z')|delete().tag('rack')|distinct('usage')|httpOut('o')`,
  (n) =>
    `${BY_HOST}|window().period(1h).every(1h)|trickle()|difference('usage')|where(lambda: "difference" > ${n}.0)|httpOut('o')`,
  (n) =>
    `${BY_HOST}|mean('usage')|eval(lambda: "mean" * ${n}.0).as('x').tags().keep()|log().level('DEBUG')|httpOut('o')`,
];

/** As many scripts as asked for. */
export function soakScripts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => {
    const kind = KINDS[i % KINDS.length];
    return kind === undefined ? '' : kind(Math.floor(i / KINDS.length));
  });
}
