// Options of charts over time.
import { HAS_LEGEND, LEGEND_CALCS, LEGEND_FORM, LEGEND_SIDE } from '../options/legend.ts';
import { LINK } from '../options/common.ts';
import { ARE_SHARES, IS_BY_VALUE, THRESHOLD_STYLE, THRESHOLDS } from '../options/levels.ts';
import {
  AXIS_LABEL,
  BRIDGE_MS,
  COURSE,
  FILL,
  IS_AXIS_HIDDEN,
  IS_SHARE,
  IS_STACKED,
  LINE_WIDTH,
  NULLS,
  POINT_SIZE,
  POINTS,
  SCALE,
  SOFT_MAX,
  SOFT_MIN,
  Y_MAX,
  Y_MIN,
} from '../options/lines.ts';
import { OVERRIDES } from '../options/overrides.ts';
import { TRANSFORMATIONS } from '../options/transformations.ts';
import { DECIMALS, UNIT } from '../options/values.ts';
import type { OptionRow } from '../option.ts';

export const LINE_OPTIONS: readonly OptionRow<unknown>[] = [
  UNIT,
  DECIMALS,
  LINK,
  Y_MIN,
  Y_MAX,
  SOFT_MIN,
  SOFT_MAX,
  SCALE,
  AXIS_LABEL,
  IS_AXIS_HIDDEN,
  LINE_WIDTH,
  FILL,
  COURSE,
  POINTS,
  POINT_SIZE,
  NULLS,
  BRIDGE_MS,
  IS_STACKED,
  IS_SHARE,
  HAS_LEGEND,
  LEGEND_FORM,
  LEGEND_SIDE,
  LEGEND_CALCS,
  THRESHOLDS,
  ARE_SHARES,
  THRESHOLD_STYLE,
  IS_BY_VALUE,
  OVERRIDES,
  TRANSFORMATIONS,
];
