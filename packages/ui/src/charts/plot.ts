// The plot, drawn by uPlot. Loaded with the first chart.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { strokeByValue } from './by-value.ts';
import { timeBounds } from './data.ts';
import type { ChartData, ChartSeries, SeriesLook } from './data.ts';
import { SERIES_COLOUR_COUNT } from './colours.ts';
import { isolatedPoints } from './isolated-points.ts';
import { alignSeries, POINTS_OF_COLUMN, Sampler } from './sample.ts';

export type ChartStyle = 'line' | 'area' | 'bars' | 'points' | 'steps';

export type Threshold = { readonly value: number; readonly colour: string };
export type Mark = { readonly time: number; readonly label: string; readonly colour: string };

/** The look of lines and axes; missing members have defaults. */
export type PlotLook = {
  /** Ends of the axis, and ends that values may exceed. */
  readonly yMin?: number | undefined;
  readonly yMax?: number | undefined;
  readonly softMin?: number | undefined;
  readonly softMax?: number | undefined;
  readonly scale?: 'linear' | 'log2' | 'log10' | undefined;
  readonly axisLabel?: string | undefined;
  readonly isAxisHidden?: boolean | undefined;
  readonly lineWidth?: number | undefined;
  /** In percent. */
  readonly fill?: number | undefined;
  readonly points?: 'auto' | 'always' | 'never' | undefined;
  readonly pointSize?: number | undefined;
  readonly course?: 'linear' | 'smooth' | 'stepBefore' | 'stepAfter' | undefined;
  /** Stacked as shares of the whole. */
  readonly isShare?: boolean | undefined;
  readonly thresholdStyle?: 'line' | 'area' | 'both' | 'off' | undefined;
  /** Lines have the colours of the thresholds that they reach. */
  readonly isByValue?: boolean | undefined;
};

export type PlotOptions = {
  readonly data: ChartData;
  readonly height: number;
  readonly style: ChartStyle;
  readonly isStacked: boolean;
  readonly look: PlotLook;
  /** Initial span in milliseconds; by default all data. */
  readonly span?: readonly [number, number] | undefined;
  /** Where the cursor is from the beginning; `y` within the window, by default in the middle. */
  readonly cursor?: { readonly time: number; readonly y: number | undefined } | undefined;
  /** Time zone of the axis; by default the browser's. */
  readonly zone?: string | undefined;
  /** One for each series. */
  readonly colours: readonly string[];
  readonly text: string;
  readonly line: string;
  readonly thresholds: readonly Threshold[];
  readonly marks: readonly Mark[];
  /** Charts with the same key share the cursor. */
  readonly syncKey?: string | undefined;
  /** Steps between labels of an axis; `undefined` for decimal ones. */
  readonly increments: (side: 'left' | 'right') => readonly number[] | undefined;
  readonly formatValue: (value: number, side: 'left' | 'right') => string;
  /** The user selected a span by dragging, or moved to one. */
  readonly onSpan: (span: readonly [number, number], isChosen: boolean) => void;
  /** The cursor moved, also that of a chart with the same key; `undefined` when it leaves. */
  readonly onCursor: (cursor: PlotCursor | undefined) => void;
};

export type PlotCursor = {
  readonly time: number;
  /** Position within the window. */
  readonly position: () => { readonly x: number; readonly y: number };
  /** How far above or below the cursor a value is drawn, in pixels. */
  readonly distance: (value: number, side: 'left' | 'right') => number;
};

export type Plot = {
  setVisible(index: number, isVisible: boolean): void;
  setWidth(width: number): void;
  /** Shows another span of the same data. */
  show(from: number, to: number): void;
  span(): readonly [number, number];
  /** Moves the cursor to the next time of the data, or to the one before. */
  moveCursor(direction: -1 | 1): void;
  picture(background: string): Promise<Blob | undefined>;
  destroy(): void;
};

/** Points drawn at most at rest, and during movement, where a frame must have time for them. */
const POINTS_DRAWN = 400_000;
const POINTS_MOVED = 50_000;
/** Each series has at least this many columns, however many series there are. */
const COLUMNS_MIN = 50;

/** Movement has ended after this time without change. */
const REST_MS = 100;

/** A plot as low as this has one line of labels below it. */
const LOW_PIXELS = 150;
const LOW_AXIS_PIXELS = 22;
const TIME_AXIS_PIXELS = 42;

