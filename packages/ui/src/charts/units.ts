// Units of values, and their number formats. The ids are Grafana's, which people and their
// dashboards know; those with a hyphen are our own.

/** The number format of a unit. */
export type UnitShape =
  /** The number and the suffix. */
  | { readonly kind: 'plain'; readonly suffix: string }
  /** Steps of a thousand before the suffix; the stored unit is `scale` base units. */
  | { readonly kind: 'si'; readonly suffix: string; readonly scale: number }
  /** Steps of 1,024: KiB, MiB. */
  | { readonly kind: 'binary'; readonly suffix: string; readonly scale: number }
  /** A duration in units of `ms` milliseconds. */
  | { readonly kind: 'duration'; readonly ms: number }
  | { readonly kind: 'percent'; readonly factor: number }
  | { readonly kind: 'currency'; readonly symbol: string; readonly isAfter: boolean }
  /** A word for zero and one for anything else. */
  | { readonly kind: 'choice'; readonly no: string; readonly yes: string }
  | { readonly kind: 'number'; readonly style: 'short' | 'locale' | 'exponent' | 'hex' | 'hex0x' }
  /** Milliseconds since 1970. */
  | { readonly kind: 'instant'; readonly style: 'iso' | 'local' | 'fromNow' };

export type UnitRow = {
  readonly id: string;
  readonly name: string;
  readonly shape: UnitShape;
};

export type UnitGroup = { readonly name: string; readonly units: readonly UnitRow[] };

const plain = (suffix: string): UnitShape => ({ kind: 'plain', suffix });
const si = (suffix: string, scale = 1): UnitShape => ({ kind: 'si', suffix, scale });
const binary = (suffix: string, scale = 1): UnitShape => ({ kind: 'binary', suffix, scale });
const duration = (ms: number): UnitShape => ({ kind: 'duration', ms });
const currency = (symbol: string, isAfter = false): UnitShape => ({
  kind: 'currency',
  symbol,
  isAfter,
});
const choice = (no: string, yes: string): UnitShape => ({ kind: 'choice', no, yes });
const number = (style: Extract<UnitShape, { readonly kind: 'number' }>['style']): UnitShape => ({
  kind: 'number',
  style,
});
const instant = (style: Extract<UnitShape, { readonly kind: 'instant' }>['style']): UnitShape => ({
  kind: 'instant',
  style,
});

type Rows = Readonly<Record<string, readonly [name: string, shape: UnitShape]>>;

const group = (name: string, rows: Rows): UnitGroup => ({
  name,
  units: Object.entries(rows).map(([id, [called, shape]]) => ({ id, name: called, shape })),
});

