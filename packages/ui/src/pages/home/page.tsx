// The start page: what needs attention, the health of both services, and their figures.
import { useMemo } from 'preact/hooks';

import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { texts } from '../../texts/texts.ts';
import { Attention } from './attention.tsx';
import { DatabasePanel } from './database-panel.tsx';
import { EnginePanel } from './engine-panel.tsx';
import { EngineLoader, loadDatabase } from './load.ts';
import './home.css';

const REFRESH_MS = 5000;

export function Page() {
  const loader = useMemo(() => new EngineLoader(), []);
  const hasTsdb = services.tsdb.value.state !== 'absent';
  const hasEngine = services.engine.value.state !== 'absent';
  const database = useResource(loadDatabase, [], { refreshMs: REFRESH_MS, isPaused: !hasTsdb });
  const engine = useResource((signal) => loader.load(signal), [], {
    refreshMs: REFRESH_MS,
    isPaused: !hasEngine,
  });
  return (
    <>
      <PageHead title={texts.home.title} />
      <Attention database={database.value.value} engine={engine.value.value} />
      <div class="cards">
        {hasTsdb ? <DatabasePanel found={database} /> : null}
        {hasEngine ? <EnginePanel found={engine} /> : null}
      </div>
    </>
  );
}
