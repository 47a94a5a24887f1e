// Alerts: open events, history, rules, handlers, and dead letters.
import { route, setParams } from '../../app/router.ts';
import { session } from '../../api/session.ts';
import { services } from '../../api/connection.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { texts } from '../../texts/texts.ts';
import { DeadLetters } from './dead-letters.tsx';
import { Events } from './events.tsx';
import { Handlers } from './handlers.tsx';
import { History } from './history.tsx';
import { RuleBuilder } from './rule-builder.tsx';
import './alerts.css';

const t = texts.alerts;

const TABS = ['events', 'history', 'rules', 'handlers', 'dead'] as const;

const PARTS = {
  events: Events,
  history: History,
  rules: RuleBuilder,
  handlers: Handlers,
  dead: DeadLetters,
} as const;

export function Page() {
  // A rule is a task and is tried on the database: both require an administrator.
  const hasRules = session.value.isAdmin && services.tsdb.value.state !== 'absent';
  const tabs = TABS.filter((tab) => tab !== 'rules' || hasRules);
  const chosen = tabs.find((tab) => tab === route.value.params.get('tab')) ?? 'events';
  const Part = PARTS[chosen];
  return (
    <>
      <PageHead title={t.title} />
      <Tabs
        label={t.parts}
        value={chosen}
        tabs={tabs.map((value) => ({ value, label: t.tabs[value] }))}
        onChange={(tab) => setParams({ tab })}
      >
        <Part />
      </Tabs>
    </>
  );
}