const AXIS_FONT = '12px system-ui, sans-serif';

/** Creates a plot within an element. */
export function makePlot(parent: HTMLElement, options: PlotOptions): Plot {
  const { data, style, look } = options;
  const stacked = options.isStacked ? stack(data, look.isShare === true) : data;
  const log = look.scale === 'log2' ? 2 : look.scale === 'log10' ? 10 : undefined;
  const series = log === undefined ? stacked : aboveZero(stacked);
  const whole = options.span ?? timeBounds(data) ?? [0, 1];
  let [from, to] = whole[0] === whole[1] ? [whole[0] - 30_000, whole[1] + 30_000] : whole;
  let width = Math.max(80, parent.clientWidth);

  const samplers = series.series.map((one) => new Sampler(one));
  const sampled = (pixels: number, pointsMax: number): uPlot.AlignedData => {
    const share = Math.floor(pointsMax / (POINTS_OF_COLUMN * Math.max(1, samplers.length)));
    const columns = Math.max(COLUMNS_MIN, Math.min(pixels, share));
    // uPlot's type allows typed arrays too; this is an array of arrays.
    return alignSeries(
      samplers.map((one) => one.sample({ from, to, columns })),
    ) as uPlot.AlignedData;
  };

  const { zone } = options;
  const isLow = options.height < LOW_PIXELS;
  const clock = new Intl.DateTimeFormat('sv-SE', {
    ...(zone === undefined ? {} : { timeZone: zone }),
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const plot = new uPlot(
    {
      width,
      height: options.height,
      ms: 1,
      legend: { show: false },
      // Half of the first time label stands left of the axis.
      padding: [8, 20, 0, look.isAxisHidden === true ? 40 : 0],
      ...(zone === undefined
        ? {}
        : { tzDate: (time: number) => uPlot.tzDate(new Date(time), zone) }),
      cursor: {
        drag: { x: true, y: false, setScale: false },
        focus: { prox: 24 },
        points: { size: 6 },
        ...(options.syncKey === undefined ? {} : { sync: { key: options.syncKey } }),
      },
      scales: {
        x: { time: true, auto: false, range: () => [from, to] },
        ...Object.fromEntries(
          sidesOf(data).map((side) => [
            SCALES[side],
            {
              ...(log === undefined ? {} : { distr: 3 as const, log }),
              range: (_: uPlot, min: number, max: number): [number, number] =>
                rangeOf(min, max, {
                  isFromZero: style === 'bars' || style === 'area' || options.isStacked,
                  // The bounds of a cell are those of the left axis.
                  look: side === 'left' ? look : { scale: look.scale },
                  log,
                }),
            },
          ]),
        ),
      },
      axes: [
        axis(options, {
          space: 64,
          size: isLow ? LOW_AXIS_PIXELS : TIME_AXIS_PIXELS,
          values: (_, splits, _axis, _space, increment) => {
            const labels = timeLabels(splits, increment, clock);
            // No room for the day below the hour.
            return isLow ? labels.map((label) => label.split('\n')[0] ?? '') : labels;
          },
        }),
        ...sidesOf(data).map((side) =>
          axis(options, {
            scale: SCALES[side],
            side: side === 'left' ? 3 : 1,
            space: isLow ? 18 : 30,
            ...(side === 'left' && look.isAxisHidden === true ? { show: false } : {}),
            ...(side === 'left' && (look.axisLabel ?? '') !== ''
              ? { label: look.axisLabel ?? '', labelFont: AXIS_FONT, labelSize: 20, labelGap: 0 }
              : {}),
            ...(side === 'right' ? { grid: { show: false } } : {}),
            ...incrementsOf(options, side),
            size: (self, values) => axisSize(self, values),
            values: (_, splits) =>
              // A logarithmic axis has unlabelled lines between the powers.
              splits.map((value) => (value === null ? '' : options.formatValue(value, side))),
          }),
        ),
      ],
      series: [{}, ...data.series.map((one, index) => lineOf(one, index, options))],
      hooks: {
        ready: [
          (self) => {
            const { cursor } = options;
            if (cursor !== undefined) moveCursorTo(self, self.valToPos(cursor.time, 'x'), cursor.y);
          },
        ],
        drawClear: [(self) => drawBands(self, options)],
        draw: [(self) => drawMarks(self, options)],
        setSelect: [
          (self) => {
            if (self.select.width < 4) return;
            const start = self.posToVal(self.select.left, 'x');
            const end = self.posToVal(self.select.left + self.select.width, 'x');
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            options.onSpan([start, end], true);
          },
        ],
        setCursor: [
          (self) => {
            const { left = -1, top = 0 } = self.cursor;
            if (left < 0) {
              options.onCursor(undefined);
              return;
            }
            options.onCursor({
              time: self.posToVal(left, 'x'),
              position: () => {
                const box = self.over.getBoundingClientRect();
                return { x: box.left + left, y: box.top + top };
              },
              distance: (value, side) => Math.abs(self.valToPos(value, SCALES[side]) - top),
            });
          },
        ],
      },
    },
    sampled(width, POINTS_DRAWN),
    parent,
  );

  const draw = (pointsMax = POINTS_DRAWN): void =>
    plot.setData(sampled(widthOf(plot), pointsMax), true);
  const isCrowded = samplers.length * POINTS_OF_COLUMN * width > POINTS_MOVED;
  let resting = 0;
  const show = (start: number, end: number): void => {
    from = start;
    to = end;
    draw(POINTS_MOVED);
    window.clearTimeout(resting);
    resting = window.setTimeout(() => {
      if (isCrowded) draw();
      options.onSpan([from, to], false);
    }, REST_MS);
  };
  const steps = new CursorSteps(plot);
  panByDrag(plot, () => [from, to], show);
  followTouch(plot);
  return {
    setVisible: (index, isVisible) => plot.setSeries(index + 1, { show: isVisible }),
    setWidth: (next) => {
      width = Math.max(80, next);
      plot.setSize({ width, height: options.height });
      draw();
    },
    show,
    span: () => [from, to],
    moveCursor: (direction) => steps.step(direction),
    picture: (background) => pictureOf(plot, background),
    destroy: () => {
      window.clearTimeout(resting);
      plot.destroy();
    },
  };
}

/** Width of the drawing area in pixels, without axes. */
const widthOf = ({ bbox }: uPlot): number => Math.round(bbox.width / uPlot.pxRatio);

function axis(options: PlotOptions, more: uPlot.Axis): uPlot.Axis {
  const { text, line } = options;
  return {
    stroke: text,
    font: AXIS_FONT,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    gap: 4,
    ...more,
  };
}

const DAY_MS = 86_400_000;

/** The shortest labels that differ; with the day where it changes. */
function timeLabels(
  times: readonly number[],
  increment: number,
  clock: Intl.DateTimeFormat,
): string[] {
  let before = '';
  return times.map((time) => {
    const [day = '', hour = ''] = clock.format(time).split(' ');
    if (increment >= DAY_MS) return increment >= 28 * DAY_MS ? day.slice(0, 7) : day.slice(5);
    const seconds = increment < 1000 ? `.${String(time % 1000).padStart(3, '0')}` : '';
    const text = increment >= 60_000 ? hour.slice(0, 5) : hour + seconds;
    const isNewDay = day !== before;
    before = day;
    return isNewDay ? `${text}\n${day}` : text;
  });
}

/** Half of a day's label: it stands below the first time, which may be at the axis. */
const AXIS_PIXELS_MIN = 38;

/** Wide enough for the longest label. */
function axisSize(plot: uPlot, values: readonly string[] | null): number {
  const longest = (values ?? []).reduce((a, b) => (b.length > a.length ? b : a), '');
  plot.ctx.font = AXIS_FONT;
  const width = Math.ceil(plot.ctx.measureText(longest).width / devicePixelRatio) + 14;
  return Math.max(AXIS_PIXELS_MIN, width);
}

/** A logarithmic axis has its own. */
function incrementsOf({ look, increments }: PlotOptions, side: 'left' | 'right'): uPlot.Axis {
  const incrs = increments(side);
  const isLinear = look.scale === undefined || look.scale === 'linear';
  return incrs === undefined || !isLinear ? {} : { incrs: [...incrs] };
}

const SCALES = { left: 'y', right: 'right' } as const;

/** The sides with an axis; the left one for a chart without series. */
function sidesOf({ series }: ChartData): readonly ('left' | 'right')[] {
  const isRight = ({ look }: ChartSeries): boolean => look?.axis === 'right';
  const hasRight = series.some(isRight);
  // Marks and thresholds belong to the left axis, so it is always there.
  return hasRight ? ['left', 'right'] : ['left'];
}

type RangeOptions = {
  readonly isFromZero: boolean;
  readonly look: PlotLook;
  readonly log: 2 | 10 | undefined;
};

/**
 * The range of an axis for values between two bounds: the cell's, or a little more than the values.
 */
function rangeOf(
  min: number,
  max: number,
  { isFromZero, look, log }: RangeOptions,
): [number, number] {
  const { yMin, yMax, softMin, softMax } = look;
  const least = Math.min(min, softMin ?? Infinity);
  const most = Math.max(max, softMax ?? -Infinity);
  const [low, high] =
    log === undefined
      ? valueRange(least, most, isFromZero)
      : uPlot.rangeLog(Math.max(least, 1e-12), Math.max(most, 1e-12), log, false);
  const from = yMin === undefined || (log !== undefined && yMin <= 0) ? (low ?? 0) : yMin;
  const to = yMax ?? high ?? 1;
  return from < to ? [from, to] : [from, from + 1];
}

/** A little room above and below; bars and stacks stand on zero. */
function valueRange(min: number, max: number, isFromZero: boolean): [number, number] {
  if (!Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  const low = isFromZero ? Math.min(0, min) : min;
  const high = isFromZero ? Math.max(0, max) : max;
  const room = high === low ? Math.abs(high) * 0.1 || 1 : (high - low) * 0.06;
  return [isFromZero && low === 0 ? 0 : low - room, isFromZero && high === 0 ? 0 : high + room];
}

/** Default opacity of an area. */
const FILL_PERCENT = 22;

/** Colours repeat after some series; dashes distinguish those. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [3, 3], [10, 3, 2, 3]];
const DASH_OF_LOOK = [6, 4];

function lineOf(one: ChartSeries, index: number, options: PlotOptions): uPlot.Series {
  const { label } = one;
  const own: SeriesLook = one.look ?? {};
  const { style, look } = options;
  const colour = options.colours[index] ?? '#888';
  const form = own.form ?? style;
  const width = own.lineWidth ?? look.lineWidth ?? LINE_PIXELS;
  const isFilled = form === 'area' || form === 'bars' || (options.isStacked && form !== 'points');
  const fill = own.fill ?? look.fill ?? (isFilled ? FILL_PERCENT : 0);
  const dash =
    own.isDashed === true
      ? DASH_OF_LOOK
      : (DASHES[Math.floor(index / SERIES_COLOUR_COUNT) % DASHES.length] ?? []);
  const paths = pathsOf(form, look.course, width);
  const points = look.points ?? 'auto';
  const size = look.pointSize ?? 4;
  const scale = SCALES[own.axis ?? 'left'];
  return {
    label,
    scale,
    stroke:
      look.isByValue === true
        ? (plot) => strokeByValue(plot, { colour, scale, thresholds: options.thresholds })
        : colour,
    width: form === 'points' ? 0 : width,
    ...(dash.length === 0 || (own.colour !== undefined && own.isDashed !== true)
      ? {}
      : { dash: [...dash] }),
    ...(fill > 0 && form !== 'points' ? { fill: translucent(colour, fill) } : {}),
    ...(paths === undefined ? {} : { paths }),
    points:
      form === 'points' || points === 'always'
        ? { show: true, size, fill: colour }
        : points === 'never'
          ? { show: false }
          : {
              size: 4,
              show: true,
              filter: (plot, at) => isolatedPoints(plot.data[at] ?? []),
            },
    spanGaps: false,
  };
}

function pathsOf(
  form: ChartStyle,
  course: PlotLook['course'],
  width: number,
): uPlot.Series.PathBuilder | undefined {
  if (form === 'bars') return uPlot.paths.bars?.({ size: [0.8, 40] });
  if (form === 'points') return uPlot.paths.points?.();
  if (form === 'steps' || course === 'stepAfter') return uPlot.paths.stepped?.({ align: 1 });
  if (course === 'stepBefore') return uPlot.paths.stepped?.({ align: -1 });
  if (course === 'smooth') return uPlot.paths.spline?.();
  return linesOf(uPlot.paths.linear?.(), width);
}

const LINE_PIXELS = 1.5;

/**
 * A line that fills columns of pixels is drawn one pixel wide: it looks the same, and takes a
 * fraction of the time.
 */
function linesOf(
  linear: uPlot.Series.PathBuilder | undefined,
  width: number,
): uPlot.Series.PathBuilder {
  return (plot, index, first, last) => {
    const line = plot.series[index];
    const isDense = last - first > widthOf(plot) * 2;
    if (line !== undefined) line.width = isDense ? Math.min(1, width) : width;
    return linear?.(plot, index, first, last) ?? null;
  };
}

function translucent(colour: string, percent: number): string {
  return colour.replace(/^rgb\((.*)\)$/, (_, parts: string) => `rgba(${parts}, ${percent / 100})`);
}

/**
 * Stacks each series on those before it, for series with the same times; shares add up to 100.
 * Series marked as alone stay unchanged.
 */
function stack({ series }: ChartData, isShare: boolean): ChartData {
  const wholes = new Map<number, number>();
  const eachOf = (one: ChartSeries, take: (time: number, value: number) => void): void =>
    one.values.forEach((value, i) => {
      if (!Number.isNaN(value)) take(one.times[i] ?? 0, value);
    });
  const isAlone = ({ look }: ChartSeries): boolean => look?.isAlone === true;
  if (isShare) {
    for (const one of series) {
      if (!isAlone(one)) {
        eachOf(one, (time, value) => wholes.set(time, (wholes.get(time) ?? 0) + value));
      }
    }
  }
  const sums = new Map<number, number>();
  return {
    series: series.map((one) =>
      isAlone(one)
        ? one
        : {
            ...one,
            values: one.values.map((value, i) => {
              const time = one.times[i] ?? 0;
              const part = isShare ? (value / (wholes.get(time) || 1)) * 100 : value;
              const sum = (sums.get(time) ?? 0) + (Number.isNaN(part) ? 0 : part);
              sums.set(time, sum);
              return Number.isNaN(value) ? NaN : sum;
            }),
          },
    ),
  };
}

/** A logarithmic axis has no zero: values up to zero become gaps. */
function aboveZero({ series }: ChartData): ChartData {
  return {
    series: series.map((one) => ({
      ...one,
      values: one.values.map((value) => (value > 0 ? value : NaN)),
    })),
  };
}

const BAND_PERCENT = 12;

/** From each threshold to the next, behind the lines. */
function drawBands(plot: uPlot, { thresholds, look }: PlotOptions): void {
  const { thresholdStyle } = look;
  if (thresholdStyle !== 'area' && thresholdStyle !== 'both') return;
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const within = (y: number): number => Math.min(top + height, Math.max(top, y));
  ctx.save();
  thresholds
    .toSorted((a, b) => a.value - b.value)
    .forEach(({ value, colour }, i, sorted) => {
      const next = sorted[i + 1];
      const below = within(plot.valToPos(value, 'y', true));
      const above = next === undefined ? top : within(plot.valToPos(next.value, 'y', true));
      ctx.fillStyle = translucent(colour, BAND_PERCENT);
      ctx.fillRect(left, above, width, Math.max(0, below - above));
    });
  ctx.restore();
}

function drawMarks(plot: uPlot, { thresholds, marks, look }: PlotOptions): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  const hasLines = look.thresholdStyle !== 'area' && look.thresholdStyle !== 'off';
  for (const { value, colour } of hasLines ? thresholds : []) {
    const y = plot.valToPos(value, 'y', true);
    if (y < top || y > top + height) continue;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  }
  ctx.font = AXIS_FONT.replace('12', String(11 * devicePixelRatio));
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  // Right end of the last label, so that labels of close marks do not overlap.
  let written = -Infinity;
  for (const { time, label, colour } of marks.toSorted((a, b) => a.time - b.time)) {
    const x = plot.valToPos(time, 'x', true);
    if (x < left || x > left + width) continue;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    const end = x + 4 + ctx.measureText(label).width;
    if (x < written || end > left + width) continue;
    ctx.fillStyle = colour;
    ctx.fillText(label, x + 4, top + 2);
    written = end + 8;
  }
  ctx.restore();
}

/** Dragging with Shift moves the view, once per frame. */
function panByDrag(
  plot: uPlot,
  span: () => readonly [number, number],
  show: (from: number, to: number) => void,
): void {
  plot.over.addEventListener(
    'mousedown',
    (down) => {
      if (!down.shiftKey || down.button !== 0) return;
      down.preventDefault();
      down.stopImmediatePropagation();
      const [from, to] = span();
      // Hides the cursor while the view moves.
      plot.setCursor({ left: -10, top: -10 });
      // Moves by whole pixels, so that sampled columns can be reused.
      const perPixel = (to - from) / widthOf(plot);
      let pixels = 0;
      let frame = 0;
      const move = (event: MouseEvent): void => {
        event.stopPropagation();
        pixels = Math.round(down.clientX - event.clientX);
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          show(from + pixels * perPixel, to + pixels * perPixel);
        });
      };
      const end = (): void => document.removeEventListener('mousemove', move, { capture: true });
      document.addEventListener('mousemove', move, { capture: true });
      document.addEventListener('mouseup', end, { once: true });
    },
    { capture: true },
  );
}

