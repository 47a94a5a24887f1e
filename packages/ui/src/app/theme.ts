// The theme: light, dark, or that of the system.
import { effect, signal } from '@preact/signals';

import { preference } from './stored.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = preference<Theme>('theme', 'system');

/** The theme in effect, also used by charts. */
export const shownTheme = signal<'light' | 'dark'>('light');

/** Follows the preference and the system. */
export function startTheme(): void {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const isSystemDark = signal(system.matches);
  system.addEventListener('change', () => (isSystemDark.value = system.matches));
  effect(() => {
    const isDark = theme.value === 'system' ? isSystemDark.value : theme.value === 'dark';
    if (theme.value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
    shownTheme.value = isDark ? 'dark' : 'light';
  });
}

const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;

export function switchTheme(): void {
  theme.value = NEXT[theme.value];
}
