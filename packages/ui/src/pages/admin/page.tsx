// Administration: the data of the database, its retention and users, and current activity.
import { services } from '../../api/connection.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { route } from '../../app/router.ts';
import { texts } from '../../texts/texts.ts';
import { Audit } from './audit.tsx';
import { Backup } from './backup.tsx';
import { Cardinality } from './cardinality.tsx';
import { Counters } from './counters.tsx';
import { Databases } from './databases.tsx';
import { EngineConfig } from './engine-config.tsx';
import { Import } from './import.tsx';
import { Queries } from './queries.tsx';
import { Rejected } from './rejected.tsx';
import { Replicas } from './replicas.tsx';
import { GROUPS, Sections } from './sections.tsx';
import type { Section } from './sections.tsx';
import { SlowQueries } from './slow-queries.tsx';
import { StatementLists } from './statement-lists.tsx';
import { Storage } from './storage.tsx';
import { Tokens } from './tokens.tsx';
import { Users } from './users.tsx';
import './admin.css';

const t = texts.admin;

export function Page() {
  const sections = offered();
  const wanted = route.value.params.get('tab');
  const chosen = sections.find((section) => section === wanted) ?? sections[0] ?? 'databases';
  return (
    <>
      <PageHead title={t.title} />
      <div class="with-sections">
        <Sections offered={sections} current={chosen} />
        <div class="stack">{part(chosen)}</div>
      </div>
    </>
  );
}

/** Sections that concern any of the services. */
const OF_BOTH: readonly Section[] = ['audit', 'backup', 'import'];

function offered(): readonly Section[] {
  const hasTsdb = services.tsdb.value.state !== 'absent';
  const hasEngine = services.engine.value.state !== 'absent';
  return Object.values(GROUPS)
    .flat()
    .filter((section) => {
      if (OF_BOTH.includes(section)) return true;
      return section === 'engine' ? hasEngine : hasTsdb;
    });
}

function part(chosen: Section) {
  switch (chosen) {
    case 'databases':
      return <Databases />;
    case 'storage':
      return <Storage />;
    case 'cluster':
      return <Replicas />;
    case 'automatic':
      return <StatementLists />;
    case 'users':
      return (
        <>
          <Users />
          <Tokens />
        </>
      );
    case 'queries':
      return (
        <>
          <Queries />
          <SlowQueries />
        </>
      );
    case 'cardinality':
      return <Cardinality />;
    case 'rejected':
      return <Rejected />;
    case 'audit':
      return <Audit />;
    case 'backup':
      return <Backup />;
    case 'import':
      return <Import />;
    case 'counters':
      return <Counters />;
    case 'engine':
      return <EngineConfig />;
  }
}
