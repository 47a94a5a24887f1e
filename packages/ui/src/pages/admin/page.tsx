// Administration: the data of the database, its retention and users, and current activity.
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
import { Replicas } from './replicas.tsx';
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
  'cluster',
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

type Tab = (typeof TABS)[number];

export function Page() {
  const tabs = offered();
  const wanted = route.value.params.get('tab');
  const chosen = tabs.find((tab) => tab === wanted) ?? tabs[0] ?? 'databases';
  return (
    <>
      <PageHead title={t.title} />
      <Tabs
        label={t.parts}
        value={chosen}
        tabs={tabs.map((value) => ({ value, label: t.tabs[value] }))}
        onChange={(tab) => setParams({ tab })}
      >
        <div class="stack">{part(chosen)}</div>
      </Tabs>
    </>
  );
}

/** Tabs that concern any of the services. */
const OF_BOTH: readonly Tab[] = ['audit', 'backup', 'import'];

function offered(): readonly Tab[] {
  const hasTsdb = services.tsdb.value.state !== 'absent';
  const hasEngine = services.engine.value.state !== 'absent';
  return TABS.filter((tab) => {
    if (OF_BOTH.includes(tab)) return true;
    return tab === 'engine' ? hasEngine : hasTsdb;
  });
}

function part(chosen: Tab) {
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
