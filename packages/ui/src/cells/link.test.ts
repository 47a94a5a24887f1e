// Addresses of links; whoever writes one must not get a script into the page.
import { expect, test, vi } from 'vitest';

// The address of the application, which the module reads when it is loaded.
vi.stubGlobal('location', { pathname: '/below/ui/dashboards' });
const { linkOf } = await import('./link.ts');

const named = (name: string): string | undefined =>
  ({ host: 'a b&c', evil: 'javascript:alert(1)' })[name];

test.each([
  ['https://wiki/$host?x=${host}', 'https://wiki/a%20b%26c?x=a%20b%26c'],
  ['dashboards?id=hosts&var-host=$host', '/below/ui/dashboards?id=hosts&var-host=a%20b%26c'],
  ['https://wiki/$unknown', 'https://wiki/$unknown'],
  ['javascript:alert(1)', undefined],
  ['$evil', undefined],
  ['//elsewhere/$host', undefined],
  ['', undefined],
])('%s leads to %s', (template, address) => {
  expect(linkOf(template, named)).toBe(address);
});