/** Moves the cursor as a mouse at a position would, so that charts with the same key follow. */
function moveMouseTo({ over }: uPlot, clientX: number, clientY: number): void {
  over.dispatchEvent(new MouseEvent('mousemove', { clientX, clientY, bubbles: true }));
}

/** A finger moves the cursor sideways; up and down it scrolls the page. */
function followTouch(plot: uPlot): void {
  const { over } = plot;
  const follow = (event: PointerEvent): void => {
    if (event.pointerType === 'touch') moveMouseTo(plot, event.clientX, event.clientY);
  };
  over.addEventListener('pointerdown', follow);
  over.addEventListener('pointermove', follow);
}

/** Moves the cursor from point to point. */
class CursorSteps {
  readonly #plot: uPlot;
  /** The point that it was moved to last. */
  #index = -1;

  constructor(plot: uPlot) {
    this.#plot = plot;
  }

  step(direction: -1 | 1): void {
    const times = this.#plot.data[0];
    const { min = -Infinity, max = Infinity } = this.#plot.scales['x'] ?? {};
    // Only points that are drawn: the first window may begin before what is shown.
    const first = times.findIndex((time) => time >= min);
    const last = times.findLastIndex((time) => time <= max);
    if (first < 0 || last < first) return;
    const present = this.#present();
    const end = direction > 0 ? last : first;
    let next = direction > 0 ? first : last;
    if (present !== undefined) {
      const from = Math.min(last, Math.max(first, present));
      next = from === end ? end : from + direction;
      // The cursor stands on whole pixels: points that share one are passed over.
      while (next !== end && this.#pixelOf(next) === this.#pixelOf(from)) next += direction;
    }
    this.#index = next;
    moveCursorTo(this.#plot, this.#pixelOf(next));
  }

  /**
   * The point that the cursor is at. Where it was moved to by a step it is not asked for: of whole
   * pixels, a neighbour may be nearer.
   */
  #present(): number | undefined {
    const { idx, left = -1 } = this.#plot.cursor;
    if (left < 0) return undefined;
    const isStepped = Math.abs(this.#pixelOf(this.#index) - left) <= 1;
    return isStepped ? this.#index : (idx ?? this.#plot.posToIdx(left));
  }

  /** uPlot moves what is within a pixel of an edge to the edge. */
  #pixelOf(index: number): number {
    const width = this.#plot.over.clientWidth;
    const pixel = Math.round(this.#plot.valToPos(this.#plot.data[0][index] ?? NaN, 'x'));
    if (pixel <= 1) return 0;
    return pixel >= width - 1 ? width : pixel;
  }
}

function moveCursorTo(plot: uPlot, left: number, y?: number): void {
  if (!Number.isFinite(left)) return;
  const box = plot.over.getBoundingClientRect();
  // Half a pixel to the left of the plot would be outside of it.
  const x = Math.max(Math.ceil(box.left), Math.round(box.left + left));
  moveMouseTo(plot, x, y ?? box.top + box.height / 2);
}

/** The picture as PNG on the background of the page, which is not part of the canvas. */
function pictureOf(plot: uPlot, background: string): Promise<Blob | undefined> {
  const { canvas } = plot.ctx;
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext('2d');
  if (context === null) return Promise.resolve(undefined);
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  return new Promise((resolve) => {
    copy.toBlob((blob) => resolve(blob ?? undefined), 'image/png');
  });
}
