// Shows one page: loads it, sets its title, and isolates its errors from the rest.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';

import { problemOf } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import { Empty, Failure, Loading } from '../design/states.tsx';
import { texts } from '../texts/texts.ts';
import { Link } from './link.tsx';
import type { PageDefinition } from './pages.ts';

const t = texts.shell;

export function PageFrame({ page }: { readonly page: PageDefinition | undefined }) {
  const loaded = useSignal<{ readonly Page: ComponentType } | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const [broken, reset] = useErrorBoundary();
  const load = async (): Promise<void> => {
    if (page === undefined) return;
    problem.value = undefined;
    try {
      loaded.value = await page.load();
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  useEffect(() => {
    document.title = page === undefined ? 'Tidemark' : `${page.title} – Tidemark`;
    void load();
  }, []);
  if (page === undefined) {
    return (
      <>
        <PageHead title={t.noPage} />
        <Empty title={t.noPageHint} icon="search" actions={<Link page="">{texts.nav.home}</Link>} />
      </>
    );
  }
  if (broken !== undefined) {
    return <Failure title={t.broken} error={problemOf(broken)} onRetry={reset} />;
  }
  if (problem.value !== undefined) {
    return <Failure title={t.notLoaded} error={problem.value} onRetry={() => void load()} />;
  }
  const { Page } = loaded.value ?? {};
  return Page === undefined ? <Loading rows={8} /> : <Page />;
}

/** The heading of a page with its controls. */
export function PageHead({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: preact.ComponentChildren;
}) {
  return (
    <header class="page-head">
      <h1>{title}</h1>
      {children}
    </header>
  );
}
