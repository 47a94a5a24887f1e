// Explore: statements with their results, or the log of a measurement.
import { useComputed, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

import { problemOf } from '../../api/problem.ts';
import type { Problem } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import type { Resource } from '../../api/use-resource.ts';
import { Failure, Loading } from '../../design/states.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { isLog } from './mode.tsx';
import { QueryView } from './query-view.tsx';
import { shownDatabase } from './state.ts';

export function Page() {
  const databases = useResource(() => schemaSource.databases(), []);
  const database = useComputed(() => {
    const all = databases.value.value ?? [];
    return shownDatabase.value || (all.find((name) => name !== '_internal') ?? all[0] ?? '');
  }).value;
  if (isLog.value) return <LogOf database={database} databases={databases} />;
  const error = databases.error.value;
  return (
    <QueryView database={database} databases={databases.value.value ?? []}>
      {error === undefined ? null : (
        <Failure error={error} onRetry={() => void databases.reload()} />
      )}
    </QueryView>
  );
}

type LogProps = { readonly database: string; readonly databases: Resource<readonly string[]> };

/** The log, loaded when it is first shown. */
function LogOf(props: LogProps) {
  const loaded = useSignal<{ readonly View: ComponentType<LogProps> } | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const load = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const { LogView } = await import('./log/log-view.tsx');
      loaded.value = { View: LogView };
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  useEffect(() => void load(), []);
  const { View } = loaded.value ?? {};
  if (problem.value !== undefined) {
    return <Failure error={problem.value} onRetry={() => void load()} />;
  }
  return View === undefined ? <Loading rows={10} /> : <View {...props} />;
}
