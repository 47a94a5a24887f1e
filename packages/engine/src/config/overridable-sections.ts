// Sections whose options can be overridden through the API while the engine runs: clusters of the
// database, clusters of autoscale nodes, and one section per service that handlers use. The file,
// the API and the environment share one table.
import { HANDLER_KINDS } from '@tidemark/alerting';
import type { SectionSpec } from '@tidemark/settings';
import { TSDB_SECTION } from './cluster-section.ts';
import { SCALER_SECTIONS } from './scaler-clusters.ts';
import { SCRAPE_SECTIONS } from './scrape-sections.ts';

/** All overridable sections, in order of their names. */
export const OVERRIDABLE_SECTIONS: readonly SectionSpec[] = [
  TSDB_SECTION,
  ...SCALER_SECTIONS,
  ...SCRAPE_SECTIONS,
  ...HANDLER_KINDS.map((kind) => kind.section).filter((section) => section !== undefined),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The section of that name, which may be an older one. */
export function findSection(name: string): SectionSpec | undefined {
  return OVERRIDABLE_SECTIONS.find(
    (section) => section.name === name || section.aliases?.includes(name) === true,
  );
}
