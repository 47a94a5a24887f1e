// Administration: what the database keeps, for how long and for whom, and what it does at the
// moment.
import { services } from '../../api/connection.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { route, setParams } from '../../app/router.ts';
import { Tabs } from '../../design/tabs.tsx';
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
import { SlowQueries } from './slow-queries.tsx';
import { StatementLists } from './statement-lists.tsx';
import { Storage } from './storage.tsx';
import { Tokens } from './tokens.tsx';
import { Users } from './users.tsx';
import './admin.css';

const t = texts.admin;

const TABS = [
  'databases',
  'storage',
  'automatic',
  'users',
  'queries',
  'cardinality',
  'rejected',
  'audit',
  'backup',
  'import',
  'counters',
  'engine',
] as const;

export function Page() {
  const chosen = TABS.find((tab) => tab === route.value.params.get('tab')) ?? 'databases';
  return (
    <>
      <PageHead title={t.title} />
      <Tabs
        label={t.parts}
        value={chosen}
        tabs={offered().map((value) => ({ value, label: t.tabs[value] }))}
        onChange={(tab) => setParams({ tab })}
      >
        <div class="stack">{part(chosen)}</div>
      </Tabs>
    </>
  );
}

/** Without the engine there is nothing to say of it. */
const offered = (): readonly (typeof TABS)[number][] =>
  TABS.filter((tab) => tab !== 'engine' || services.engine.value.state !== 'absent');

function part(chosen: (typeof TABS)[number]) {
  switch (chosen) {
    case 'databases':
      return <Databases />;
    case 'storage':
      return <Storage />;
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
