// Imports dashboards from files: Tidemark's, Grafana's and Chronograf's. Reports what cannot be
// imported.
import { fieldsOf } from '../fields.ts';
import { isDashboard, readDashboard } from '../model.ts';
import type { Dashboard } from '../model.ts';
import { valueOf } from '../../cells/option.ts';
import { REPEAT } from '../../cells/options/repeat.ts';
import { MACRO_NAMES } from '../../query/macros.ts';
import { namesIn } from '../variables.ts';
import { texts } from '../../texts/texts.ts';
import { fromChronograf } from './chronograf.ts';
import { fromGrafana } from './grafana.ts';
import { Report } from './report.ts';

const t = texts.imports;

export type Imported = {
  readonly source: 'Tidemark' | 'Grafana' | 'Chronograf';
  readonly dashboard: Dashboard;
  /** One sentence for each thing that was not imported. */
  readonly leftOut: readonly string[];
};

/** Reads a document; `undefined` when it is no dashboard of a known format. */
export function importDashboard(value: unknown): Imported | undefined {
  if (isDashboard(value)) {
    return { source: 'Tidemark', dashboard: readDashboard(value), leftOut: [] };
  }
  const report = new Report();
  const found = recognise(value, report);
  if (found === undefined) return undefined;
  const { source, dashboard } = found;
  const known = new Set([...MACRO_NAMES, ...dashboard.variables.map(({ name }) => name)]);
  for (const cell of dashboard.cells) {
    const { title, queries } = cell;
    for (const name of queries.flatMap(({ text }) => namesIn(text))) {
      if (!known.has(name)) report.add(title, t.unknownWord(name));
    }
    const repeat = valueOf(cell, REPEAT);
    if (repeat !== '' && !known.has(repeat)) report.add(title, t.unknownWord(repeat));
  }
  // Read like any other document, so that our limits apply to foreign ones.
  return { source, dashboard: readDashboard(dashboard), leftOut: report.lines };
}

function recognise(
  value: unknown,
  report: Report,
): Pick<Imported, 'source' | 'dashboard'> | undefined {
  // Both systems wrap a dashboard that was exported through their API; a Chronograf protoboard has
  // its cells beside a description.
  const outer = fieldsOf(value);
  const { name } = fieldsOf(outer['meta']);
  const protoboard: Readonly<Record<string, unknown>> = { name, ...fieldsOf(outer['data']) };
  for (const fields of [outer, fieldsOf(outer['dashboard']), protoboard]) {
    const isGrafana = Array.isArray(fields['panels']) || Array.isArray(fields['rows']);
    if (isGrafana) return { source: 'Grafana', dashboard: fromGrafana(fields, report) };
    if (Array.isArray(fields['cells'])) {
      return { source: 'Chronograf', dashboard: fromChronograf(fields, report) };
    }
  }
  return undefined;
}
