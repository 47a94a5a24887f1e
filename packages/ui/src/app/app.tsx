// The frame of all pages: navigation, state of the services, and what appears above everything.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { services } from '../api/connection.ts';
import type { Service } from '../api/connection.ts';
import {
  hasNothing,
  isResumed,
  isSessionNeeded,
  isSignInWanted,
  session,
  signOut,
  whenResumed,
} from '../api/session.ts';
import { Button, IconButton } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { Empty, Notice, Loading } from '../design/states.tsx';
import { Toasts } from '../design/toasts.tsx';
import { texts } from '../texts/texts.ts';
import { onGlobalKey, useCommands } from './commands.ts';
import type { Command } from './commands.ts';
import { Link } from './link.tsx';
import { PageFrame, PageHead } from './page-frame.tsx';
import { PAGES } from './pages.ts';
import type { PageDefinition } from './pages.ts';
import { isPaletteOpen, Palette } from './palette.tsx';
import { navigate, route } from './router.ts';
import { SignIn } from './sign-in.tsx';
import { switchTheme, theme } from './theme.ts';

const t = texts.shell;

/** Whether a page can be used: its services run, and the user has the rights. */
function isOffered(page: PageDefinition): boolean {
  const { needs = [] } = page;
  if (needs.some((service) => services[service].value.state === 'absent')) return false;
  return mayUse(page);
}

function mayUse({ isForAdmins, isForReaders, isForWriters, isListed }: PageDefinition): boolean {
  const { isAdmin, reads, writes } = session.value;
  if (isAdmin) return true;
  // Unlisted pages show nothing of the services.
  if (isListed && hasNothing()) return false;
  if (isForReaders === true && reads?.length === 0) return false;
  return isForAdmins !== true && (isForWriters !== true || writes?.length !== 0);
}

const openPalette = (): void => {
  isPaletteOpen.value = true;
};

const COMMANDS: readonly Command[] = [
  {
    id: 'palette',
    group: t.anywhere,
    label: texts.palette.title,
    keys: 'Ctrl+K',
    run: openPalette,
  },
  { id: 'theme', group: t.anywhere, label: t.switchTheme, keys: 't', run: switchTheme },
];

export function App() {
  useEffect(() => {
    window.addEventListener('keydown', onGlobalKey);
    void whenResumed();
    return () => window.removeEventListener('keydown', onGlobalKey);
  }, []);
  useCommands([
    ...PAGES.filter(isOffered).map((page) => ({
      id: `page-${page.id}`,
      group: t.pages,
      label: page.title,
      keys: page.keys,
      run: () => navigate(page.id),
    })),
    ...COMMANDS,
  ]);
  const page = PAGES.find(({ id }) => id === route.value.page);
  return (
    <>
      <a class="skip-link" href="#main">
        {t.skip}
      </a>
      <div class="shell">
        <Sidebar current={page?.id} />
        <main class="page" id="main" tabIndex={-1}>
          <DownNotice />
          {!isResumed.value ? (
            <Loading />
          ) : page !== undefined && !mayUse(page) ? (
            <NotForUser page={page} />
          ) : (
            <PageFrame key={route.value.page} page={page} />
          )}
        </main>
      </div>
      <Palette />
      <SignIn />
      <Toasts />
    </>
  );
}

/** Shown instead of a page that the user may not use: its requests would be refused. */
function NotForUser({ page: { isForAdmins, isForReaders } }: { readonly page: PageDefinition }) {
  const title = hasNothing()
    ? t.noRights
    : isForAdmins === true
      ? t.forAdmins
      : isForReaders === true
        ? t.forReaders
        : t.forWriters;
  const hint = hasNothing() ? t.noRightsHint : t.forAdminsHint;
  return (
    <>
      <PageHead title={title} />
      <Empty title={title} icon="admin">
        {hint(session.value.user)}
      </Empty>
    </>
  );
}

function Sidebar({ current }: { readonly current: string | undefined }) {
  const isOpen = useSignal(false);
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <nav class={`sidebar ${isOpen.value ? 'open' : ''}`} aria-label={t.navigation}>
      <div class="top">
        <Link page="" class="brand" onFollow={close}>
          <Icon name="wave" />
          Tidemark
        </Link>
        <span class="menu-button">
          <IconButton
            label={t.menu}
            icon={isOpen.value ? 'close' : 'menu'}
            aria-expanded={isOpen.value ? 'true' : 'false'}
            onClick={() => (isOpen.value = !isOpen.value)}
          />
        </span>
      </div>
      <ul>
        {PAGES.filter((page) => page.isListed && isOffered(page)).map((page) => (
          <li key={page.id}>
            <Link page={page.id} class="nav-link" isCurrent={page.id === current} onFollow={close}>
              <Icon name={page.icon} />
              {page.title}
            </Link>
          </li>
        ))}
      </ul>
      <div class="foot">
        <div class="services" role="status" aria-label={t.services}>
          <ServiceLine service="tsdb" name={t.tsdb} />
          <ServiceLine service="engine" name={t.engine} />
        </div>
        <div class="row">
          <IconButton
            label={`${texts.palette.title} (Ctrl+K)`}
            icon="search"
            onClick={openPalette}
          />
          <IconButton
            label={t.themes[theme.value]}
            icon={({ system: 'contrast', light: 'sun', dark: 'moon' } as const)[theme.value]}
            onClick={switchTheme}
          />
          <IconButton
            label={texts.nav.shortcuts}
            icon="keyboard"
            onClick={() => navigate('shortcuts')}
          />
        </div>
        <Account />
      </div>
    </nav>
  );
}

function ServiceLine({ service, name }: { readonly service: Service; readonly name: string }) {
  const { state, version } = services[service].value;
  if (state === 'absent') return null;
  const kind = state === 'up' ? 'good' : state === 'down' ? 'bad' : '';
  return (
    <span>
      <span class={`dot ${kind}`} aria-hidden="true" />
      {name} {state === 'up' ? version : t.states[state]}
    </span>
  );
}

function Account() {
  if (session.value.user !== '') {
    return (
      <Button kind="quiet" icon="signOut" onClick={() => void signOut()}>
        {t.signOut(session.value.user)}
      </Button>
    );
  }
  if (!isSessionNeeded.value) return null;
  return (
    <Button kind="quiet" icon="user" onClick={() => (isSignInWanted.value = true)}>
      {texts.signIn.action}
    </Button>
  );
}

/** Says which services do not respond, and that they are polled. */
function DownNotice() {
  const down = (['tsdb', 'engine'] as const).filter(
    (service) => services[service].value.state === 'down',
  );
  if (down.length === 0) return null;
  return <Notice kind="warn">{t.down(down.map((service) => t[service]).join(t.and))}</Notice>;
}
