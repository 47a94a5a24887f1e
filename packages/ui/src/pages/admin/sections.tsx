// The sections of administration in groups: a column beside the section, or a menu above it where
// there is no room.
import { useSignal } from '@preact/signals';

import { Link } from '../../app/link.tsx';
import { Button } from '../../design/button.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.admin;

export const GROUPS = {
  data: ['databases', 'storage', 'cardinality', 'automatic', 'cluster'],
  access: ['users', 'audit'],
  activity: ['queries', 'rejected', 'counters'],
  transfer: ['backup', 'import'],
  engine: ['engine'],
} as const;

type Group = keyof typeof GROUPS;
export type Section = (typeof GROUPS)[Group][number];

export function Sections({
  offered,
  current,
}: {
  readonly offered: readonly Section[];
  readonly current: Section;
}) {
  const isOpen = useSignal(false);
  const groups = Object.entries(GROUPS).map(([group, sections]) => ({
    label: t.groups[group as Group],
    sections: sections.filter((section) => offered.includes(section)),
  }));
  return (
    <nav class={`sections ${isOpen.value ? 'open' : ''}`} aria-label={t.parts}>
      <Button
        icon="menu"
        aria-expanded={isOpen.value ? 'true' : 'false'}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {t.tabs[current]}
      </Button>
      <div>
        {groups.map(({ label, sections }) =>
          sections.length === 0 ? null : (
            <section key={label} aria-label={label}>
              <h2>{label}</h2>
              <ul>
                {sections.map((tab) => (
                  <li key={tab}>
                    <Link
                      page="admin"
                      params={{ tab }}
                      class="nav-link"
                      isCurrent={tab === current}
                      onFollow={() => (isOpen.value = false)}
                    >
                      {t.tabs[tab]}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ),
        )}
      </div>
    </nav>
  );
}
