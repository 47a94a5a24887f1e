// All kinds of cells, in the order of the menu. A new one is a folder and a row here.
import { alerts } from './alerts/kind.ts';
import { area } from './area/kind.ts';
import { bar } from './bar/kind.ts';
import { gauge } from './gauge/kind.ts';
import { heatmap } from './heatmap/kind.ts';
import { histogram } from './histogram/kind.ts';
import type { Kind } from './kind.ts';
import { line } from './line/kind.ts';
import { note } from './note/kind.ts';
import { placeholder } from './placeholder/kind.ts';
import { row } from './row/kind.ts';
import { scatter } from './scatter/kind.ts';
import { single } from './single/kind.ts';
import { states } from './states/kind.ts';
import { table } from './table/kind.ts';

export const KINDS: readonly Kind[] = [
  line,
  area,
  bar,
  scatter,
  histogram,
  heatmap,
  single,
  gauge,
  table,
  states,
  note,
  alerts,
  row,
  placeholder,
];

const BY_ID: ReadonlyMap<string, Kind> = new Map(KINDS.map((kind) => [kind.id, kind]));

/** An unknown kind is drawn as a line. */
export const kindOf = (id: string): Kind => BY_ID.get(id) ?? line;

export const isKind = (id: unknown): id is string => typeof id === 'string' && BY_ID.has(id);