export const UNIT_GROUPS: readonly UnitGroup[] = [
  group('Numbers', {
    none: ['none', number('short')],
    percent: ['percent (0–100)', { kind: 'percent', factor: 1 }],
    percentunit: ['percent (0–1)', { kind: 'percent', factor: 100 }],
    ratio: ['ratio (0–1)', { kind: 'percent', factor: 100 }],
    'per-second': ['per second', si('/s')],
    locale: ['with separators', number('locale')],
    sci: ['scientific', number('exponent')],
    hex: ['hexadecimal', number('hex')],
    hex0x: ['hexadecimal (0x)', number('hex0x')],
    humidity: ['humidity (%H)', plain('%H')],
    dB: ['decibel', plain('dB')],
    candela: ['candela (cd)', si('cd')],
    pixel: ['pixels (px)', plain('px')],
    string: ['text', number('short')],
    sishort: ['steps of a thousand', si('')],
  }),
  group('Data', {
    bytes: ['bytes (KiB)', binary('B')],
    decbytes: ['bytes (kB)', si('B')],
    bits: ['bits (Kib)', binary('b')],
    decbits: ['bits (kb)', si('b')],
    kbytes: ['kibibytes', binary('B', 1024)],
    deckbytes: ['kilobytes', si('B', 1e3)],
    mbytes: ['mebibytes', binary('B', 1024 ** 2)],
    decmbytes: ['megabytes', si('B', 1e6)],
    gbytes: ['gibibytes', binary('B', 1024 ** 3)],
    decgbytes: ['gigabytes', si('B', 1e9)],
    tbytes: ['tebibytes', binary('B', 1024 ** 4)],
    dectbytes: ['terabytes', si('B', 1e12)],
    pbytes: ['pebibytes', binary('B', 1024 ** 5)],
    decpbytes: ['petabytes', si('B', 1e15)],
  }),
  group('Data rate', {
    'bytes-per-second': ['bytes per second (KiB/s)', binary('B/s')],
    binBps: ['bytes per second (KiB/s)', binary('B/s')],
    Bps: ['bytes per second (kB/s)', si('B/s')],
    binbps: ['bits per second (Kib/s)', binary('b/s')],
    bps: ['bits per second (kb/s)', si('b/s')],
    KiBs: ['kibibytes per second', binary('B/s', 1024)],
    Kibits: ['kibibits per second', binary('b/s', 1024)],
    KBs: ['kilobytes per second', si('B/s', 1e3)],
    Kbits: ['kilobits per second', si('b/s', 1e3)],
    MiBs: ['mebibytes per second', binary('B/s', 1024 ** 2)],
    Mibits: ['mebibits per second', binary('b/s', 1024 ** 2)],
    MBs: ['megabytes per second', si('B/s', 1e6)],
    Mbits: ['megabits per second', si('b/s', 1e6)],
    GiBs: ['gibibytes per second', binary('B/s', 1024 ** 3)],
    Gibits: ['gibibits per second', binary('b/s', 1024 ** 3)],
    GBs: ['gigabytes per second', si('B/s', 1e9)],
    Gbits: ['gigabits per second', si('b/s', 1e9)],
    TiBs: ['tebibytes per second', binary('B/s', 1024 ** 4)],
    Tibits: ['tebibits per second', binary('b/s', 1024 ** 4)],
    TBs: ['terabytes per second', si('B/s', 1e12)],
    Tbits: ['terabits per second', si('b/s', 1e12)],
    PiBs: ['pebibytes per second', binary('B/s', 1024 ** 5)],
    Pibits: ['pebibits per second', binary('b/s', 1024 ** 5)],
    PBs: ['petabytes per second', si('B/s', 1e15)],
    Pbits: ['petabits per second', si('b/s', 1e15)],
  }),
  group('Throughput', {
    cps: ['counts per second', si('c/s')],
    ops: ['operations per second', si('ops/s')],
    reqps: ['requests per second', si('req/s')],
    rps: ['reads per second', si('rd/s')],
    wps: ['writes per second', si('wr/s')],
    iops: ['I/O operations per second', si('io/s')],
    eps: ['events per second', si('evt/s')],
    mps: ['messages per second', si('msg/s')],
    recps: ['records per second', si('rec/s')],
    rowsps: ['rows per second', si('rows/s')],
    pps: ['packets per second', si('p/s')],
    cpm: ['counts per minute', si('c/min')],
    opm: ['operations per minute', si('ops/min')],
    reqpm: ['requests per minute', si('req/min')],
    rpm: ['reads per minute', si('rd/min')],
    wpm: ['writes per minute', si('wr/min')],
    epm: ['events per minute', si('evt/min')],
    mpm: ['messages per minute', si('msg/min')],
    recpm: ['records per minute', si('rec/min')],
    rowspm: ['rows per minute', si('rows/min')],
  }),
  group('Time', {
    ns: ['nanoseconds', duration(1e-6)],
    µs: ['microseconds', duration(1e-3)],
    ms: ['milliseconds', duration(1)],
    s: ['seconds', duration(1_000)],
    m: ['minutes', duration(60_000)],
    h: ['hours', duration(3_600_000)],
    d: ['days', duration(86_400_000)],
    dtdurationms: ['duration (ms)', duration(1)],
    dtdurations: ['duration (s)', duration(1_000)],
    dthms: ['duration (hh:mm:ss)', duration(1_000)],
    dtdhms: ['duration (d hh:mm:ss)', duration(1_000)],
    timeticks: ['hundredths of a second', duration(10)],
    clockms: ['clock (ms)', duration(1)],
    clocks: ['clock (s)', duration(1_000)],
    hertz: ['hertz (Hz)', si('Hz')],
    rothz: ['rotations per second (Hz)', si('Hz')],
    rotkhz: ['kilohertz (kHz)', si('Hz', 1e3)],
    rotmhz: ['megahertz (MHz)', si('Hz', 1e6)],
    rotghz: ['gigahertz (GHz)', si('Hz', 1e9)],
    dateTimeAsIso: ['instant (ISO)', instant('iso')],
    dateTimeAsIsoNoDateIfToday: ['instant (ISO, no date if today)', instant('iso')],
    dateTimeAsUS: ['instant (US)', instant('local')],
    dateTimeAsUSNoDateIfToday: ['instant (US, no date if today)', instant('local')],
    dateTimeAsLocal: ['instant (local)', instant('local')],
    dateTimeAsLocalNoDateIfToday: ['instant (local, no date if today)', instant('local')],
    dateTimeAsSystem: ['instant (as chosen)', instant('local')],
    dateTimeFromNow: ['time since', instant('fromNow')],
  }),
  group('Temperature, weather', {
    celsius: ['Celsius (°C)', plain('°C')],
    fahrenheit: ['Fahrenheit (°F)', plain('°F')],
    kelvin: ['kelvin (K)', plain('K')],
    pressurembar: ['millibars', plain('mbar')],
    pressurebar: ['bars', si('bar')],
    pressurekbar: ['kilobars', si('bar', 1e3)],
    pressurehpa: ['hectopascals', plain('hPa')],
    pressurekpa: ['kilopascals', plain('kPa')],
    pressurepa: ['pascals', si('Pa')],
    pressurehg: ['inches of mercury', plain('"Hg')],
    pressurepsi: ['pounds per square inch', plain('psi')],
  }),
  group('Energy', {
    watt: ['watts (W)', si('W')],
    kwatt: ['kilowatts (kW)', si('W', 1e3)],
    megwatt: ['megawatts (MW)', si('W', 1e6)],
    gwatt: ['gigawatts (GW)', si('W', 1e9)],
    mwatt: ['milliwatts (mW)', plain('mW')],
    Wm2: ['watts per square metre', plain('W/m²')],
    voltamp: ['volt-amperes (VA)', si('VA')],
    kvoltamp: ['kilovolt-amperes (kVA)', si('VA', 1e3)],
    voltampreact: ['volt-amperes reactive (var)', si('var')],
    kvoltampreact: ['kilovolt-amperes reactive (kvar)', si('var', 1e3)],
    watth: ['watt-hours (Wh)', si('Wh')],
    watthperkg: ['watt-hours per kilogram', si('Wh/kg')],
    kwatth: ['kilowatt-hours (kWh)', si('Wh', 1e3)],
    kwattm: ['kilowatt-minutes (kWm)', si('W-Min', 1e3)],
    mwatth: ['megawatt-hours (MWh)', si('Wh', 1e6)],
    joule: ['joules (J)', si('J')],
    ev: ['electron volts (eV)', si('eV')],
    amp: ['amperes (A)', si('A')],
    kamp: ['kiloamperes (kA)', si('A', 1e3)],
    mamp: ['milliamperes (mA)', plain('mA')],
    amph: ['ampere-hours (Ah)', si('Ah')],
    kamph: ['kiloampere-hours (kAh)', si('Ah', 1e3)],
    mamph: ['milliampere-hours (mAh)', plain('mAh')],
    volt: ['volts (V)', si('V')],
    kvolt: ['kilovolts (kV)', si('V', 1e3)],
    mvolt: ['millivolts (mV)', plain('mV')],
    dBm: ['decibel-milliwatts (dBm)', plain('dBm')],
    mohm: ['milliohms (mΩ)', si('Ω', 1e-3)],
    ohm: ['ohms (Ω)', si('Ω')],
    kohm: ['kiloohms (kΩ)', si('Ω', 1e3)],
    Mohm: ['megaohms (MΩ)', si('Ω', 1e6)],
    farad: ['farads (F)', si('F')],
    µfarad: ['microfarads (µF)', plain('µF')],
    nfarad: ['nanofarads (nF)', plain('nF')],
    pfarad: ['picofarads (pF)', plain('pF')],
    ffarad: ['femtofarads (fF)', plain('fF')],
    henry: ['henries (H)', si('H')],
    mhenry: ['millihenries (mH)', plain('mH')],
    µhenry: ['microhenries (µH)', plain('µH')],
    lumens: ['lumens (lm)', si('lm')],
    lux: ['lux (lx)', si('lx')],
  }),
  group('Length, area, mass', {
    lengthmm: ['millimetres (mm)', plain('mm')],
    lengthm: ['metres (m)', si('m')],
    lengthkm: ['kilometres (km)', plain('km')],
    lengthin: ['inches (in)', plain('in')],
    lengthft: ['feet (ft)', plain('ft')],
    lengthmi: ['miles (mi)', plain('mi')],
    areaM2: ['square metres (m²)', plain('m²')],
    areaF2: ['square feet (ft²)', plain('ft²')],
    areaMI2: ['square miles (mi²)', plain('mi²')],
    acres: ['acres (ac)', plain('ac')],
    hectares: ['hectares (ha)', plain('ha')],
    massmg: ['milligrams (mg)', plain('mg')],
    massg: ['grams (g)', si('g')],
    masslb: ['pounds (lb)', plain('lb')],
    masskg: ['kilograms (kg)', plain('kg')],
    masst: ['tonnes (t)', plain('t')],
  }),
  group('Velocity, acceleration, angle', {
    velocityms: ['metres per second', plain('m/s')],
    velocitykmh: ['kilometres per hour', plain('km/h')],
    velocitymph: ['miles per hour', plain('mph')],
    velocityknot: ['knots', plain('kn')],
    rotrpm: ['rotations per minute', plain('rpm')],
    rotrads: ['radians per second', plain('rad/s')],
    rotdegs: ['degrees per second', plain('°/s')],
    accMS2: ['metres per second squared', plain('m/s²')],
    accFS2: ['feet per second squared', plain('ft/s²')],
    accG: ['g-force (g)', plain('g')],
    degree: ['degrees (°)', plain('°')],
    radian: ['radians (rad)', plain('rad')],
    grad: ['gradians (grad)', plain('grad')],
    arcmin: ['arc minutes', plain('arcmin')],
    arcsec: ['arc seconds', plain('arcsec')],
  }),
  group('Force, flow, volume', {
    forceNm: ['newton-metres (Nm)', si('Nm')],
    forcekNm: ['kilonewton-metres (kNm)', si('Nm', 1e3)],
    forceN: ['newtons (N)', si('N')],
    forcekN: ['kilonewtons (kN)', si('N', 1e3)],
    flowgpm: ['gallons per minute', plain('gpm')],
    flowcms: ['cubic metres per second', plain('cms')],
    flowcfs: ['cubic feet per second', plain('cfs')],
    flowcfm: ['cubic feet per minute', plain('cfm')],
    litreh: ['litres per hour', plain('L/h')],
    flowlpm: ['litres per minute', plain('L/min')],
    flowmlpm: ['millilitres per minute', plain('mL/min')],
    mlitre: ['millilitres (mL)', plain('mL')],
    litre: ['litres (L)', si('L')],
    m3: ['cubic metres (m³)', plain('m³')],
    Nm3: ['normal cubic metres', plain('Nm³')],
    dm3: ['cubic decimetres (dm³)', plain('dm³')],
    gallons: ['gallons (gal)', plain('gal')],
  }),
  group('Concentration, radiation', {
    ppm: ['parts per million', plain('ppm')],
    conppb: ['parts per billion', plain('ppb')],
    conngm3: ['nanograms per m³', plain('ng/m³')],
    conngNm3: ['nanograms per Nm³', plain('ng/Nm³')],
    conμgm3: ['micrograms per m³', plain('μg/m³')],
    conμgNm3: ['micrograms per Nm³', plain('μg/Nm³')],
    conmgm3: ['milligrams per m³', plain('mg/m³')],
    conmgNm3: ['milligrams per Nm³', plain('mg/Nm³')],
    congm3: ['grams per m³', plain('g/m³')],
    congNm3: ['grams per Nm³', plain('g/Nm³')],
    conmgdL: ['milligrams per decilitre', plain('mg/dL')],
    conmmolL: ['millimoles per litre', plain('mmol/L')],
    radbq: ['becquerels (Bq)', si('Bq')],
    radci: ['curies (Ci)', si('Ci')],
    radgy: ['grays (Gy)', si('Gy')],
    radrad: ['rads', si('rad')],
    radsv: ['sieverts (Sv)', si('Sv')],
    radmsv: ['millisieverts (mSv)', plain('mSv')],
    radusv: ['microsieverts (µSv)', plain('µSv')],
    radrem: ['rems', si('rem')],
    radexpckg: ['exposure (C/kg)', si('C/kg')],
    radr: ['roentgens (R)', si('R')],
    radsvh: ['sieverts per hour', si('Sv/h')],
    radmsvh: ['millisieverts per hour', plain('mSv/h')],
    radusvh: ['microsieverts per hour', plain('µSv/h')],
  }),
  group('Computation', {
    flops: ['FLOP/s', si('FLOPS')],
    mflops: ['MFLOP/s', si('FLOPS', 1e6)],
    gflops: ['GFLOP/s', si('FLOPS', 1e9)],
    tflops: ['TFLOP/s', si('FLOPS', 1e12)],
    pflops: ['PFLOP/s', si('FLOPS', 1e15)],
    eflops: ['EFLOP/s', si('FLOPS', 1e18)],
    zflops: ['ZFLOP/s', si('FLOPS', 1e21)],
    yflops: ['YFLOP/s', si('FLOPS', 1e24)],
    Hs: ['hashes per second', si('H/s')],
    KHs: ['kilohashes per second', si('H/s', 1e3)],
    MHs: ['megahashes per second', si('H/s', 1e6)],
    GHs: ['gigahashes per second', si('H/s', 1e9)],
    THs: ['terahashes per second', si('H/s', 1e12)],
    PHs: ['petahashes per second', si('H/s', 1e15)],
    EHs: ['exahashes per second', si('H/s', 1e18)],
  }),
  group('Yes or no', {
    bool: ['true or false', choice('False', 'True')],
    bool_yes_no: ['yes or no', choice('No', 'Yes')],
    bool_on_off: ['on or off', choice('Off', 'On')],
  }),
  group('Currency', {
    currencyUSD: ['dollars ($)', currency('$')],
    currencyGBP: ['pounds (£)', currency('£')],
    currencyEUR: ['euros (€)', currency('€')],
    currencyJPY: ['yen (¥)', currency('¥')],
    currencyRUB: ['roubles (₽)', currency('₽')],
    currencyUAH: ['hryvnias (₴)', currency('₴')],
    currencyBRL: ['reals (R$)', currency('R$')],
    currencyDKK: ['Danish kroner (kr)', currency('kr', true)],
    currencyISK: ['Icelandic krónur (kr)', currency('kr', true)],
    currencyNOK: ['Norwegian kroner (kr)', currency('kr', true)],
    currencySEK: ['Swedish kronor (kr)', currency('kr', true)],
    currencyCZK: ['koruny (Kč)', currency('Kč', true)],
    currencyCHF: ['Swiss francs (CHF)', currency('CHF')],
    currencyPLN: ['zlotys (zł)', currency('zł', true)],
    currencyBTC: ['bitcoins (฿)', currency('฿')],
    currencymBTC: ['millibitcoins (mBTC)', currency('mBTC', true)],
    currencyμBTC: ['microbitcoins (μBTC)', currency('μBTC', true)],
    currencyZAR: ['rands (R)', currency('R')],
    currencyINR: ['rupees (₹)', currency('₹')],
    currencyKRW: ['won (₩)', currency('₩')],
    currencyIDR: ['rupiahs (Rp)', currency('Rp')],
    currencyPHP: ['Philippine pesos (₱)', currency('₱')],
    currencyVND: ['đồng (đ)', currency('đ', true)],
    currencyTRY: ['liras (₺)', currency('₺', true)],
    currencyMYR: ['ringgit (RM)', currency('RM')],
    currencyXPF: ['CFP francs (XPF)', currency('XPF')],
    currencyBGN: ['leva (лв)', currency('лв', true)],
    currencyPYG: ['guaraníes (₲)', currency('₲')],
    currencyUYU: ['Uruguayan pesos (UYU)', currency('UYU', true)],
    currencyILS: ['new shekels (₪)', currency('₪')],
  }),
];

const BY_ID: ReadonlyMap<string, UnitRow> = new Map(
  UNIT_GROUPS.flatMap(({ units }) => units.map((row) => [row.id, row])),
);

/** The row of an id; `undefined` for an unknown id. */
export function unitRow(id: string): UnitRow | undefined {
  return BY_ID.get(id);
}

const CUSTOM = /^(suffix|prefix|time|si|count|currency|bool):(.*)$/s;

/**
 * The number format of a unit. Grafana also has free units: `suffix:items`, `prefix:#`,
 * `currency:CHF`, `si:mF`, `bool:on/off`; any other text is a suffix.
 */
export function shapeOfUnit(id: string): UnitShape {
  const row = BY_ID.get(id);
  if (row !== undefined) return row.shape;
  const [, kind = 'suffix', rest = id] = CUSTOM.exec(id) ?? [];
  switch (kind) {
    case 'prefix':
      return currency(rest);
    case 'currency':
      return currency(rest.replace(/^financial:/, '').split(':')[0] ?? rest);
    case 'bool': {
      const [yes = 'true', no = 'false'] = rest.split('/');
      return choice(no, yes);
    }
    case 'si':
      return si(rest);
    case 'time':
      return instant('local');
    default:
      return plain(rest);
  }
}
